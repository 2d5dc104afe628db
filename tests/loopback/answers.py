"""What the simulated models know: arithmetic, letters for multiple choice, verdicts, token budgets."""

import re
from collections.abc import Callable
from importlib import import_module
from typing import cast

from tests.loopback.options import Options
from tests.loopback.reply import Asked, draws, suffixes

Answer = Callable[[Asked], str]

SENTENCE = "I have no opinion on that."

_SUM = re.compile(r"(-?\d+)\s*([+*×x−-])\s*(-?\d+)(?![\d.])")
_CHOICE = re.compile(r"^\s*\(?([A-J])[).:]\s", re.MULTILINE)
_BUDGET = re.compile(r"\b(number of|how many)\b[^.?!]{0,40}\btokens\b", re.IGNORECASE)
_FILLER = ("Let", "me", "work", "it", "out", "step", "by", "step:")


def load_answer(options: Options) -> Answer:
    """The function that the options name, or the one that knows arithmetic."""
    if options.answer is None:
        return Arithmetic(options)
    module, _, name = options.answer.partition(":")
    return cast(Answer, getattr(import_module(module), name))


class Arithmetic:
    """Answers sums as rightly as the model is good, and other prompts in the form that they ask for."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def __call__(self, asked: Asked) -> str:
        last = asked.questions[0] if asked.questions else ""
        if "VERDICT" in asked.prompt:
            return "VERDICT: PASS"
        if _BUDGET.search(last):
            return "Budget: [[24]]" if "[[" in last else "24"
        if len(letters := sorted(set(_CHOICE.findall(last)))) > 1:
            return self._say(letters[self._draws(asked, last)[0] % len(letters)], asked)
        # After worked examples the last sum is the question; in a conversation the latest turn may hold none.
        for question in asked.questions:
            if sums := _SUM.findall(question):
                return self._say(self._result(asked, question, *sums[-1]), asked)
        return SENTENCE

    def _draws(self, asked: Asked, question: str) -> tuple[int, ...]:
        which = asked.number if asked.seed is None else f"seed {asked.seed}"
        return draws(self._options.seed, asked.model, question, which)

    def _result(self, asked: Asked, question: str, left: str, operator: str, right: str) -> str:
        a, b = int(left), int(right)
        result = a + b if operator == "+" else a - b if operator in "-−" else a * b
        luck, error, *_ = self._draws(asked, question)
        if luck / 2**32 < accuracy(asked.model, self._options):
            return str(result)
        return str(result + 1 + error % 9)

    def _say(self, answer: str, asked: Asked) -> str:
        text = f"<answer>{answer}</answer>" if self._options.style == "tagged" else f"The answer is {answer}."
        length = int(suffixes(asked.model).get("w") or self._options.words)
        filler = [_FILLER[i % len(_FILLER)] for i in range(length - len(text.split()))]
        return " ".join([*filler, text])


def echo(asked: Asked) -> str:
    """What the user said last."""
    return asked.questions[0]


def accuracy(model: str, options: Options) -> float:
    """How often a model is right: as told for its name, as its name says (sim-p70), or as told for all."""
    if model in options.accuracy_of:
        return options.accuracy_of[model]
    percent = suffixes(model).get("p")
    return int(percent) / 100 if percent else options.accuracy
