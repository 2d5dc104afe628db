"""`majority-vote`: k independent answers, of which the most frequent one counts."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StrictInt

from costpass.benchmarks.answers import canonical
from costpass.benchmarks.problem import Problem
from costpass.strategies.lm.ask import Ask
from costpass.strategies.lm.techniques import chain_of_thought
from costpass.strategies.lm.techniques.built import BuiltTechnique, Given, Options, read_options
from costpass.strategies.lm.techniques.election import elect

NAME = "majority-vote"


class MajorityVoteOptions(Options):
    """How many votes, and by which technique each is cast."""

    k: Annotated[StrictInt, Field(ge=1)] = 3
    of: Any = chain_of_thought.NAME


@dataclass(frozen=True)
class MajorityVote:
    """Runs `of` k times at once and returns the first whole reply that carries the winning answer."""

    k: int
    of: BuiltTechnique

    @property
    def name(self) -> str:
        return f"{NAME}-{self.k}" + ("" if self.of.name == chain_of_thought.NAME else f"-of-{self.of.name}")

    @property
    def calls(self) -> tuple[int, int]:
        usual, most = self.of.calls
        return self.k * usual, self.k * most

    async def __call__(self, problem: Problem, ask: Ask) -> str:
        voters = [asyncio.create_task(self.of(problem, ask)) for _ in range(self.k)]
        try:
            replies = await asyncio.gather(*voters)
        except BaseException:
            # gather lets the others run on: their tokens would be spent after the attempt is booked, or for nothing.
            for voter in voters:
                voter.cancel()
            await asyncio.gather(*voters, return_exceptions=True)
            raise
        return replies[elect([canonical(reply, problem) for reply in replies], ask.seed)]

    def describe(self) -> dict[str, Any]:
        return {"name": NAME, "k": self.k, "of": self.of.describe()}


def build(options: Any, given: Given) -> BuiltTechnique:
    chosen = read_options(MajorityVoteOptions, options, NAME)
    return MajorityVote(chosen.k, given.build(chosen.of))
