"""An attempt's own time: what it spends waiting for us or for its turn is not its time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopwatch:
    """Runs from its making on, and stands still while all that the attempt does is wait."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.idle_s = 0.0
        #: Told when the attempt begins to do nothing but wait, and when it goes on, so that a deadline can stand still.
        self.on_idle: Callable[[bool], None] = lambda _: None
        self._waiting = 0
        self._working = 0
        self._idle_since: float | None = None

    @property
    def elapsed_ms(self) -> float:
        return max(0.0, time.monotonic() - self.started - self.idle_s) * 1000

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Around a wait for a turn, for money, or before trying again."""
        self._waiting += 1
        self._update()
        try:
            yield
        finally:
            self._waiting -= 1
            self._update()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around a request."""
        self._working += 1
        self._update()
        try:
            yield
        finally:
            self._working -= 1
            self._update()

    def _update(self) -> None:
        idle = self._waiting > 0 and self._working == 0
        if idle and self._idle_since is None:
            self._idle_since = time.monotonic()
            self.on_idle(True)
        elif not idle and self._idle_since is not None:
            self.idle_s += time.monotonic() - self._idle_since
            self._idle_since = None
            self.on_idle(False)
