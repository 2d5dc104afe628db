"""`tale-ep`: the model first estimates the tokens it needs, then answers within them (Han et al., arXiv 2412.18547)."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StrictInt

from costpass.benchmarks.problem import Problem
from costpass.strategies.lm.ask import Ask
from costpass.strategies.lm.techniques import chain_of_thought
from costpass.strategies.lm.techniques.built import BuiltTechnique, Given, Options, read_options
from costpass.strategies.lm.techniques.template import fill

NAME = "tale-ep"

ESTIMATE = """\
Estimate the smallest number of tokens in which the question below can be answered completely and correctly, with the \
reasoning that it needs. Do not answer the question. Give only the number, in double square brackets: [[12]] for 12.

QUESTION:
'''
{question}
'''
"""

#: TALE-EP's own sentence. It goes after the template, so that a strategy's own prompt gets it too.
INSTRUCTION = "\nLet's think step by step and use less than {budget} tokens.\n"

# Ten digits and more are a model that repeats itself, not an estimate. A hyphen after a digit is a range: 10-20.
_INTEGER = r"((?<![\w.])-)?(?<![\d.])(\d{1,3}(?:,\d{3}){1,2}|\d{1,9})(?!\d)"
#: From the form asked for to a bare number. The last match counts: models think aloud before they name the figure.
_READINGS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (r"\[\[\s*" + _INTEGER + r"\s*\]\]", _INTEGER + r"\s*tokens?\b", _INTEGER)
)


def read_budget(text: str, fallback: int) -> int:
    """The tokens that an estimate names, at least 1; `fallback` where it names none.

    >>> [read_budget(text, fallback=512) for text in ("Budget: [[120]]", "3 steps, 40 tokens", "no idea")]
    [120, 40, 512]
    """
    for reading in _READINGS:
        found = reading.findall(text)
        if found:
            sign, digits = found[-1]
            return max(1, int(sign + digits.replace(",", "")))
    return fallback


class TaleEpOptions(Options):
    """What to do about an estimate that cannot be read."""

    fallback_tokens: Annotated[StrictInt, Field(ge=1)] = 512


@dataclass(frozen=True)
class TaleEp:
    """Asks for an estimate, then for an answer that stays below it."""

    template: str
    fallback_tokens: int
    name: str = NAME
    calls: tuple[int, int] = (2, 2)

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        estimate = await ask(fill(ESTIMATE, question=problem.question))
        budget = read_budget(estimate.text, self.fallback_tokens)
        prompt = fill(self.template, question=problem.question) + fill(INSTRUCTION, budget=str(budget))
        return (await ask(prompt)).text

    def describe(self) -> dict[str, Any]:
        return {
            "name": NAME,
            "estimate": ESTIMATE,
            "template": self.template,
            "instruction": INSTRUCTION,
            "fallback_tokens": self.fallback_tokens,
        }


def build(options: Any, given: Given) -> BuiltTechnique:
    chosen = read_options(TaleEpOptions, options, NAME)
    return TaleEp(given.prompt or chain_of_thought.TEMPLATE, chosen.fallback_tokens)
