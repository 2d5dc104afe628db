"""`strings`: every required string stands in the reply, and no forbidden one."""

import re
from collections.abc import Sequence

from pydantic import Field, ValidationError, model_validator

from costpass.benchmarks.graders.options import NO_ANSWER, Options, bad_target
from costpass.benchmarks.graders.protocol import Grade, Judge
from costpass.benchmarks.graders.workers import WorkerLostError, WorkerPool
from costpass.benchmarks.problem import Problem

WORKERS = WorkerPool("costpass.benchmarks.graders.regex_search:found", size=2)


class Strings(Options):
    """Strings that have to stand in a reply, or must not."""

    required: tuple[str, ...] = ()
    #: What makes the reply complete: required like the others, and scored apart.
    all_of: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _none_empty(self) -> "Strings":
        if not all(text.strip() for text in (*self.required, *self.all_of, *self.forbidden)):
            raise ValueError("an empty string stands in every reply")
        return self


class StringsOptions(Strings):
    ignore_case: bool = True
    #: `cat` does not stand in `concatenate`.
    whole_words: bool = False
    #: The strings are regular expressions.
    regex: bool = False
    #: For the search with regular expressions.
    timeout_s: float = Field(default=5.0, gt=0, le=3600)

    @model_validator(mode="after")
    def _patterns_compile(self) -> "StringsOptions":
        if self.regex:
            _check_patterns((*self.required, *self.all_of, *self.forbidden))
        return self


def _check_patterns(patterns: Sequence[str]) -> None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None


class StringsGrader:
    """Searches the whole reply for the strings of the options and those of the problem's target."""

    name = "strings"
    judge_model: str | None = None

    def __init__(self, options: StringsOptions | None = None) -> None:
        self._options = options or StringsOptions()

    def check(self, problem: Problem) -> None:
        self._strings(problem)

    async def grade(self, answer: str, problem: Problem, judge: Judge | None = None) -> Grade:  # noqa: ARG002
        strings = self._strings(problem)
        if not answer.strip():
            return NO_ANSWER
        wanted = {"required": strings.required, "all_of": strings.all_of, "forbidden": strings.forbidden}
        try:
            found = {kind: await self._found(texts, answer) for kind, texts in wanted.items() if texts}
        except WorkerLostError:
            return Grade(passed=False, failure="grader_timeout")
        scores = {kind: sum(hits) / len(hits) for kind, hits in found.items()}
        if "forbidden" in scores:
            scores["forbidden"] = 1 - scores["forbidden"]
        passed = all(score == 1 for score in scores.values())
        return Grade(passed=passed, scores=scores, failure=None if passed else "wrong_answer")

    def _strings(self, problem: Problem) -> Strings:
        """Those of the options and those of the target, which is text, a list (both required) or a mapping."""
        given = problem.target
        if isinstance(given, str):
            given = [given] if given.strip() else []
        try:
            own = Strings.model_validate(given if isinstance(given, dict) else {"required": given or ()})
            if self._options.regex:
                _check_patterns((*own.required, *own.all_of, *own.forbidden))
        except ValueError as error:
            said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            wanted = f"strings, or {{required, all_of, forbidden}} ({said.removeprefix('Value error, ')})"
            raise bad_target(problem, self.name, wanted) from error
        options = self._options
        strings = Strings(
            required=options.required + own.required,
            all_of=options.all_of + own.all_of,
            forbidden=options.forbidden + own.forbidden,
        )
        if not any((strings.required, strings.all_of, strings.forbidden)):
            raise bad_target(problem, self.name, "at least one string (without any, every reply would pass)")
        return strings

    async def _found(self, texts: Sequence[str], reply: str) -> list[bool]:
        flags = re.IGNORECASE if self._options.ignore_case else re.NOFLAG
        if self._options.regex:
            patterns = [rf"(?<!\w)(?:{text})(?!\w)" if self._options.whole_words else text for text in texts]
            hits = await WORKERS.call(patterns, int(flags), reply, timeout_s=self._options.timeout_s)
            return [bool(hit) for hit in hits]
        if self._options.whole_words:
            return [re.search(rf"(?<!\w){re.escape(text)}(?!\w)", reply, flags) is not None for text in texts]
        if self._options.ignore_case:
            folded = reply.casefold()
            return [text.casefold() in folded for text in texts]
        return [text in reply for text in texts]
