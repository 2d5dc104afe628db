"""What a technique is once built, and what its builder is given."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError
from costpass.strategies.lm.ask import Ask
from costpass.strict_yaml import complaint


class BuiltTechnique(Protocol):
    """A technique that is ready to run, and can say what it will send."""

    @property
    def name(self) -> str:
        """The record's `technique`."""

    @property
    def calls(self) -> tuple[int, int]:
        """Model calls of one attempt, usually and at most."""

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        """The final reply, whole, as the grader reads it."""

    def describe(self) -> dict[str, Any]:
        """Everything that decides what is sent, as JSON values."""


class Options(BaseModel):
    """The options of a technique that has none; those of the others build on it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Chosen = TypeVar("Chosen", bound=Options)


@dataclass(frozen=True)
class Given:
    """What a builder gets besides the technique's own options."""

    #: The strategy's own template, already known to hold `{question}`.
    prompt: str | None
    #: Where relative paths start.
    folder: Path | None
    #: Builds the technique that another one is made of, under the same prompt and folder.
    build: Callable[[Any], BuiltTechnique]


def read_options(model: type[Chosen], options: Any, technique: str) -> Chosen:
    """The options as the technique's model has them, or an error that names the option."""
    try:
        return model.model_validate({} if options is None else options)
    except ValidationError as error:
        raise BadInputError(f"technique {technique}: {complaint(error, model)}") from error
