"""What a ledger does not say and an analysis needs: experts' prices, families, release dates. YAML, or a preset.

experts:
  AIME: {usd: 20}
  my-benchmark: {hourly_usd: [45, 100], minutes: 12}    # a range is taken at its upper end
families:
  reasoning: {models: ["o1*", "o3*"]}                   # the first family that fits is the strategy's
  lightweight: {below_usd_per_million: 1}               # by the price book's output price
  large: {models: ["*"]}
released:
  o1: 2024-12-05
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from costpass import strict_yaml
from costpass.benchmarks.expert import ExpertPrice, Price
from costpass.errors import BadInputError, CostpassError

PRESETS = ("paper",)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FamilyRule(_Section):
    """Which strategies a family holds: by name, or by what a million output tokens cost."""

    models: tuple[str, ...] = ()
    below_usd_per_million: Price | None = None


class Context(_Section):
    """What an analysis was told beside the ledger."""

    experts: Mapping[str, ExpertPrice] = Field(default_factory=dict)
    families: Mapping[str, FamilyRule] = Field(default_factory=dict)
    released: Mapping[str, date] = Field(default_factory=dict)

    def expert_usd(self, benchmark: str | None) -> float | None:
        """The expert's price on a benchmark, or None where nobody said one; `*` stands for any benchmark."""
        wanted = _folded(benchmark or "")
        for name, entry in self.experts.items():
            if wanted in {_folded(alias) for alias in (name, *entry.aliases)}:
                return entry.range_usd[1]
        return self.experts["*"].range_usd[1] if "*" in self.experts else None

    def family(self, names: tuple[str, ...], usd_per_million: Decimal | None) -> str | None:
        """The first family that fits any of a strategy's names, or its price."""
        for family, rule in self.families.items():
            by_name = any(fnmatchcase(name.casefold(), p.casefold()) for name in names for p in rule.models)
            limit = rule.below_usd_per_million
            if by_name or (limit is not None and usd_per_million is not None and usd_per_million < limit):
                return family
        return None

    def release(self, names: tuple[str, ...]) -> date | None:
        """When the first of a strategy's names that is listed was released."""
        return next((self.released[name] for name in names if name in self.released), None)

    def in_unit(self, unit: str) -> "Context":
        """This context for a cost that is not counted in dollars: its experts' prices, which are, do not apply."""
        return self if unit == "usd" else self.model_copy(update={"experts": {}})

    def before(self, contexts: Iterable[Mapping[str, Any]]) -> "Context":
        """This context, and what ledgers say of themselves where it is silent."""
        merged = self
        for document in contexts:
            own = Context.model_validate(document)
            merged = Context(
                experts={**merged.experts, **_missing(own.experts, merged.experts)},
                families={**merged.families, **_missing(own.families, merged.families)},
                released={**merged.released, **_missing(own.released, merged.released)},
            )
        return merged

    def with_experts(self, given: Mapping[str, float]) -> "Context":
        """This context, with other experts' prices, in the unit of the analysis, before its own."""
        added = {name: ExpertPrice(usd=Decimal(repr(float(usd)))) for name, usd in given.items()}
        kept = {name: entry for name, entry in self.experts.items() if name not in added}
        return self.model_copy(update={"experts": {**added, **kept}})


def load_context(name: str | Path | None) -> Context:
    """A preset by its name, or a YAML file."""
    if name is None:
        return Context()
    place = Path(str(files("costpass.presets").joinpath(f"{name}.yml"))) if name in PRESETS else Path(name)
    document = strict_yaml.load(place)
    try:
        return Context.model_validate(document)
    except ValidationError as error:
        raise BadInputError(f"{place}: {strict_yaml.complaint(error, Context)}") from error


def parse_expert(text: str) -> tuple[str, float]:
    """`AIME=20` from an option."""
    name, equals, price = text.rpartition("=")
    if not equals or not re.fullmatch(r"\d+(\.\d*)?([eE]-?\d+)?|\.\d+", price):
        raise CostpassError(f"--expert {text}: expected BENCHMARK=USD, such as AIME=20")
    return name, float(price)


def _missing(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in theirs.items() if name not in ours}


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
