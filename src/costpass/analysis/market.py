"""What is known of each strategy beside its attempts: model, family, release date, technique."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from costpass.analysis.context import Context
from costpass.analysis.wording import label
from costpass.errors import CostpassError, did_you_mean
from costpass.ledger.cells import Cells
from costpass.ledger.columns import quoted
from costpass.ledger.queries import condition
from costpass.ledger.scan import Scan
from costpass.pricing import PriceBook, PriceError

_PLAIN = (None, "direct", "vanilla", "VanillaPromptMethod", "chain-of-thought")


#: Technique → the places of the plain strategies of the same models, and of those that use it.
Techniques = dict[str, tuple[list[int], list[int]]]


@dataclass(frozen=True)
class Trait:
    """One strategy."""

    family: str | None
    released: date | None
    technique: str | None
    model: str | None


@dataclass(frozen=True)
class Market:
    """Every strategy's traits."""

    traits: Mapping[str, Trait]

    def families(self, names: Sequence[str]) -> dict[str, list[int]]:
        """Family → the places of its members among `names`."""
        found: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            family = self.traits[name].family
            if family is not None:
                found.setdefault(family, []).append(place)
        return dict(sorted(found.items()))

    def releases(self, names: Sequence[str]) -> list[tuple[date, list[int]]]:
        """Release dates in order, each with the places of what came out; nothing where a strategy has no date."""
        dates: dict[date, list[int]] = {}
        for place, name in enumerate(names):
            released = self.traits[name].released
            if released is None:
                return []
            dates.setdefault(released, []).append(place)
        return sorted(dates.items())

    def techniques(self, names: Sequence[str], base: str | None) -> Techniques:
        """Technique → places of the plain strategies of the same models, and of those that use it."""
        used = {self.traits[name].technique for name in names}
        if base is not None and base not in used:
            known = [technique for technique in used if technique]
            raise CostpassError(f"no strategy has technique {base!r}{did_you_mean(base, known)}")
        plain = (base,) if base is not None else _PLAIN
        found = {}
        for technique in sorted(used - set(plain), key=str):
            using = [place for place, name in enumerate(names) if self.traits[name].technique == technique]
            models = {self.traits[names[place]].model for place in using}
            without = [
                place
                for place, name in enumerate(names)
                if self.traits[name].technique in plain and self.traits[name].model in models
            ]
            if without:
                found[str(technique)] = (without, using)
        return found


def market(
    scan: Scan, by: str, table: Cells, told: Context, book: PriceBook, *, where: Mapping[str, str] | None = None
) -> Market:
    """The traits of every strategy, from the attempts first and the context and price book next."""
    columns = list(dict.fromkeys([by, "model", "family", "released", "technique", *(where or {})]))
    rows = scan.query(
        columns,
        f"SELECT {quoted(by)}, min(model), min(family), min(released), min(technique) FROM {{attempts}} "
        f"{condition(where)} GROUP BY {quoted(by)}",
    )
    found = {label(name): rest for name, *rest in rows}
    traits = {}
    for (name,) in table.strategies:
        model, family, released, technique = found[label(name)]
        names = tuple(part for part in (label(name), model) if part)
        traits[label(name)] = Trait(
            told.family(names, _output_price(model, told, book)) or family,
            released or told.release(names) or _book_release(model, book),
            technique,
            model,
        )
    return Market(traits)


def _output_price(model: str | None, told: Context, book: PriceBook) -> Decimal | None:
    if model is None or not any(rule.below_usd_per_million is not None for rule in told.families.values()):
        return None
    try:
        rate = book.quote(model).rates.tokens.get("output")
    except PriceError:
        return None
    return None if rate is None else rate.base * 1_000_000


def _book_release(model: str | None, book: PriceBook) -> date | None:
    """A release date that the user's own models.yml gives; the library knows none."""
    return None if model is None else book.released(model)
