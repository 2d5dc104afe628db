"""genai-prices as costpass reads it: its data and its name matching, turned into `Rates`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache, lru_cache

import genai_prices
from genai_prices.types import ModelInfo, ModelPrice, StartDateConstraint, TieredPrices

from costpass.pricing.rates import Rate, Rates

VERSION = genai_prices.__version__

_TOKEN_KEYS = {
    "input": "input_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "output": "output_mtok",
    "reasoning": "output_reasoning_mtok",
}
_QUANTITY_KEYS = {
    "web_searches": ("web_searches_kcount", 1000),
    "storage_searches": ("storage_searches_kcount", 1000),
    "social_searches": ("social_searches_kcount", 1000),
    "code_executions": ("code_executions_kcount", 1000),
}


@dataclass(frozen=True)
class Listed:
    """A model that the library knows."""

    provider: str
    model: str
    info: ModelInfo

    def rates(self, at: datetime) -> Rates:
        return _rates(_Hashable(self.info.get_prices(at)))


@lru_cache(maxsize=4096)
def find(model: str, provider: str | None) -> Listed | None:
    """The library's entry for a model name as people and logs write it, or None."""
    for provider_id, reference in _spellings(model, provider):
        try:
            found = genai_prices.calc_price(genai_prices.Usage(), reference, provider_id=provider_id)
        except LookupError:
            continue
        return Listed(found.provider.id, found.model.id, found.model)
    return None


def _spellings(model: str, provider: str | None) -> Iterator[tuple[str | None, str]]:
    """Ways to look a name up, most literal first: as given, without a provider prefix, with dotted versions."""
    stems: list[tuple[str | None, str]] = [(provider, model)] if provider else []
    stems.append((None, model))
    prefix, rest = model, ""
    for separator in ("/", ":"):
        if separator in model:
            prefix, rest = model.split(separator, 1)
            stems += [(prefix, rest), (None, rest)]
            if separator in rest:
                stems.append((None, rest.rsplit(separator, 1)[1]))
    for provider_id, name in stems:
        yield provider_id, name
        dotted = re.sub(r"(?<=-\d)-(?=\d(?:-|$))", ".", name)
        if dotted != name:
            yield provider_id, dotted


@cache
def names() -> tuple[str, ...]:
    """Every model name the library lists."""
    from genai_prices.data import providers

    return tuple(sorted({model.id for provider in providers for model in provider.models}))


@cache
def dated() -> date | None:
    """The latest price change that the bundled data knows of and that has come: the data is no older than that."""
    from genai_prices.data import providers

    starts = (
        conditional.constraint.start_date
        for provider in providers
        for model in provider.models
        if isinstance(model.prices, list)
        for conditional in model.prices
        if isinstance(conditional.constraint, StartDateConstraint)
    )
    return max((start for start in starts if start <= date.today()), default=None)


class _Hashable:
    """A ModelPrice by identity: the library keeps one object per price and defines no hash."""

    def __init__(self, price: ModelPrice) -> None:
        self.price = price

    def __hash__(self) -> int:
        return id(self.price)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashable) and other.price is self.price


@lru_cache(maxsize=4096)
def _rates(hashable: _Hashable) -> Rates:
    price = hashable.price
    tokens = {name: rate for name, key in _TOKEN_KEYS.items() if (rate := _rate(getattr(price, key))) is not None}
    quantities = {
        name: rate.base / per
        for name, (key, per) in _QUANTITY_KEYS.items()
        if (rate := _rate(getattr(price, key), per_million=False)) is not None
    }
    per_request = _rate(price.requests_kcount, per_million=False)
    return Rates(tokens, per_request.base / 1000 if per_request else Decimal(0), quantities)


def _rate(price: Decimal | TieredPrices | None, *, per_million: bool = True) -> Rate | None:
    if price is None:
        return None
    make = Rate.per_million if per_million else Rate
    if isinstance(price, TieredPrices):
        return make(price.base, tuple((tier.start, tier.price) for tier in price.tiers))
    return make(price)
