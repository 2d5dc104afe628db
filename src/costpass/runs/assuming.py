"""Benchmarks for an estimate: read where they can be had, else taken to be of their typical size."""

from dataclasses import dataclass, field
from pathlib import Path

from costpass.benchmarks import hub
from costpass.benchmarks.files import find_file
from costpass.benchmarks.loader import Loader, Typical
from costpass.benchmarks.loading import benchmark_id, bundled_loader, load_benchmark
from costpass.benchmarks.problem import Benchmark, Problem
from costpass.benchmarks.spec import BenchmarkSpec
from costpass.errors import BadInputError, CostpassError, MissingExtraError
from costpass.runs.measuring import FILLER

#: Tokens of a question and of a reply where nothing is known of the benchmark.
OWN_TOKENS = 200


@dataclass(frozen=True)
class Assumed:
    """What is taken for a benchmark that could not be loaded."""

    problems: int
    #: A problem of the typical length, to measure prompts with.
    example: Problem
    reason: str


@dataclass
class Loading:
    """Loads benchmarks, and keeps what it assumed of those that could not be had."""

    assumed: dict[str, Assumed] = field(default_factory=dict)

    def __call__(self, spec: BenchmarkSpec, *, folder: Path, data: Path | None = None) -> Benchmark:
        try:
            return load_benchmark(spec, folder=folder, data=data)
        except (BadInputError, MissingExtraError) as error:
            loader = bundled_loader(spec, folder=folder)
            if not _is_elsewhere(spec, loader, folder, data):
                raise
            return self._assume(spec, loader, folder, error)

    def _assume(self, spec: BenchmarkSpec, loader: Loader | None, folder: Path, error: CostpassError) -> Benchmark:
        typical = typical_of(loader)
        problems = spec.sample.n if spec.sample else typical.problems
        if loader is not None and problems > typical.problems:
            raise BadInputError(
                f"{loader.name}: sample.n is {problems}, but there are {typical.problems} problems"
            ) from None
        name = benchmark_id(spec, folder=folder)
        example = Problem(id="typical", question=FILLER * typical.input_tokens, target=None)
        self.assumed[name] = Assumed(problems, example, str(error))
        expert = spec.expert or (loader.expert if loader else None)
        return Benchmark(
            name=name,
            problems=(),
            grader=spec.grader or (loader.grader if loader else "exact"),
            expert_usd=expert.range_usd[1] if expert else None,
        )


def typical_of(loader: Loader | None) -> Typical:
    """The benchmark's typical figures, or round ones for a user's own."""
    return loader.typical if loader else Typical(problems=0, input_tokens=OWN_TOKENS, output_tokens=OWN_TOKENS)


def _is_elsewhere(spec: BenchmarkSpec, loader: Loader | None, folder: Path, data: Path | None) -> bool:
    """Whether the rows are not on this machine, so that a failure says nothing against what was written."""
    if loader is None:
        return spec.name.startswith(hub.PREFIX) and spec.sample is not None
    if spec.file is not None:
        return not (folder / spec.file.expanduser()).exists()
    is_local = data is not None and find_file(data, loader.name) is not None
    return loader.hub is not None and not is_local
