"""From an experiment to its plan: everything that can be found wrong before money is spent is found here."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from costpass.benchmarks.graders.protocol import Grader
from costpass.benchmarks.graders.registry import build_grader, check_problem
from costpass.benchmarks.loading import benchmark_id, load_benchmark
from costpass.benchmarks.problem import Benchmark
from costpass.benchmarks.sampling import sample
from costpass.benchmarks.spec import BenchmarkSpec
from costpass.budget.cap import cap_usd
from costpass.errors import BadInputError, CostpassError, MissingExtraError, did_you_mean
from costpass.pricing import PriceBook, PriceError, Quote, Rate, Rates
from costpass.pricing.models_file import Budgets as ModelBudgets
from costpass.pricing.models_file import parse_models
from costpass.runs.experiment import Experiment, StrategySpec
from costpass.runs.plan import Graded, Plan, Strategy
from costpass.strategies.lm.endpoint import LOCAL, Address
from costpass.strategies.lm.techniques.registry import build_technique

#: What a token of a model on this machine is taken to cost beside its core seconds, where no price is given.
LOCAL_USD_PER_MILLION = {"input": Decimal("0.10"), "output": Decimal("0.40")}

ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: Names of one API in the model layer, under one name in the price library.
_PRICED_AS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "google-cloud": "google",
    "gateway/openai": "openai",
}
#: Settings that are numbers: their types, the least they can be, and both in words.
_NUMBERS: dict[str, tuple[Any, float | None, str]] = {
    "temperature": (int | float, 0, "a number from 0"),
    "top_p": (int | float, 0, "a number from 0"),
    "top_k": (int, 1, "a whole number from 1"),
    "max_tokens": (int, 1, "a whole number from 1"),
    "seed": (int, None, "a whole number"),
    "presence_penalty": (int | float, None, "a number"),
    "frequency_penalty": (int | float, None, "a number"),
    "timeout": (int | float, 0, "seconds"),
}
#: Settings that the run itself decides.
_OURS = ("max_retries", "request_timeout", "first_event_timeout", "tool_choice")


@dataclass(frozen=True)
class Overrides:
    """What the command line says instead of the file."""

    sample: int | None = None
    repetitions: int | None = None
    base_url: str | None = None
    data: Path | None = None
    prices: Sequence[Path] = ()
    concurrency: int | None = None


def prepare(
    experiment: Experiment,
    folder: Path,
    overrides: Overrides,
    *,
    environment: Mapping[str, str] = os.environ,
    load: Callable[..., Benchmark] = load_benchmark,
) -> Plan:
    """Reads benchmarks, builds techniques and graders, prices models, and refuses what cannot work."""
    book = price_book(experiment, folder, overrides.prices)
    strategies = [_strategy(spec, experiment, folder, book, overrides, environment) for spec in experiment.strategies]
    _caps_can_be_kept(experiment, strategies)
    benchmarks = [_graded(spec, folder, overrides, load) for spec in experiment.benchmarks]
    names = [graded.benchmark.name for graded in benchmarks]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BadInputError(f"the benchmark {double!r} stands twice; give one of them an id of its own")
    if overrides.concurrency is not None:
        experiment = experiment.model_copy(update={"concurrency": overrides.concurrency})
    return Plan(experiment, book, benchmarks, strategies, base_url=overrides.base_url)


def price_book(experiment: Experiment, folder: Path, price_files: Sequence[Path]) -> PriceBook:
    """The prices that the experiment states, and those of the command line before them."""
    if isinstance(experiment.prices, dict):
        return PriceBook.load(*price_files, inline=parse_models(experiment.prices, "prices"))
    stated = [folder / experiment.prices] if experiment.prices is not None else []
    return PriceBook.load(*stated, *price_files)


def quote(address: Address, book: PriceBook) -> Quote:
    """What the model costs; a model on this machine has a price of its own where the book has none."""
    provider = None if address.base_url else address.provider
    try:
        return book.quote(address.model, provider=_PRICED_AS.get(address.provider, provider))
    except PriceError:
        if address.provider != LOCAL:
            raise
    return Quote(
        asked=address.model,
        model=address.model,
        provider=LOCAL,
        at=datetime.now(UTC),
        rates=Rates({name: Rate.per_million(price) for name, price in LOCAL_USD_PER_MILLION.items()}),
        source="costpass's default for local models",
        checked=None,
        budgets=ModelBudgets(),
    )


def address_of(spec: StrategySpec, base_url: str | None, environment: Mapping[str, str]) -> Address:
    """Where the strategy's model is, with its key read from the environment."""
    where = f"strategy {spec.id}"
    key = resolved(spec.api_key, environment, where) if spec.api_key else None
    url = base_url or (resolved(spec.base_url, environment, where) if spec.base_url else None)
    if spec.model.startswith(f"{LOCAL}:"):
        url = None
    if url is not None and not re.match(r"https?://[^/\s]+", url):
        raise BadInputError(f"base_url {url!r}: must be an address such as http://127.0.0.1:8000/v1")
    return Address.parse(spec.model, base_url=url, api_key=key)


def environment_names(spec: StrategySpec, base_url: str | None = None) -> list[str]:
    """The environment variables that the strategy's address is read from."""
    return ENVIRONMENT.findall(f"{spec.api_key or ''} {base_url or spec.base_url or ''}")


def resolved(text: str, environment: Mapping[str, str], where: str) -> str:
    """A text with every ${NAME} replaced by the environment's value."""

    def value(match: re.Match[str]) -> str:
        found = environment.get(match[1])
        if not found:
            raise CostpassError(f"{where}: the environment variable {match[1]} is not set")
        return found

    return ENVIRONMENT.sub(value, text)


def _strategy(
    spec: StrategySpec,
    experiment: Experiment,
    folder: Path,
    book: PriceBook,
    overrides: Overrides,
    environment: Mapping[str, str],
) -> Strategy:
    try:
        technique = build_technique(spec.technique, prompt=spec.prompt, system=spec.system, folder=folder)
        _known_settings(spec.settings)
        address = address_of(spec, overrides.base_url, environment)
        priced = quote(address, book)
    except (BadInputError, PriceError) as error:
        raise type(error)(f"strategy {spec.id}: {error}") from None
    stated = experiment.budgets.attempt_usd
    cap = cap_usd(priced) if stated == "auto" else stated
    repetitions = overrides.repetitions or spec.repetitions or experiment.repetitions
    return Strategy(spec, address, technique, priced, cap or None, repetitions)


def _known_settings(settings: Mapping[str, Any]) -> None:
    try:
        from pydantic_ai.settings import ModelSettings
    except ImportError:
        raise MissingExtraError("asking a language model", "lm") from None
    known = [name for name in ModelSettings.__annotations__ if name not in _OURS]
    for name, value in settings.items():
        kind, least, what = _NUMBERS.get(name, (object, None, ""))
        if not isinstance(value, kind) or isinstance(value, bool) or (least is not None and value < least):
            raise BadInputError(f"settings.{name}: must be {what}, not {value!r}")
        # A provider's own settings carry its name, as in openai_reasoning_effort.
        if name not in known and not re.match(r"(openai|anthropic|google|groq|mistral|openrouter|xai|bedrock)_", name):
            raise BadInputError(f"settings: unknown setting {name!r}{did_you_mean(name, known)}")


def _caps_can_be_kept(experiment: Experiment, strategies: Sequence[Strategy]) -> None:
    budgets = experiment.budgets
    if budgets.total_usd is None and budgets.strategy_usd is None:
        return
    for strategy in strategies:
        free = not any(rate.base for rate in strategy.quote.rates.tokens.values())
        if strategy.cap_usd is None and "max_tokens" not in strategy.settings and not free:
            raise BadInputError(
                f"strategy {strategy.id}: with attempt_usd: 0 a reply may cost anything, so a cap on the strategy or "
                "the total could not be kept; set settings.max_tokens, or a cap on the attempt"
            )


def _graded(spec: BenchmarkSpec, folder: Path, overrides: Overrides, load: Callable[..., Benchmark]) -> Graded:
    benchmark = _cut(load(_fewer(spec, overrides.sample), folder=folder, data=overrides.data), spec, overrides.sample)
    try:
        grader = build_grader(benchmark.grader, folder=folder)
        own: dict[str, Grader] = {}
        for problem in benchmark.problems:
            if problem.grader is not None:
                own[problem.id] = build_grader(problem.grader, folder=folder)
            check_problem(own.get(problem.id, grader), problem)
    except BadInputError as error:
        raise BadInputError(f"benchmark {benchmark_id(spec, folder=folder)}: {error}") from None
    return Graded(benchmark, grader, own)


def _fewer(spec: BenchmarkSpec, most: int | None) -> BenchmarkSpec:
    """Asks for no more than will be kept: the data may not hold all that the experiment wants."""
    if most is None or spec.sample is None or spec.sample.n <= most:
        return spec
    return spec.model_copy(update={"sample": spec.sample.model_copy(update={"n": most})})


def _cut(benchmark: Benchmark, spec: BenchmarkSpec, most: int | None) -> Benchmark:
    """At most so many of the problems: those that a sample of that size with the same seed would take."""
    if most is None or len(benchmark.problems) <= most:
        return benchmark
    return replace(benchmark, problems=tuple(sample(benchmark.problems, most, spec.sample.seed if spec.sample else 0)))
