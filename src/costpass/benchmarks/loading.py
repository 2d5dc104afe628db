"""From what an experiment writes to the benchmark: rows found, read, checked and sampled."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unicodedata import category

from costpass.benchmarks import hub, registry
from costpass.benchmarks.cells import Row
from costpass.benchmarks.files import Rows, find_file, looks_like_a_file, read_file, short_digest
from costpass.benchmarks.loader import Loader
from costpass.benchmarks.own import OwnRows
from costpass.benchmarks.problem import Benchmark, Problem
from costpass.benchmarks.sampling import sample
from costpass.benchmarks.spec import BenchmarkSpec
from costpass.errors import BadInputError

_LONGEST_ID = 200
#: Control characters, and halves of characters that UTF-8 cannot write.
_NOT_IN_IDS = {"Cc", "Cs"}


def load_benchmark(spec: BenchmarkSpec, *, folder: Path, data: Path | None = None) -> Benchmark:
    """The benchmark that an experiment in `folder` asks for; `data` may hold the bundled ones as files."""
    loader = bundled_loader(spec, folder=folder)
    seed = spec.sample.seed if spec.sample else 0
    if loader is None:
        own = OwnRows(spec)
        found = _own_rows(spec, folder)
        grader, problems = own.graded(_problems(found, own.problem))
    else:
        found = _bundled_rows(loader, spec, folder, data, seed)
        grader = spec.grader if spec.grader is not None else loader.grader
        problems = _problems(found, lambda row, number: loader.problem(row, number, seed))
    expert = spec.expert or (loader.expert if loader else None)
    return Benchmark(
        name=benchmark_id(spec, folder=folder),
        problems=_sampled([_as_asked(problem, spec) for problem in problems], spec, found.where),
        grader=grader,
        expert_usd=expert.range_usd[1] if expert else None,
        source=found.source,
    )


def benchmark_id(spec: BenchmarkSpec, *, folder: Path) -> str:
    """The name that records carry."""
    if spec.id is not None:
        return spec.id
    if loader := bundled_loader(spec, folder=folder):
        return loader.name
    if spec.name.startswith(hub.PREFIX):
        return hub.HubRef.parse(spec.name.removeprefix(hub.PREFIX)).dataset
    return Path(spec.name.removesuffix(".gz")).stem


def bundled_loader(spec: BenchmarkSpec, *, folder: Path) -> Loader | None:
    """The bundled benchmark that is meant, or None for a user's own file or dataset."""
    loader = registry.find(spec.name)
    if loader is not None:
        if spec.columns:
            raise BadInputError(
                f"{spec.name}: `columns` is for files of your own; this benchmark has the columns "
                f"{', '.join(loader.columns)}"
            )
        return loader
    is_own = spec.name.startswith(hub.PREFIX) or looks_like_a_file(spec.name) or (folder / spec.name).is_file()
    if not is_own:
        return registry.require(spec.name)
    if spec.file is not None:
        raise BadInputError(f"{spec.name}: `file` is for bundled benchmarks; give the file's path as the name")
    return None


def _own_rows(spec: BenchmarkSpec, folder: Path) -> Rows:
    if not spec.name.startswith(hub.PREFIX):
        return read_file(_inside(folder, Path(spec.name)))
    ref = hub.HubRef.parse(spec.name.removeprefix(hub.PREFIX))
    return hub.read_hub(ref, "a local file with the same columns, its path given as the name, needs no network")


def _bundled_rows(loader: Loader, spec: BenchmarkSpec, folder: Path, data: Path | None, seed: int) -> Rows:
    local = _inside(folder, spec.file) if spec.file else data and find_file(data, loader.name)
    if local:
        return read_file(local)
    if loader.generate is not None:
        return Rows(list(loader.generate(seed)), loader.name, f"generated, seed {seed}")
    if loader.rows:
        return Rows(loader.rows, loader.name, f"bundled sha256:{short_digest(json.dumps(loader.rows).encode())}")
    if loader.hub is None:
        raise BadInputError(f"{loader.name}: no data; give `file:` with the columns {', '.join(loader.columns)}")
    way_out = f"`file:` takes a local file with the columns {', '.join(loader.columns)} and needs no network"
    return hub.read_hub(hub.HubRef.parse(loader.hub), way_out)


def _inside(folder: Path, path: Path) -> Path:
    return folder / path.expanduser()


def _problems(found: Rows, read: Callable[[Row, int], Problem]) -> list[Problem]:
    """The problems of the rows, each with an id of its own."""
    problems: list[Problem] = []
    first_row: dict[str, int] = {}
    for number, row in enumerate(found.rows, start=1):
        try:
            problem = read(row, number)
            _require_id(problem.id)
        except ValueError as error:
            raise BadInputError(f"{found.where}: row {number}: {error}") from error
        if problem.id in first_row:
            raise BadInputError(
                f"{found.where}: rows {first_row[problem.id]} and {number} have the same id {problem.id!r}"
            )
        first_row[problem.id] = number
        problems.append(problem)
    if not problems:
        raise BadInputError(f"{found.where}: no problems")
    return problems


def _require_id(name: str) -> None:
    if not name.strip() or len(name) > _LONGEST_ID or any(category(letter) in _NOT_IN_IDS for letter in name):
        raise ValueError(f"an id is text of 1 to {_LONGEST_ID} characters on one line, not {name!r:.60}")


def _as_asked(problem: Problem, spec: BenchmarkSpec) -> Problem:
    return replace(problem, reading=spec.reading) if spec.reading is not None else problem


def _sampled(problems: Sequence[Problem], spec: BenchmarkSpec, where: str) -> Sequence[Problem]:
    if spec.sample is None:
        return tuple(problems)
    try:
        return tuple(sample(problems, spec.sample.n, spec.sample.seed))
    except BadInputError as error:
        raise BadInputError(f"{where}: {error}") from None
