"""The same attempts at other prices, as a new set of attempts that keeps the old figures."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from costpass.attempt import Attempt, usd
from costpass.pricing import PriceBook, PriceError


@dataclass
class Repricing:
    """Prices attempts anew, and counts what it could not price."""

    book: PriceBook
    #: The moment whose prices are used; None: each attempt's own time.
    at: datetime | None = None
    repriced: int = 0
    before_usd: Decimal = Decimal(0)
    after_usd: Decimal = Decimal(0)
    without_usage: int = 0
    undated: int = 0
    unpriced: Counter[str] = field(default_factory=Counter)

    def attempts(self, attempts: Iterable[Attempt]) -> Iterator[Attempt]:
        """Every attempt: at the new price where it has one, as it was where its usage is not known."""
        for attempt in attempts:
            yield self._one(attempt)

    def refuse_unpriced(self) -> None:
        """An error where some attempt had no price."""
        if self.unpriced:
            reason, _ = self.unpriced.most_common(1)[0]
            raise PriceError(f"{sum(self.unpriced.values())} attempts have no price, so nothing was written: {reason}")

    def _one(self, attempt: Attempt) -> Attempt:
        if attempt.model is None or attempt.input_tokens is None or attempt.output_tokens is None:
            self.without_usage += 1
            return attempt
        at = self.at or attempt.started_at or datetime.now(UTC)
        try:
            bill = self.book.price(attempt, attempt.model, provider=attempt.provider, at=at)
        except PriceError as error:
            self.unpriced[str(error)] += 1
            return attempt
        cost = usd(bill.usd)
        self.undated += self.at is None and attempt.started_at is None
        self.repriced += 1
        self.before_usd += attempt.cost_usd or Decimal(0)
        self.after_usd += cost
        return attempt.model_copy(
            update={
                "repriced_from_usd": attempt.cost_usd,
                "cost_usd": cost,
                "priced_usd": cost,
                "cost_source": "priced",
                "price_book": self.book.digest,
                "priced_at": at,
            }
        )
