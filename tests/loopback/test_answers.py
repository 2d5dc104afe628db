"""What the simulated models answer."""

import pytest
from tests.loopback.answers import SENTENCE, Arithmetic
from tests.loopback.options import Options
from tests.loopback.reply import Asked


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("What is 37 + 45?", "<answer>82</answer>"),
        ("37-45", "<answer>-8</answer>"),
        ("Example: 1 + 1 = 2.\nWhat is 12 × 12?", "<answer>144</answer>"),
        ("Who are you?", SENTENCE),
        ("Is 82 right for 37 + 45? Reply VERDICT: PASS or VERDICT: FAIL.", "VERDICT: PASS"),
        ("Estimate the minimum number of tokens for: 37 + 45. Format: Budget: [[12]]", "Budget: [[24]]"),
        ("How many tokens do you need for 37 + 45?", "24"),
        ("Think step by step and use less than 24 tokens: what is 37 + 45?", "<answer>82</answer>"),
    ],
)
def test_a_model_answers_in_the_form_that_is_asked_for(prompt: str, answer: str) -> None:
    assert Arithmetic(Options())(Asked("chat", "any", [("user", prompt)])) == answer


def test_a_follow_up_is_answered_for_the_question_before_it() -> None:
    turns = [("user", "What is 37 + 45?"), ("assistant", "1 + 1"), ("user", "Are you sure?")]
    assert Arithmetic(Options(style="plain"))(Asked("chat", "any", turns)) == "The answer is 82."


def test_a_choice_is_one_of_the_letters_and_every_letter_is_chosen() -> None:
    question = "Which is red?\nA) grass\nB) blood\nC) milk"
    answers = {Arithmetic(Options())(Asked("chat", "any", [("user", question)], number=n)) for n in range(50)}
    assert answers == {f"<answer>{letter}</answer>" for letter in "ABC"}


@pytest.mark.parametrize(
    ("model", "options"),
    [("sim-p70", Options()), ("any", Options(accuracy=0.7)), ("x", Options(accuracy_of={"x": 0.7}))],
)
def test_a_model_is_right_as_often_as_it_is_said_to_be(model: str, options: Options) -> None:
    def right(seed: int | None, number: int) -> bool:
        asked = Asked("chat", model, [("user", "What is 37 + 45?")], seed=seed, number=number)
        return ">82<" in Arithmetic(options)(asked)

    by_number = [right(None, n) for n in range(2000)]
    assert 0.66 < sum(by_number) / 2000 < 0.74
    assert by_number == [right(None, n) for n in range(2000)]
    assert len({right(5, n) for n in range(50)}) == 1, "a seed decides, whatever the number"
