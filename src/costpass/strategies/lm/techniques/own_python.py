"""`python`: one's own `async (problem, ask) -> answer`."""

import functools
import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from costpass.benchmarks.graders.callables import load_callable
from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError
from costpass.strategies.lm.ask import Ask
from costpass.strategies.lm.techniques.built import BuiltTechnique, Given, Options, read_options

NAME = "python"

_Calls = Annotated[StrictInt, Field(ge=0)]


class PythonOptions(Options):
    """Which function, and how many model calls it makes: usually and at most, for cost estimates."""

    function: StrictStr
    calls: tuple[_Calls, _Calls] = (1, 8)


@dataclass(frozen=True)
class OwnPython:
    """Runs the function and holds it to what it must give back."""

    reference: str
    function: Callable[..., Any]
    calls: tuple[int, int]
    #: Of the file as it was loaded; None for a function that has no source file.
    source_sha256: str | None

    @property
    def name(self) -> str:
        return f"{NAME}-{self.reference.rpartition(':')[2]}"

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        pending = self.function(problem, ask)
        if not inspect.isawaitable(pending):
            raise TypeError(f"{self.reference} gave back {_kind(pending)}, not an awaitable; write it as `async def`")
        answer = await pending
        if not isinstance(answer, str):
            raise TypeError(f"{self.reference} gave back {_kind(answer)} for an answer; it must be a str")
        return answer

    def describe(self) -> dict[str, Any]:
        return {"name": NAME, "function": self.reference, "source_sha256": self.source_sha256}


def build(options: Any, given: Given) -> BuiltTechnique:
    written = {"function": options} if isinstance(options, str) else options
    chosen = read_options(PythonOptions, written, NAME)
    if given.prompt is not None:
        raise BadInputError(f"prompt: has no effect on {chosen.function}, which writes its own; leave prompt out")
    if chosen.calls[0] > chosen.calls[1]:
        raise BadInputError(f"technique {NAME}: calls: usual and most are the other way round in {list(chosen.calls)}")
    function = load_callable(chosen.function, given.folder)
    _check_it_takes_problem_and_ask(function, chosen.function)
    return OwnPython(chosen.function, function, chosen.calls, _source_sha256(function))


def _check_it_takes_problem_and_ask(function: Callable[..., Any], reference: str) -> None:
    if inspect.isclass(function):
        raise BadInputError(f"technique {NAME}: {reference} is a class; name a function or a callable instance")
    try:
        inspect.signature(function).bind(None, None)
    except TypeError as error:
        raise BadInputError(f"technique {NAME}: {reference} cannot be called as (problem, ask): {error}") from error
    except ValueError:
        pass  # some callables written in C have no signature to look at


def _source_sha256(function: Callable[..., Any]) -> str | None:
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = function if inspect.isroutine(function) else type(function).__call__
    try:
        path = inspect.getsourcefile(code)
        return path and hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except (TypeError, OSError):
        return None


def _kind(value: object) -> str:
    return type(value).__name__
