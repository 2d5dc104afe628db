"""Which graders there are, and how an experiment's line becomes one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from costpass.benchmarks.graders.exact import ExactGrader, ExactOptions
from costpass.benchmarks.graders.json_schema import JsonSchemaGrader, JsonSchemaOptions
from costpass.benchmarks.graders.judge import JudgeGrader, JudgeOptions
from costpass.benchmarks.graders.math_equivalence import MathGrader, MathOptions
from costpass.benchmarks.graders.multiple_choice import MultipleChoiceGrader
from costpass.benchmarks.graders.numeric import NumericGrader, NumericOptions
from costpass.benchmarks.graders.options import NoOptions, Options
from costpass.benchmarks.graders.protocol import Grader
from costpass.benchmarks.graders.python_callable import PythonGrader, PythonOptions
from costpass.benchmarks.graders.python_tests import PythonTestsGrader, PythonTestsOptions
from costpass.benchmarks.graders.strings import StringsGrader, StringsOptions
from costpass.benchmarks.graders.word import WordGrader, WordOptions
from costpass.benchmarks.problem import GraderSpec, Problem
from costpass.errors import BadInputError, did_you_mean
from costpass.strict_yaml import complaint


@dataclass(frozen=True)
class _Kind:
    options: type[Options]
    build: Callable[[Any, Path | None], Grader]


_KINDS: Mapping[str, _Kind] = {
    "exact": _Kind(ExactOptions, lambda options, _: ExactGrader(options)),
    "numeric": _Kind(NumericOptions, lambda options, _: NumericGrader(options)),
    "word": _Kind(WordOptions, lambda options, _: WordGrader(options)),
    "multiple-choice": _Kind(NoOptions, lambda options, _: MultipleChoiceGrader(options)),
    "math": _Kind(MathOptions, lambda options, _: MathGrader(options)),
    "strings": _Kind(StringsOptions, lambda options, _: StringsGrader(options)),
    "json-schema": _Kind(JsonSchemaOptions, JsonSchemaGrader),
    "python-tests": _Kind(PythonTestsOptions, lambda options, _: PythonTestsGrader(options)),
    "judge": _Kind(JudgeOptions, lambda options, _: JudgeGrader(options)),
    "python": _Kind(PythonOptions, PythonGrader),
}

#: The options of each grader, by its name: for the schema of an experiment.
GraderOptions: Mapping[str, type[Options]] = MappingProxyType({name: kind.options for name, kind in _KINDS.items()})


def _split(spec: GraderSpec) -> tuple[str, Any]:
    if isinstance(spec, str):
        return spec, {}
    if len(spec) != 1:
        raise BadInputError(f"a grader is a name, or one name with its options (given: {', '.join(map(str, spec))})")
    ((name, options),) = spec.items()
    if name == "python" and isinstance(options, str):
        return name, {"function": options}
    return name, {} if options is None else options


def _kind(name: str) -> _Kind:
    if name not in _KINDS:
        raise BadInputError(
            f"there is no grader {name!r}{did_you_mean(str(name), _KINDS)} (known: {', '.join(_KINDS)})"
        )
    return _KINDS[name]


def build_grader(spec: GraderSpec, *, folder: Path | None = None) -> Grader:
    """The grader that an experiment names; files that it names are looked for in `folder`."""
    name, given = _split(spec)
    kind = _kind(name)
    if not isinstance(given, Mapping):
        raise BadInputError(f"grader {name!r}: its options are a mapping (given: {given!r:.80})")
    try:
        options = kind.options.model_validate(dict(given))
    except ValidationError as error:
        raise BadInputError(f"grader {name!r}: {complaint(error, kind.options)}") from error
    return kind.build(options, folder)


def check_problem(grader: Grader, problem: Problem) -> None:
    """Complains, before anything is spent, of a target that the grader cannot use."""
    check = getattr(grader, "check", None)
    if check is not None:
        check(problem)
