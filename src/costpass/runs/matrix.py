"""Strategies written as a matrix, spread out into one for each combination."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from costpass.attempt import strategy_name
from costpass.benchmarks.plain import plain


def expand(strategies: Any) -> Any:
    """Every strategy as a mapping of its own, with an id; what is no strategy at all is left for the schema to refuse.

    >>> [s["id"] for s in expand({"matrix": {"model": ["a:x", "b:x"], "settings.temperature": [0, 1]}})]
    ['a:x+temperature=0', 'a:x+temperature=1', 'b:x+temperature=0', 'b:x+temperature=1']
    """
    written = [strategies] if isinstance(strategies, Mapping) else strategies
    if not isinstance(written, list):
        return strategies
    spread = [one for entry in written for one in _spread(entry)]
    return [_named(one, varied) if isinstance(one, dict) else one for one, varied in spread]


def _spread(entry: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("matrix"), Mapping):
        yield (plain(entry), ())
        return
    common = {key: value for key, value in entry.items() if key != "matrix"}
    axes = {str(key): value if isinstance(value, list) else [value] for key, value in entry["matrix"].items()}
    for values in product(*axes.values()):
        one = plain(common)
        for key, value in zip(axes, values, strict=True):
            _put(one, key, plain(value))
        yield one, tuple(axes)


def _put(strategy: dict[str, Any], key: str, value: Any) -> None:
    outer, dot, inner = key.partition(".")
    if dot:
        strategy[outer] = {**strategy.get(outer, {}), inner: value}
    else:
        strategy[key] = value


def _named(strategy: dict[str, Any], varied: tuple[str, ...]) -> dict[str, Any]:
    if "id" in strategy:
        return strategy
    told = ("model", "technique")
    rest = [
        f"{key.rpartition('.')[2]}={_short(_get(strategy, key))}"
        for key in varied
        if key not in told and _get(strategy, key) is not None
    ]
    return {"id": strategy_name(*(_short(strategy.get(key)) for key in told), *rest), **strategy}


def _get(strategy: Mapping[str, Any], key: str) -> Any:
    outer, dot, inner = key.partition(".")
    value = strategy.get(outer)
    return value.get(inner) if dot and isinstance(value, Mapping) else value


def _short(value: Any) -> str | None:
    """A value as part of a name: `{majority-vote: {k: 3}}` is majority-vote-3."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return "-".join(part for key, inner in value.items() for part in (_key(key), _short(inner)) if part)
    if isinstance(value, list | tuple):
        return "-".join(filter(None, map(_short, value)))
    text = " ".join(str(value).split()).replace("/", "-").replace("\\", "-")
    return text if len(text) <= 60 else text[:57] + "…"


def _key(key: Any) -> str:
    return "" if key == "k" else str(key)
