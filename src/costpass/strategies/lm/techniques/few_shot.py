"""`few-shot`: worked examples before the question, all in one prompt."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError
from costpass.strategies.lm.ask import Ask
from costpass.strategies.lm.techniques.built import BuiltTechnique, Given, Options, read_options
from costpass.strategies.lm.techniques.examples import Example, as_examples, read_examples
from costpass.strategies.lm.techniques.template import fill

NAME = "few-shot"
EXAMPLE = "User: {question}\nAssistant: {answer}\n\n"
TEMPLATE = "User: {question}\nAssistant:"


class FewShotOptions(Options):
    """Where the examples come from: one of the two."""

    examples: tuple[Any, ...] | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.examples is None) == (self.file is None):
            raise ValueError("give either examples or a file of them")
        return self


@dataclass(frozen=True)
class FewShot:
    """Sends the examples and the question as one text, in turns of user and assistant."""

    examples: tuple[Example, ...]
    template: str
    calls: tuple[int, int] = (1, 1)

    @property
    def name(self) -> str:
        return f"{NAME}-{len(self.examples)}"

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        # Examples drawn from the benchmark itself would hand over the answer of their own problem.
        others = [shown for shown in self.examples if shown.question.strip() != problem.question.strip()]
        shown = "".join(fill(EXAMPLE, question=example.question, answer=example.answer) for example in others)
        return (await ask(shown + fill(self.template, question=problem.question))).text

    def describe(self) -> dict[str, Any]:
        return {
            "name": NAME,
            "template": self.template,
            "example_template": EXAMPLE,
            "examples": [example.model_dump() for example in self.examples],
        }


def build(options: Any, given: Given) -> BuiltTechnique:
    chosen = read_options(FewShotOptions, options, NAME)
    if chosen.file is None:
        examples = as_examples(list(chosen.examples or ()), f"technique {NAME}: examples")
    else:
        examples = read_examples((given.folder or Path()) / chosen.file)
    if not examples:
        raise BadInputError(f"technique {NAME}: there are no examples; without any it would be `direct`")
    return FewShot(examples, given.prompt or TEMPLATE)
