"""What a run would cost, before it is made: a guess, and the most that its caps let it be."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

from costpass.attempt import Usage
from costpass.benchmarks.loading import bundled_loader
from costpass.benchmarks.problem import Problem
from costpass.runs.assuming import OWN_TOKENS, Loading, typical_of
from costpass.runs.experiment import Experiment
from costpass.runs.history import History, Past, read_history
from costpass.runs.measuring import BYTES_PER_TOKEN, Prompts, measure, runs_own_code
from costpass.runs.plan import Graded, Plan, Strategy
from costpass.runs.preparing import Overrides, environment_names, prepare, quote
from costpass.runs.reaching import NOT_SET, judge_addresses, missing_keys
from costpass.strategies.lm.bound import Prices, bound
from costpass.strategies.lm.endpoint import LOCAL, Address

#: By how much models that always think write more; those of the Cost-of-Pass paper wrote two to six times as much.
_THINKING = 4
#: What a run lets a judge write, and what it usually does.
_JUDGE_MOST_TOKENS, _JUDGE_TOKENS, _JUDGE_PROMPT_BYTES = 1024, 200, 800
_NOTHING = Decimal(0)

Basis = Literal["prompts", "typical", "ledger"]


@dataclass(frozen=True)
class Part:
    """What is still to be done of one strategy on one benchmark."""

    strategy: str
    benchmark: str
    attempts: int
    done: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal
    #: None where nothing limits it.
    worst_usd: Decimal | None
    #: What the estimate rests on: the real prompts, typical figures, or attempts in the ledger.
    basis: Basis


@dataclass(frozen=True)
class Row:
    """One strategy over all benchmarks."""

    strategy: str
    attempts: int
    done: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal
    worst_usd: Decimal | None


@dataclass(frozen=True)
class Set:
    """One benchmark."""

    benchmark: str
    problems: int
    expert_usd: float | None
    #: Where its problems are from; None where they could not be loaded and typical figures stand in.
    source: str | None
    #: Why they could not.
    assumed_because: str | None


@dataclass(frozen=True)
class Estimate:
    """What a run would come to. Attempts that the ledger already holds are done and cost nothing more."""

    experiment: str
    attempts: int
    done: int
    calls: int
    usd: Decimal
    worst_usd: Decimal | None
    spent_usd: Decimal
    strategies: Sequence[Row]
    benchmarks: Sequence[Set]
    parts: Sequence[Part]
    #: Environment variables that the run needs and does not find.
    not_set: Sequence[str]
    notes: Sequence[str]


def estimate(
    experiment: Experiment,
    folder: Path,
    overrides: Overrides,
    *,
    ledger: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Estimate:
    """What the experiment would cost to run, or to finish; what would be wrong with a run is wrong with this too."""
    needed = {spec.id: environment_names(spec, overrides.base_url) for spec in experiment.strategies}
    absent = {name for names in needed.values() for name in names if not environment.get(name)}
    loading = Loading()
    placeholders = dict.fromkeys(absent, NOT_SET)
    plan = prepare(experiment, folder, overrides, environment={**environment, **placeholders}, load=loading)
    judges = judge_addresses(plan)
    known = [strategy.address for strategy in plan.strategies if not absent & set(needed[strategy.id])]
    not_set = absent | missing_keys([*known, *judges.values()])
    history = read_history(ledger, plan, unsure={name for name, names in needed.items() if absent & set(names)})
    counts = {name: min(found.problems, overrides.sample or found.problems) for name, found in loading.assumed.items()}
    guess = _Guess(plan, folder, loading, counts, judges)
    parts = [guess.part(strategy, graded, history) for strategy in plan.strategies for graded in plan.benchmarks]
    rows = [_row(strategy, parts, plan, history) for strategy in plan.strategies]
    total_usd = plan.experiment.budgets.total_usd
    return Estimate(
        experiment=experiment.experiment,
        attempts=sum(row.attempts for row in rows),
        done=sum(row.done for row in rows),
        calls=sum(row.calls for row in rows),
        usd=sum((row.usd for row in rows), _NOTHING),
        worst_usd=_within(_sum(row.worst_usd for row in rows), total_usd, history.spent_usd),
        spent_usd=history.spent_usd,
        strategies=rows,
        benchmarks=[guess.set(graded) for graded in plan.benchmarks],
        parts=parts,
        not_set=sorted(not_set),
        notes=list(_notes(plan, loading, rows, parts, history)),
    )


class _Guess:
    """Estimates parts of a plan."""

    def __init__(
        self, plan: Plan, folder: Path, loading: Loading, counts: Mapping[str, int], judges: Mapping[str, Address]
    ) -> None:
        self._judges = {model: quote(address, plan.book) for model, address in judges.items()}
        self._assumed = loading.assumed
        self._counts = counts
        specs = zip(plan.experiment.benchmarks, plan.benchmarks, strict=True)
        self._reply_tokens = {
            graded.benchmark.name: typical_of(bundled_loader(spec, folder=folder)).output_tokens
            for spec, graded in specs
        }

    def set(self, graded: Graded) -> Set:
        found = graded.benchmark
        assumed = self._assumed.get(found.name)
        reason = assumed.reason if assumed else None
        return Set(found.name, self._count(graded), found.expert_usd, found.source, reason)

    def part(self, strategy: Strategy, graded: Graded, history: History) -> Part:
        name = graded.benchmark.name
        past = history.parts.get((strategy.id, name), Past())
        left = max(0, self._count(graded) * strategy.repetitions - past.done)
        calls = strategy.technique.calls[0]
        reply_tokens = self._reply(strategy, name)
        prompts = measure(strategy.technique, self._problems(graded), reply_tokens)
        usage = Usage(input_tokens=prompts.tokens, output_tokens=reply_tokens * calls, requests=calls)
        grading_usd, grading_worst_usd = self._judge(graded, prompts, reply_tokens)
        each_usd = _at_most(strategy.quote.bill(usage).usd, strategy.cap_usd) + grading_usd
        worst_usd = _worst(strategy, prompts)
        return Part(
            strategy=strategy.id,
            benchmark=name,
            attempts=left,
            done=past.done,
            calls=left * calls,
            input_tokens=left * (usage.input_tokens or 0),
            output_tokens=left * (usage.output_tokens or 0),
            usd=left * (each_usd if past.mean_usd is None else past.mean_usd),
            worst_usd=None if worst_usd is None else left * (worst_usd + grading_worst_usd),
            basis="ledger" if past.mean_usd is not None else "typical" if name in self._assumed else "prompts",
        )

    def _count(self, graded: Graded) -> int:
        return self._counts.get(graded.benchmark.name, len(graded.benchmark.problems))

    def _problems(self, graded: Graded) -> Sequence[Problem]:
        assumed = self._assumed.get(graded.benchmark.name)
        return [assumed.example] if assumed else graded.benchmark.problems

    def _reply(self, strategy: Strategy, benchmark: str) -> int:
        tokens = self._reply_tokens[benchmark] * (_THINKING if _always_thinks(strategy) else 1)
        return min(tokens, int(strategy.settings.get("max_tokens") or tokens))

    def _judge(self, graded: Graded, prompts: Prompts, reply_tokens: int) -> tuple[Decimal, Decimal]:
        """What a judge adds to an attempt, usually and at most; of graders that differ the first judge stands in."""
        models = [grader.judge_model for grader in (graded.grader, *graded.own.values()) if grader.judge_model]
        if not models:
            return _NOTHING, _NOTHING
        priced = self._judges[models[0]]
        size = prompts.longest_bytes + reply_tokens * BYTES_PER_TOKEN + _JUDGE_PROMPT_BYTES
        usage = Usage(input_tokens=size // BYTES_PER_TOKEN, output_tokens=_JUDGE_TOKENS, requests=1)
        most = bound(Prices(priced), size, left_usd=None, asked_tokens=_JUDGE_MOST_TOKENS, output_limit=None)
        return priced.bill(usage).usd, most.worst_usd if most else _NOTHING


def _always_thinks(strategy: Strategy) -> bool:
    from pydantic_ai.models import infer_model_profile

    thinking = strategy.settings.get("thinking")
    profile = infer_model_profile(str(strategy.address))
    return bool(thinking) or bool(profile.get("thinking_always_enabled"))


def _worst(strategy: Strategy, prompts: Prompts) -> Decimal | None:
    """The most that one attempt can cost: its cap, or what its replies can come to."""
    if strategy.cap_usd is not None:
        return strategy.cap_usd
    prices = Prices(strategy.quote)
    asked = strategy.settings.get("max_tokens")
    if asked is None and prices.context_window is None and prices.output_usd_each(0):
        return None
    most = bound(prices, prompts.longest_bytes, left_usd=None, asked_tokens=asked, output_limit=None)
    return most.worst_usd * strategy.technique.calls[1] if most else None


def _row(strategy: Strategy, parts: Sequence[Part], plan: Plan, history: History) -> Row:
    own = [part for part in parts if part.strategy == strategy.id]
    return Row(
        strategy=strategy.id,
        attempts=sum(part.attempts for part in own),
        done=sum(part.done for part in own),
        calls=sum(part.calls for part in own),
        input_tokens=sum(part.input_tokens for part in own),
        output_tokens=sum(part.output_tokens for part in own),
        usd=sum((part.usd for part in own), _NOTHING),
        worst_usd=_within(
            _sum(part.worst_usd for part in own),
            plan.experiment.budgets.strategy_usd,
            history.spent_by_strategy.get(strategy.id, _NOTHING),
        ),
    )


def _notes(plan: Plan, loading: Loading, rows: Sequence[Row], parts: Sequence[Part], history: History) -> Iterable[str]:
    budgets = plan.experiment.budgets
    if any(part.basis != "ledger" for part in parts):
        yield (
            f"Estimates take {BYTES_PER_TOKEN} bytes for a token and replies of the benchmark's typical length "
            f"({OWN_TOKENS} tokens for your own), within max_tokens; {_THINKING} times that for models that think."
        )
    if any(part.basis == "ledger" for part in parts):
        yield "Where the ledger holds attempts of a strategy and benchmark, the estimate is what those cost on average."
    if loading.assumed:
        reason = next(iter(loading.assumed.values())).reason
        yield f"Could not be loaded, and are assumed to be as usual: {', '.join(loading.assumed)}. {reason}"
    if any(strategy.address.provider == LOCAL for strategy in plan.strategies):
        yield (
            f"Models on this machine are charged by core time, ${plan.experiment.local.core_hour_usd} an hour; here a "
            "price per token stands in for it."
        )
    for strategy in plan.strategies:
        if runs_own_code(strategy.technique):
            yield f"{strategy.id}: your function was not called; the estimate takes the question for its prompts."
    usd = sum((row.usd for row in rows), _NOTHING)
    if budgets.total_usd is not None and history.spent_usd + usd > budgets.total_usd:
        yield f"The estimate is above the total cap of ${budgets.total_usd}: the run would stop there."
    for row in rows:
        spent = history.spent_by_strategy.get(row.strategy, _NOTHING)
        if budgets.strategy_usd is not None and spent + row.usd > budgets.strategy_usd:
            yield f"{row.strategy}: the estimate is above the strategy cap of ${budgets.strategy_usd}."


def _at_most(usd: Decimal, cap_usd: Decimal | None) -> Decimal:
    return usd if cap_usd is None else min(usd, cap_usd)


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    total = _NOTHING
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def _within(usd: Decimal | None, cap_usd: Decimal | None, spent_usd: Decimal) -> Decimal | None:
    if cap_usd is None:
        return usd
    left = max(_NOTHING, cap_usd - spent_usd)
    return left if usd is None else min(usd, left)
