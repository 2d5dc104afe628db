"""Whether two expressions are equal, by math-verify. Called in worker processes only: it loads sympy."""

import importlib
from functools import cache
from typing import Any


@cache
def prepare() -> Any:
    """math-verify, loaded: before the clock of the first comparison starts."""
    return importlib.import_module("math_verify")


def equal(target: str, answer: str) -> bool:
    """Whether `answer` is what `target` is. The time limit is the caller's, who can end this process."""
    library = prepare()
    read_as = (library.LatexExtractionConfig(), library.ExprExtractionConfig())

    def parsed(text: str) -> Any:
        return library.parse(f"${text}$", read_as, fallback_mode="no_fallback", parsing_timeout=None)

    try:
        return bool(library.verify(parsed(target), parsed(answer), timeout_seconds=None))
    except (ValueError, TypeError, ArithmeticError, AttributeError, RecursionError, NotImplementedError):
        return False
