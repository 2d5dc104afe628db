"""What a run tells whoever watches it."""

from collections.abc import Sequence
from typing import Protocol

from costpass.attempt import Attempt
from costpass.runs.standing import Standing


class Watcher(Protocol):
    """Told of everything as it happens; must return at once."""

    def started(self, standing: Standing) -> None: ...

    def recorded(self, record: Attempt, standing: Standing, message: str | None) -> None: ...

    def halted(self, strategies: list[str], reason: str) -> None: ...

    def finished(self, standing: Standing, reason: str | None) -> None: ...


class Unwatched:
    """Nobody watches."""

    def started(self, standing: Standing) -> None: ...

    def recorded(self, record: Attempt, standing: Standing, message: str | None) -> None: ...

    def halted(self, strategies: list[str], reason: str) -> None: ...

    def finished(self, standing: Standing, reason: str | None) -> None: ...


class Together:
    """Several watchers, each told in turn."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = watchers

    def started(self, standing: Standing) -> None:
        for watcher in self._watchers:
            watcher.started(standing)

    def recorded(self, record: Attempt, standing: Standing, message: str | None) -> None:
        for watcher in self._watchers:
            watcher.recorded(record, standing, message)

    def halted(self, strategies: list[str], reason: str) -> None:
        for watcher in self._watchers:
            watcher.halted(strategies, reason)

    def finished(self, standing: Standing, reason: str | None) -> None:
        for watcher in self._watchers:
            watcher.finished(standing, reason)


class Remembering(Unwatched):
    """Keeps where the run stood, for what is said once it has ended."""

    standing: Standing | None = None

    def started(self, standing: Standing) -> None:
        self.standing = standing
