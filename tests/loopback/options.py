"""What a loopback provider can be told, as keywords in Python and as flags on the command line."""

import argparse
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

Style = Literal["tagged", "plain"]


@dataclass(frozen=True, slots=True)
class Options:
    """Every option of the provider; the defaults give a quick provider that is always right and never fails."""

    seed: int = 0  # of every fault and of every wrong answer
    answer: str | None = None  # "module:function", a function of the request; default: arithmetic
    accuracy: float = 1.0  # of models that neither `accuracy_of` nor their name says otherwise of
    accuracy_of: dict[str, float] = field(default_factory=dict)  # by model name
    style: Style = "tagged"  # <answer>82</answer>, or plain: The answer is 82.
    words: int = 0  # lead an answer with filler until it has so many words
    reasoning: int = 0  # tokens of reasoning before every answer
    bloat: int = 1  # input tokens are so many times what they should be
    cache_read: float = 0.0  # share of the input that was read from the cache
    cache_write: float = 0.0  # share of the input that was written to the cache
    rate_limit: float = 0.0  # probability of a 429
    retry_after: float = 1.0  # seconds that every 429 asks for
    storm: tuple[int, int] | None = None  # (every, length): the last `length` of `every` requests get a 429
    error: float = 0.0  # probability of a 500, 503 or 529
    cut: float = 0.0  # probability that the connection is closed in the middle of a reply
    cut_late: float = 0.0  # share of the cuts that come after the usage and before the end
    slow: tuple[float, float] | None = None  # (probability, seconds between two chunks)
    latency: float = 0.0  # seconds before the first byte
    auth: str | None = None  # 401 for every other key
    limit_concurrency: int | None = None  # 429 for more requests than this in flight

    def arguments(self) -> list[str]:
        """The flags that say the same on the command line."""
        return [
            f"--{option.name.replace('_', '-')}={_spell(value)}"
            for option in fields(self)
            if (value := getattr(self, option.name)) not in (None, {})
        ]


def _spell(value: Any) -> str:
    if isinstance(value, tuple):
        return ":".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(f"{name}={share}" for name, share in value.items())
    return str(value)


def _storm(text: str) -> tuple[int, int]:
    every, length = text.split(":")
    return int(every), int(length)


def _slow(text: str) -> tuple[float, float]:
    probability, seconds = text.split(":")
    return float(probability), float(seconds)


def _accuracy_of(text: str) -> dict[str, float]:
    pairs = [pair.rpartition("=") for pair in text.split(",")]
    return {model: float(accuracy) for model, _, accuracy in pairs}


def add_flags(parser: argparse.ArgumentParser) -> None:
    """One flag per option, with the same default."""
    defaults = Options()
    parse: dict[str, Any] = {
        "answer": str,
        "auth": str,
        "storm": _storm,
        "slow": _slow,
        "accuracy_of": _accuracy_of,
        "limit_concurrency": int,
    }
    for option in fields(Options):
        default = getattr(defaults, option.name)
        parser.add_argument(
            f"--{option.name.replace('_', '-')}",
            type=parse.get(option.name, type(default)),
            choices=get_args(Style) if option.name == "style" else None,
            default=default,
        )


def from_flags(flags: argparse.Namespace) -> Options:
    """The options that these flags give."""
    return Options(**{option.name: getattr(flags, option.name) for option in fields(Options)})
