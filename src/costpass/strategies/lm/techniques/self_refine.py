"""`self-refine`: an answer, then a call that reviews and corrects it."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StrictInt

from costpass.benchmarks.problem import Problem
from costpass.strategies.lm.ask import Ask
from costpass.strategies.lm.techniques import chain_of_thought, direct
from costpass.strategies.lm.techniques.built import BuiltTechnique, Given, Options, read_options
from costpass.strategies.lm.techniques.template import fill

NAME = "self-refine"

_REVIEW = """\
Below are a question and an answer that was given to it. Check the reasoning and the final answer step by step, and \
correct whatever is wrong. Then give the corrected final answer; if nothing was wrong, give the same one again.

QUESTION:
'''
{question}
'''

ANSWER TO CHECK:
'''
{reply}
'''

"""

REVIEW = (
    _REVIEW
    + """\
End with the corrected final answer between tags, only the letter for a multiple-choice question and only the number \
for a numeric one:

<answer>
...
</answer>
"""
)

#: A strategy's own template may ask for a form of its own, which the tags above would contradict.
REVIEW_OF_OWN_PROMPT = _REVIEW + "Give the corrected final answer in the form that the question above asks for.\n"


class SelfRefineOptions(Options):
    """How many reviews, and which technique gives the first answer."""

    rounds: Annotated[StrictInt, Field(ge=1)] = 1
    of: Any = chain_of_thought.NAME


@dataclass(frozen=True)
class SelfRefine:
    """Answers with `of`, then shows each reply, whole, to a fresh call that corrects it."""

    rounds: int
    of: BuiltTechnique
    #: How the question is put in the review: bare, or in the strategy's own template.
    asked: str
    review: str

    @property
    def name(self) -> str:
        rounds = "" if self.rounds == 1 else f"-{self.rounds}"
        return f"{NAME}{rounds}" + ("" if self.of.name == chain_of_thought.NAME else f"-of-{self.of.name}")

    @property
    def calls(self) -> tuple[int, int]:
        usual, most = self.of.calls
        return usual + self.rounds, most + self.rounds

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        reply = await self.of(problem, ask)
        question = fill(self.asked, question=problem.question)
        for _ in range(self.rounds):
            reply = (await ask(fill(self.review, question=question, reply=reply))).text
        return reply

    def describe(self) -> dict[str, Any]:
        return {
            "name": NAME,
            "rounds": self.rounds,
            "asked": self.asked,
            "review": self.review,
            "of": self.of.describe(),
        }


def build(options: Any, given: Given) -> BuiltTechnique:
    chosen = read_options(SelfRefineOptions, options, NAME)
    first = given.build(chosen.of)
    if given.prompt is None:
        return SelfRefine(chosen.rounds, first, direct.TEMPLATE, REVIEW)
    return SelfRefine(chosen.rounds, first, given.prompt, REVIEW_OF_OWN_PROMPT)
