"""What was asked and what is answered, in no dialect: the request, the tokens of the reply, and their bill."""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, NamedTuple

from tests.loopback.options import Options

Finish = Literal["stop", "length"]

_WORD = re.compile(r"\s*\S+|\s+$")
_SUFFIX = re.compile(r"-([prw])(\d*)(?=-|$)")
_THOUGHTS = ("Let", " me", " think", " it", " through", " carefully.")


class Billed(NamedTuple):
    """Tokens by class: `input` is uncached only, `output` includes `reasoning`."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """All input, however it was served."""
        return self.input + self.cache_read + self.cache_write


@dataclass(slots=True)
class Asked:
    """A request to answer."""

    dialect: str
    model: str
    messages: list[tuple[str, str]]  # (role, text), with roles system, user, assistant
    stream: bool = False
    stream_usage: bool = True  # whether a stream says its usage; chat completions do so on request only
    max_tokens: int | None = None
    seed: int | None = None
    number: int = 0  # of the request, from 1, in order of arrival
    can_write_cache: bool = True
    prompt: str = field(init=False)  # all text of the request

    def __post_init__(self) -> None:
        self.prompt = "\n".join([text for _, text in self.messages])

    @property
    def questions(self) -> list[str]:
        """What the user said, last first."""
        return [text for role, text in reversed(self.messages) if role == "user"]


@dataclass(slots=True)
class Reply:
    """The answer to a request as tokens, reasoning first, cut at the request's limit."""

    asked: Asked
    thoughts: list[str]
    words: list[str]
    finish: Finish
    prompt: Billed

    @property
    def tokens(self) -> int:
        return len(self.thoughts) + len(self.words)

    @property
    def text(self) -> str:
        return "".join(self.words)

    @property
    def thinking(self) -> str:
        return "".join(self.thoughts)

    def billed(self, generated: int | None = None) -> Billed:
        """What the first `generated` tokens are billed, all of them by default; the input counts in full."""
        output = self.tokens if generated is None else generated
        return self.prompt._replace(output=output, reasoning=min(output, len(self.thoughts)))


def make_reply(asked: Asked, answer: str, options: Options) -> Reply:
    """An answer as a model with these options generates it."""
    words = _WORD.findall(answer)
    thoughts = [_THOUGHTS[i % len(_THOUGHTS)] for i in range(reasoning_tokens(asked.model, options))]
    limit = asked.max_tokens if asked.max_tokens is not None else len(words) + len(thoughts)
    finish: Finish = "length" if len(words) + len(thoughts) > limit else "stop"
    kept = thoughts[:limit]
    return Reply(asked, kept, words[: limit - len(kept)], finish, bill_prompt(asked, options))


def bill_prompt(asked: Asked, options: Options) -> Billed:
    """What a request's input is billed: a token per four bytes and seven more, shared out over the cache's classes."""
    total = (len(asked.prompt.encode()) // 4 + 7) * options.bloat
    read = int(total * options.cache_read)
    written = int(total * options.cache_write) if asked.can_write_cache else 0
    return Billed(input=total - read - written, cache_read=read, cache_write=written)


@lru_cache
def suffixes(model: str) -> Mapping[str, str]:
    """What a simulated model's name asks for: sim-p70-r6-w10 is right 70 % of the time, in 6 thoughts and 10 words."""
    return dict(_SUFFIX.findall(model)) if model.startswith("sim") else {}


def reasoning_tokens(model: str, options: Options) -> int:
    """How many tokens of reasoning come before the answer."""
    said = suffixes(model).get("r")
    if said is None:
        return options.reasoning
    return int(said or len(_THOUGHTS))


def draws(*of: object) -> tuple[int, ...]:
    """Eight numbers below 2**32 that depend on nothing but what they are drawn for."""
    digest = blake2b("\x1f".join(map(str, of)).encode(), digest_size=32).digest()
    return struct.unpack("<8I", digest)


def chances(*of: object) -> tuple[float, ...]:
    """Eight draws in [0, 1)."""
    return tuple(draw / 2**32 for draw in draws(*of))
