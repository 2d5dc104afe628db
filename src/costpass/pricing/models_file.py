"""models.yml: prices, release dates and families that a user writes on top of the price library.

    models:
      my-model:
        usd_per_million: {input: 0.5, output: 2, cache_read: 0.05, cache_write: 0.6, cache_write_1h: 1}
        tiers: [{above_input_tokens: 200000, usd_per_million: {input: 1, output: 3}}]
        quantities: {web_searches: 0.01}
        aliases: [my-model-2026-01-01]
        released: 2026-01-01
        family: small
        checked: 2026-11-01

A model may also be a list of such entries, each from its `since` on. AILANG's models.yml (`pricing.input_per_1k`,
`budgets:`) is read as it is; its other keys are not prices and are left alone.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from costpass import strict_yaml
from costpass.errors import BadInputError
from costpass.pricing.rates import PER_MILLION, TOKEN_CLASSES, Rate, Rates

Price = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TokenPrices(_Section):
    """Dollars for so many tokens of each class; how many, the key above says."""

    input: Price | None = None
    output: Price | None = None
    cache_read: Price | None = None
    cache_write: Price | None = None
    cache_write_1h: Price | None = None
    reasoning: Price | None = None


class _Quoted(_Section):
    """Prices with their unit stated."""

    usd_per_million: TokenPrices | None = None
    usd_per_1k: TokenPrices | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        if (self.usd_per_million is None) == (self.usd_per_1k is None):
            raise ValueError("say the unit once: either usd_per_million or usd_per_1k")
        return self

    def per_token(self) -> dict[str, Decimal]:
        prices, per = (
            (self.usd_per_million, PER_MILLION)
            if self.usd_per_million is not None
            else (self.usd_per_1k, Decimal(1000))
        )
        return {name: getattr(prices, name) / per for name in TOKEN_CLASSES if getattr(prices, name) is not None}


class TierPrices(_Quoted):
    """Prices of a whole request once its input passes a threshold."""

    above_input_tokens: Annotated[int, Field(gt=0)]


class Budgets(_Section):
    """What one attempt may use."""

    max_cost_usd: Price | None = None
    hard_timeout_secs: Annotated[float, Field(gt=0)] | None = None
    expected_ttft_secs: Annotated[float, Field(gt=0)] | None = None
    expected_ttf_solution_secs: Annotated[float, Field(gt=0)] | None = None


class ModelEntry(_Quoted):
    """One model, from one date on."""

    provider: str | None = None
    aliases: tuple[str, ...] = ()
    since: date | None = None
    tiers: tuple[TierPrices, ...] = ()
    quantities: dict[str, Price] = Field(default_factory=dict)
    usd_per_request: Price = Decimal(0)
    released: date | None = None
    family: str | None = None
    checked: date | None = None
    budgets: Budgets = Budgets()
    notes: str | None = None

    def rates(self) -> Rates:
        """The entry as rates per unit."""
        tiers = [
            (tier.above_input_tokens, tier.per_token())
            for tier in sorted(self.tiers, key=lambda tier: tier.above_input_tokens)
        ]
        tokens = {
            name: Rate(base, tuple((above, prices[name]) for above, prices in tiers if name in prices))
            for name, base in self.per_token().items()
        }
        return Rates(tokens, self.usd_per_request, dict(self.quantities))


def read_models_file(path: Path) -> dict[str, list[ModelEntry]]:
    """Every model of the file with its entries, oldest first."""
    return parse_models(strict_yaml.load(path), str(path))


def parse_models(document: Any, origin: str) -> dict[str, list[ModelEntry]]:
    """Every model of a document that `origin` names in complaints."""
    models = document.get("models", document) if isinstance(document, dict) else None
    if not isinstance(models, dict) or not models:
        raise BadInputError(f"{origin}: expected a mapping of models, such as `models: {{my-model: {{…}}}}`")
    entries: dict[str, list[ModelEntry]] = {}
    for name, body in models.items():
        found = sorted(_entries(origin, str(name), body), key=lambda entry: entry.since or date.min)
        if found:
            entries[str(name)] = found
    return entries


def _entries(origin: str, name: str, body: Any) -> Iterator[ModelEntry]:
    for part in body if isinstance(body, list) else [body]:
        if not isinstance(part, dict):
            raise BadInputError(f"{origin}: models.{name}: expected a mapping with usd_per_million or usd_per_1k")
        try:
            yield ModelEntry.model_validate(_from_ailang(part) if _is_ailang(part) else part)
        except ValidationError as error:
            raise BadInputError(f"{origin}: models.{name}: {strict_yaml.complaint(error, ModelEntry)}") from error


def _is_ailang(body: dict[str, Any]) -> bool:
    pricing = body.get("pricing")
    return isinstance(pricing, dict) and "input_per_1k" in pricing


def _from_ailang(body: dict[str, Any]) -> dict[str, Any]:
    """AILANG states prices per 1,000 tokens, of input and output alone, under names of its own."""
    pricing = {str(key).removesuffix("_per_1k"): price for key, price in body["pricing"].items()}
    aliases = [body[key] for key in ("api_name", "agent_model_name") if isinstance(body.get(key), str)]
    return {
        "usd_per_1k": pricing,
        "provider": body.get("provider"),
        "aliases": aliases,
        "family": body.get("model_family"),
        "budgets": body.get("budgets") or {},
        "notes": body.get("notes") or body.get("description"),
    }
