"""Choices by chance that come out the same on every machine: by the hash of a seed and of what is chosen from."""

import hashlib
import json
from collections.abc import Sequence

from costpass.benchmarks.problem import Problem
from costpass.errors import BadInputError


def rank(seed: int, *names: str) -> bytes:
    """The place of something in the order that a seed puts all things in."""
    return hashlib.sha256(json.dumps([seed, *names]).encode()).digest()


def sample(problems: Sequence[Problem], n: int, seed: int) -> list[Problem]:
    """`n` of the problems, in their own order; whatever that order is, the same seed takes the same ones.

    A larger sample with the same seed holds every smaller one, so growing an experiment keeps what was paid for.
    """
    if n > len(problems):
        raise BadInputError(f"sample.n is {n}, but there are {len(problems)} problems")
    by_rank = sorted(range(len(problems)), key=lambda index: rank(seed, problems[index].id))
    return [problems[index] for index in sorted(by_rank[:n])]
