"""What Inspect says was spent: per model, in the record's token classes, the judge's part apart from the solver's."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import reduce
from typing import Any

from costpass.attempt import Usage, usd
from costpass.ledger.importers.protocol import Settings
from costpass.pricing import PriceError

#: Roles whose model judges, or plays the user; any other role works for the strategy, which then pays for it.
_ROLES_APART = {"grader", "judge", "scorer", "evaluator", "user", "user_simulator", "simulator"}


@dataclass(frozen=True)
class Spend:
    """One model's tokens, and the log's own price of them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: Decimal | None = None

    @classmethod
    def of(cls, usage: Mapping[str, Any]) -> "Spend":
        """Inspect's ModelUsage.

        Before 0.3.184 some providers counted cached tokens within input, and some count reasoning beside output.
        What the total holds beside input and output tells which.
        """
        sent, received = usage.get("input_tokens") or 0, usage.get("output_tokens") or 0
        read, written = usage.get("input_tokens_cache_read"), usage.get("input_tokens_cache_write")
        cached, reasoning = (read or 0) + (written or 0), usage.get("reasoning_tokens")
        beside = (usage.get("total_tokens") or 0) - sent - received
        if beside != cached and beside in (0, reasoning) and cached <= sent:
            sent -= cached
        if beside != cached and reasoning and beside in (reasoning, cached + reasoning):
            received += reasoning
        if reasoning is not None and reasoning > received:
            reasoning = None
        cost = usage.get("total_cost")
        return cls(sent, received, read, written, reasoning, None if cost is None else usd(cost))

    @property
    def classes(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "cost"}

    @property
    def tokens(self) -> list[int]:
        return [count or 0 for count in self.classes.values()]

    def __add__(self, other: "Spend") -> "Spend":
        return self._with(other, 1)

    def __sub__(self, other: "Spend") -> "Spend":
        return self._with(other, -1)

    def without(self, part: "Spend") -> "Spend":
        """What is left once a part is taken out, which is never less than nothing."""
        left = self - part
        return replace(left, **{name: max(count, 0) for name, count in left.classes.items() if count is not None})

    def _with(self, other: "Spend", sign: int) -> "Spend":
        mine, theirs = self.classes, other.classes
        classes: dict[str, Any] = {
            name: (mine[name] or 0) + sign * (theirs[name] or 0)
            for name in mine
            if not (mine[name] is None and theirs[name] is None)
        }
        if self.cost is None or other.cost is None:
            return Spend(**classes)
        # Inspect adds costs up as floats, so that a difference may come out just below zero.
        return Spend(**classes, cost=max(self.cost + sign * other.cost, Decimal(0)))

    def price(self, model: str, settings: Settings, at: datetime | None) -> Decimal | None:
        """What the log says it cost, else the book; None where neither knows."""
        if self.cost is not None or not settings.price:
            return self.cost
        try:
            return usd(settings.book.price(Usage(**self.classes), model, provider=_provider(model), at=at).usd)
        except PriceError:
            return None


#: By model.
Spends = dict[str, Spend]


def _provider(model: str) -> str | None:
    return model.split("/", 1)[0] if "/" in model else None


def header_spends(log: Any) -> Spends:
    """All that was spent, superseded tries included."""
    return {model: Spend.of(usage.model_dump()) for model, usage in log.stats.model_usage.items()}


@dataclass(frozen=True)
class SampleSpend:
    """What a sample's solver spent, in how many requests, and what was spent on judging it."""

    own: Spends
    grading: Spends
    requests: int | None


def sample_spend(log: Any, sample: Mapping[str, Any]) -> SampleSpend:
    events = sample.get("events") or (sample.get("transcript") or {}).get("events") or []
    calls = list(_calls(events))
    spent = {model: Spend.of(usage) for model, usage in (sample.get("model_usage") or {}).items()}
    # Logs up to 0.3.41 have no usage per sample, but every call.
    spent = spent or _by_model(calls)
    grading = _by_model(call for call in calls if call.apart) or _by_role(log, sample, spent)
    own = {model: spend.without(grading[model]) if model in grading else spend for model, spend in spent.items()}
    own = {model: spend for model, spend in own.items() if any(spend.tokens)}
    if not own and (spent or events):
        own = {log.eval.model: Spend(cost=Decimal(0))}
    return SampleSpend(own, grading, _requests([call for call in calls if not call.apart], own))


def _requests(calls: list["_Call"], own: Spends) -> int | None:
    """How many calls the solver made, where those that are in sight account for all it spent."""
    seen = {model: spend.tokens for model, spend in _by_model(calls).items()}
    return len(calls) if seen == {model: spend.tokens for model, spend in own.items()} else None


def bill(
    log: Any, own: Spends, grading: Spends, settings: Settings, at: datetime | None
) -> tuple[dict[str, Any], list[str]]:
    """The record's usage and money, the model they are of, and flags for what is to be said of them."""
    model = next(iter(own)) if len(own) == 1 else log.eval.model
    fields = {"model": model, "provider": _provider(model), "grading_usd": _sum_of_prices(grading, settings, at)}
    flags = ["grading_unpriced"] if grading and fields["grading_usd"] is None else []
    if len(own) > 1:
        return fields | _bill_of_several(own, settings, at), [*flags, "several_models"]
    for spend in own.values():
        fields |= spend.classes | _imported(spend.cost)
    return fields, flags


def _bill_of_several(own: Spends, settings: Settings, at: datetime | None) -> dict[str, Any]:
    """Each model at its own price: the import would price the sum of them as the first one's."""
    whole = reduce(Spend.__add__, own.values())
    if whole.cost is not None or not settings.price:
        return whole.classes | _imported(whole.cost)
    cost = _sum_of_prices(own, settings, at)
    if cost is None:
        # No usage rather than one that would be priced wrongly.
        return {"usage_complete": False}
    book = {"price_book": settings.book.digest, "priced_at": at}
    return whole.classes | {"cost_usd": cost, "priced_usd": cost, "cost_source": "priced"} | book


def _imported(cost: Decimal | None) -> dict[str, Any]:
    return {} if cost is None else {"cost_usd": cost, "imported_usd": cost, "cost_source": "imported"}


def _sum_of_prices(spends: Spends, settings: Settings, at: datetime | None) -> Decimal | None:
    """What all of it cost; None where there is nothing, or a part without a price."""
    total = Decimal(0)
    for model, spend in spends.items():
        price = spend.price(model, settings, at)
        if price is None:
            return None
        total += price
    return total if spends else None


def plus(spends: Spends, more: Spends) -> Spends:
    return {
        model: reduce(Spend.__add__, [part[model] for part in (spends, more) if model in part])
        for model in [*spends, *(model for model in more if model not in spends)]
    }


def unbooked(header: Spends, booked: Spends) -> Spends:
    """What the header has beyond the samples. Less than they have is no spend, but another way of counting."""
    left = {model: spend - booked[model] if model in booked else spend for model, spend in header.items()}
    return {model: spend for model, spend in left.items() if any(spend.tokens) and min(spend.tokens) >= 0}


@dataclass(frozen=True)
class _Call:
    model: str
    spend: Spend
    #: Made to judge, not to solve.
    apart: bool


def _calls(events: Iterable[Mapping[str, Any]]) -> Iterator[_Call]:
    """The model calls that were paid for: a reply from Inspect's own cache is not."""
    scorer_spans: set[Any] = set()
    scorer_steps = 0  # which older logs have instead of spans
    for event in events:
        kind = event.get("event")
        if kind == "span_begin" and (event.get("type") == "scorer" or event.get("parent_id") in scorer_spans):
            scorer_spans.add(event["id"])
        elif kind == "step" and event.get("type") == "scorer":
            scorer_steps += 1 if event.get("action") == "begin" else -1
        elif kind == "model" and event.get("cache") != "read":
            usage = (event.get("output") or {}).get("usage")
            apart = scorer_steps > 0 or event.get("span_id") in scorer_spans or event.get("role") in _ROLES_APART
            if usage:
                yield _Call(event["model"], Spend.of(usage), apart)


def _by_model(calls: Iterable[_Call]) -> Spends:
    total: Spends = {}
    for call in calls:
        total = plus(total, {call.model: call.spend})
    return total


def _by_role(log: Any, sample: Mapping[str, Any], spent: Spends) -> Spends:
    """Judging in a log whose events were left out: by role, and before there was usage by role by the role's model."""
    total: Spends = {}
    usages = sample.get("role_usage") or {}
    for role in sorted(_ROLES_APART & {*(log.eval.model_roles or {}), *usages}):
        bound = (log.eval.model_roles or {}).get(role)
        model = (bound[0] if isinstance(bound, list) else bound).model if bound else log.eval.model
        if role in usages:
            total = plus(total, {model: Spend.of(usages[role])})
        elif model != log.eval.model and model in spent:
            total[model] = spent[model]
    return total
