"""The bundled benchmarks by name."""

import re
from collections.abc import Mapping
from functools import cache

from costpass.benchmarks.loader import Loader
from costpass.benchmarks.loaders import (
    aime_2024,
    bbq,
    capitals,
    gpqa_diamond,
    gsm8k,
    math_500,
    one_digit_addition,
    two_digit_addition,
)
from costpass.errors import BadInputError, did_you_mean

_ALL = (
    one_digit_addition.LOADER,
    two_digit_addition.LOADER,
    capitals.LOADER,
    gsm8k.LOADER,
    math_500.LOADER,
    aime_2024.LOADER,
    gpqa_diamond.LOADER,
    bbq.LOADER,
)


@cache
def bundled() -> Mapping[str, Loader]:
    """Every bundled benchmark under its own name, the easy ones first."""
    return {loader.name: loader for loader in _ALL}


def find(name: str) -> Loader | None:
    """The bundled benchmark of that name, however it is capitalised and hyphenated."""
    return next((loader for loader in _ALL if _folded(loader.name) == _folded(name)), None)


def require(name: str) -> Loader:
    loader = find(name)
    if loader is None:
        raise BadInputError(
            f"no bundled benchmark is called {name!r}{did_you_mean(name, bundled())} "
            f"(there are: {', '.join(bundled())}; or give the path of a file, or hf:owner/dataset/split)"
        )
    return loader


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
