"""direct and chain-of-thought: one call, and what is in it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.lm.techniques.scripted_ask import ADDITION, ScriptedAsk, answer

from costpass.strategies.lm.techniques.registry import build_technique
from costpass.strategies.lm.techniques.template import fill


def test_direct_sends_the_question_and_nothing_else() -> None:
    ask = ScriptedAsk("It is 42.")
    assert answer(build_technique(None), ask) == "It is 42."
    assert [(call.prompt, call.system, call.settings) for call in ask.calls] == [("What is 40 + 2?", None, {})]


def test_chain_of_thought_sends_the_prompt_of_the_paper() -> None:
    ask = ScriptedAsk("<answer>42</answer>")
    answer(build_technique("chain-of-thought"), ask)
    (call,) = ask.calls
    assert call.text.startswith("Please solve the following question. You can explain your solution before presenting")
    assert "<answer>\n...\n</answer>" in call.text
    assert call.text.endswith("INPUT:\n'''\nWhat is 40 + 2?\n'''\n")


def test_an_own_prompt_takes_the_place_of_the_template() -> None:
    for name in ("direct", "chain-of-thought"):
        ask = ScriptedAsk("42")
        answer(build_technique(name, prompt="{question} Reply in JSON: {answer: …}"), ask)
        assert ask.calls[0].prompt == "What is 40 + 2? Reply in JSON: {answer: …}"


@given(st.text(alphabet="{}question ab\\1", max_size=40))
def test_braces_in_a_question_are_sent_as_they_are(question: str) -> None:
    ask = ScriptedAsk("42")
    answer(build_technique("direct", prompt="<{question}>"), ask, replace(ADDITION, question=question))
    assert ask.calls[0].prompt == f"<{question}>"


def test_a_value_is_not_filled_in_turn() -> None:
    assert fill("{question}|{reply}", question="{reply}", reply="{question}") == "{reply}|{question}"
