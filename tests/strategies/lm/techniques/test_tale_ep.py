"""tale-ep: reading the estimate, and answering within it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.lm.techniques.scripted_ask import ScriptedAsk, answer

from costpass.strategies.lm.techniques.registry import build_technique
from costpass.strategies.lm.techniques.tale_ep import read_budget


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("Budget: [[120]]", 120),
        ("First [[50]]; on reflection [[ 1,200 ]], for 2 steps", 1200),
        ("With 3 steps that is about 40 tokens, in 2 parts", 40),
        ("10-20", 20),
        ("150.5", 150),
        ("[[0]]", 1),
        ("[[-5]]", 1),
        ("-5", 1),
        ("", 512),
        ("as few as possible", 512),
        ("9" * 5000, 512),
    ],
)
def test_an_estimate_is_read(text: str, budget: int) -> None:
    assert read_budget(text, fallback=512) == budget


@given(st.text())
def test_any_reply_gives_a_budget_of_at_least_one(text: str) -> None:
    assert read_budget(text, fallback=512) >= 1


@given(st.integers(min_value=1, max_value=999_999_999))
def test_any_number_in_the_form_asked_for_is_read_back(tokens: int) -> None:
    assert read_budget(f"[[{tokens}]]", fallback=1) == read_budget(f"[[{tokens:,}]]", fallback=1) == tokens


def test_two_calls_with_the_estimate_in_the_second() -> None:
    ask = ScriptedAsk("[[77]]", "<answer>42</answer>")
    technique = build_technique("tale-ep")
    assert answer(technique, ask) == "<answer>42</answer>"
    assert (technique.name, technique.calls, len(ask.calls)) == ("tale-ep", (2, 2), 2)
    estimate, reply = ask.calls
    assert "What is 40 + 2?" in estimate.text
    assert "<answer>" not in estimate.text
    assert reply.text.startswith("Please solve the following question.")
    assert reply.text.endswith("use less than 77 tokens.\n")


def test_an_unreadable_estimate_falls_back_to_the_option() -> None:
    ask = ScriptedAsk("no idea", "42")
    answer(build_technique({"tale-ep": {"fallback_tokens": 99}}), ask)
    assert "less than 99 tokens" in ask.calls[1].text


def test_an_own_prompt_is_kept_as_it_is_before_the_budget() -> None:
    ask = ScriptedAsk("[[7]]", "42")
    answer(build_technique("tale-ep", prompt="{question} {budget}"), ask)
    assert ask.calls[1].text.startswith("What is 40 + 2? {budget}\n")
