"""The price book: the price library with the user's models.yml on top."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from costpass.attempt import Usage
from costpass.errors import nearest
from costpass.pricing.bill import Bill, bill
from costpass.pricing.models_file import Budgets, ModelEntry, read_models_file
from costpass.pricing.rates import MissingRateError, PriceError, Rates

if TYPE_CHECKING:
    from costpass.pricing.library import Listed

STALE_AFTER_DAYS = 30


@dataclass(frozen=True)
class Quote:
    """What a model costs at a moment, and who says so."""

    asked: str
    model: str
    provider: str | None
    at: datetime
    rates: Rates
    source: str
    checked: date | None
    context_window: int | None = None
    released: date | None = None
    family: str | None = None
    budgets: Budgets = field(default_factory=Budgets)
    notes: str | None = None

    @property
    def age_days(self) -> int | None:
        """Days since the price was last known to be checked."""
        return None if self.checked is None else (datetime.now(UTC).date() - self.checked).days

    @property
    def stale(self) -> bool:
        return self.age_days is not None and self.age_days > STALE_AFTER_DAYS

    def bill(self, usage: Usage) -> Bill:
        """What `usage` costs at this quote."""
        try:
            return bill(usage, self.rates, context_window=self.context_window)
        except MissingRateError as error:
            raise PriceError(f"{self.model}: {error}. {_override_hint(self.asked, error)}") from None


class PriceBook:
    """Prices by model and moment. Entries of the user's files come before the library's."""

    def __init__(self, models: Mapping[str, Sequence[ModelEntry]] | None = None, *, origin: str = "models.yml") -> None:
        self._models = {name.casefold(): (name, list(entries)) for name, entries in (models or {}).items()}
        self._aliases = {
            alias.casefold(): name.casefold()
            for name, entries in (models or {}).items()
            for entry in entries
            for alias in entry.aliases
        }
        self._origin = origin
        self._digest: str | None = None

    @classmethod
    def load(cls, *paths: Path, inline: Mapping[str, list[ModelEntry]] | None = None) -> "PriceBook":
        """The library's prices with the given models.yml files on top, later files before earlier ones.

        `inline` entries, as an experiment states them, come before the library and after the files.
        """
        merged: dict[str, list[ModelEntry]] = dict(inline or {})
        for path in paths:
            merged.update(read_models_file(path))
        return cls(merged, origin=", ".join(path.name for path in paths) or "models.yml")

    @property
    def digest(self) -> str:
        """What this book is, for provenance: the library's version and a hash of every override."""
        if self._digest is None:
            from costpass.pricing.library import VERSION

            overrides = sorted((name, [entry.model_dump_json() for entry in e]) for name, e in self._models.values())
            stamp = hashlib.sha256(repr(overrides).encode()).hexdigest()[:16] if overrides else "none"
            self._digest = f"genai-prices:{VERSION};overrides:{stamp}"
        return self._digest

    def quote(self, model: str, *, provider: str | None = None, at: datetime | None = None) -> Quote:
        """What `model` costs at `at` (now, where not given)."""
        moment = at or datetime.now(UTC)
        entry = self._own(model, moment)
        if entry is not None:
            return self._own_quote(model, moment, *entry)
        from costpass.pricing import library

        listed = library.find(model, provider)
        if listed is None:
            raise PriceError(self._unknown(model))
        return _library_quote(model, moment, listed)

    def price(self, usage: Usage, model: str, *, provider: str | None = None, at: datetime | None = None) -> Bill:
        """What `usage` of `model` costs."""
        return self.quote(model, provider=provider, at=at).bill(usage)

    def released(self, model: str) -> date | None:
        """When a model was released, where the user's own entry says so; the library does not know."""
        entry = self._own(model, datetime.now(UTC))
        return entry[1].released if entry else None

    def _own(self, model: str, moment: datetime) -> tuple[str, ModelEntry] | None:
        folded = model.casefold()
        # A model's own name comes before another's alias: AILANG's models share API names at different prices.
        name, entries = self._models.get(folded) or self._models.get(self._aliases.get(folded, ""), ("", []))
        current = [entry for entry in entries if entry.since is None or entry.since <= moment.date()]
        return (name, current[-1]) if current else None

    def _own_quote(self, asked: str, moment: datetime, name: str, entry: ModelEntry) -> Quote:
        return Quote(
            asked=asked,
            model=name,
            provider=entry.provider,
            at=moment,
            rates=entry.rates(),
            source=self._origin,
            checked=entry.checked,
            released=entry.released,
            family=entry.family,
            budgets=entry.budgets,
            notes=entry.notes,
        )

    def _unknown(self, model: str) -> str:
        from costpass.pricing import library

        own = [name for name, _ in self._models.values()]
        close = nearest(model, [*own, *library.names()])
        known = f" The nearest known ones are {', '.join(close)}." if close else ""
        return f"no price is known for model {model!r}.{known} {_override_hint(model)}"


def _library_quote(asked: str, moment: datetime, listed: "Listed") -> Quote:
    from costpass.pricing import library

    return Quote(
        asked=asked,
        model=listed.model,
        provider=listed.provider,
        at=moment,
        rates=listed.rates(moment),
        source=f"genai-prices {library.VERSION}",
        checked=library.dated(),
        context_window=listed.info.context_window,
        notes=listed.info.price_comments,
    )


def _override_hint(model: str, missing: MissingRateError | None = None) -> str:
    tokens, rest = "input: …, output: …", ""
    if missing is not None and missing.is_quantity:
        rest = f", quantities: {{{missing.what}: …}}"
    elif missing is not None and missing.what not in ("input", "output"):
        tokens += f", {missing.what}: …"
    entry = f"models: {{{model}: {{usd_per_million: {{{tokens}}}{rest}}}}}"
    return f"Write it in a models.yml and pass --prices models.yml:  {entry}"
