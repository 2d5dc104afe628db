"""self-refine: what the review is shown."""

from tests.strategies.lm.techniques.scripted_ask import ScriptedAsk, answer

from costpass.strategies.lm.techniques.registry import build_technique


def test_the_review_sees_the_question_and_the_whole_reply() -> None:
    ask = ScriptedAsk("Forty and two {question} make 41.\n<answer>41</answer>", "<answer>42</answer>")
    technique = build_technique("self-refine")
    assert answer(technique, ask) == "<answer>42</answer>"
    assert (technique.name, technique.calls, len(ask.calls)) == ("self-refine", (2, 2), 2)
    first, review = ask.calls
    assert first.text.startswith("Please solve the following question.")
    assert "'''\nWhat is 40 + 2?\n'''" in review.text
    assert "'''\nForty and two {question} make 41.\n<answer>41</answer>\n'''" in review.text
    assert not review.history


def test_each_round_reviews_the_reply_before_it() -> None:
    ask = ScriptedAsk("first", "second", "third")
    technique = build_technique({"self-refine": {"rounds": 2, "of": "direct"}})
    assert answer(technique, ask) == "third"
    assert (technique.name, technique.calls) == ("self-refine-2-of-direct", (3, 3))
    assert "first" in ask.calls[1].text
    assert "second" in ask.calls[2].text
    assert "first" not in ask.calls[2].text


def test_the_form_that_an_own_prompt_asks_for_is_kept_in_the_review() -> None:
    ask = ScriptedAsk('{"sum": 41}', '{"sum": 42}')
    answer(build_technique("self-refine", prompt="{question} Reply in JSON."), ask)
    assert ask.calls[0].text == "What is 40 + 2? Reply in JSON."
    assert "What is 40 + 2? Reply in JSON." in ask.calls[1].text
    assert "<answer>" not in ask.calls[1].text
