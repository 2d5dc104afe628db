"""What each bundled benchmark makes of a row of its dataset. The files hold rows of our own with its columns."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costpass.benchmarks.loaders import aime_2024, bbq, gpqa_diamond, gsm8k
from costpass.benchmarks.loading import load_benchmark
from costpass.benchmarks.problem import Benchmark, Problem
from costpass.benchmarks.registry import bundled
from costpass.benchmarks.spec import BenchmarkSpec, Sample


def load(name: str, data: Path, **fields: Any) -> Benchmark:
    return load_benchmark(BenchmarkSpec(name=name, **fields), folder=Path(), data=data / "benchmarks")


def by_id(benchmark: Benchmark) -> dict[str, Problem]:
    return {problem.id: problem for problem in benchmark.problems}


@pytest.mark.parametrize(
    ("name", "numbers"), [("one-digit-addition", range(10)), ("two-digit-addition", range(10, 100))]
)
def test_addition_asks_every_pair_once(name: str, numbers: range, data: Path) -> None:
    benchmark = load(name, data)
    assert {problem.id: problem.target for problem in benchmark.problems} == {
        f"{left}+{right}": str(left + right) for left in numbers for right in numbers
    }
    assert len(benchmark.problems) == bundled()[name].typical.problems
    assert benchmark.source == "generated, seed 0"


def test_the_start_of_a_generated_benchmark_is_a_sample_of_it(data: Path) -> None:
    whole = load("two-digit-addition", data).problems
    assert load("two-digit-addition", data, sample=Sample(n=50)).problems == whole[:50]


def test_capitals_accept_each_spelling(data: Path) -> None:
    benchmark = load("capitals", data)
    problems = by_id(benchmark)
    assert problems["France"].question == "What is the capital of France?"
    assert problems["France"].target == "Paris"
    assert problems["Ukraine"].target == ["Kyiv", "Kiev"]
    assert len(problems) == bundled()["capitals"].typical.problems
    assert benchmark.source is not None
    assert benchmark.source.startswith("bundled sha256:")


def test_gsm8k_asks_for_the_number_after_the_four_hashes(data: Path) -> None:
    benchmark = load("gsm8k", data)
    assert [problem.target for problem in benchmark.problems] == ["24", "3600", "-5"]
    assert benchmark.grader == "numeric"
    assert benchmark.expert_usd == 3.5
    assert benchmark.source is not None
    assert benchmark.source.startswith("gsm8k.jsonl sha256:")


@pytest.mark.parametrize("answer", ["no number", "#### ", "#### many", "#### 3 apples"])
def test_gsm8k_refuses_a_row_without_a_final_number(answer: str) -> None:
    with pytest.raises(ValueError, match="####"):
        gsm8k.problem({"question": "How many?", "answer": answer}, 1, 0)


@given(st.integers(-(10**9), 10**9))
def test_gsm8k_drops_the_commas_of_thousands(number: int) -> None:
    assert gsm8k.problem({"question": "?", "answer": f"So:\n#### {number:,}"}, 1, 0).target == str(number)


def test_math_500_keeps_subject_and_level(data: Path) -> None:
    problem = by_id(load("MATH500", data))["test/prealgebra/own-1.json"]
    assert (problem.target, problem.reading, problem.capability) == (r"\frac{1}{2}", "math", "Prealgebra")
    assert problem.extra["level"] == 1


def test_aime_answers_lose_their_leading_zeros(data: Path) -> None:
    problems = by_id(load("aime-2024", data))
    assert {name: problem.target for name, problem in problems.items()} == {"60": "25", "61": "8"}


def test_aime_is_read_in_its_capitalised_form_too() -> None:
    problem = aime_2024.problem({"ID": "2024-I-1", "Problem": "Why?", "Answer": 204}, 1, 0)
    assert (problem.id, problem.question, problem.target) == ("2024-I-1", "Why?", "204")


@pytest.mark.parametrize("answer", ["1000", "-1", "x", "2.5"])
def test_aime_refuses_what_cannot_be_an_answer(answer: str) -> None:
    with pytest.raises(ValueError, match="from 0 to 999"):
        aime_2024.problem({"problem": "Why?", "answer": answer}, 1, 0)


def gpqa_row(number: int) -> dict[str, str]:
    wrong = {f"Incorrect Answer {place}": f"wrong {place}" for place in (1, 2, 3)}
    return {"Question": f"Question {number}", "Correct Answer": "right", "Record ID": f"rec{number}", **wrong}


def test_gpqa_lists_four_choices_and_the_letter_is_that_of_the_right_one(data: Path) -> None:
    problem = by_id(load("gpqa-diamond", data))["recOwn1"]
    assert sorted(problem.choices) == ["W boson", "gluon", "graviton", "photon"]
    assert problem.choices["ABCD".index(problem.target)] == "photon"
    assert f"\n{problem.target}) photon" in problem.question
    assert problem.question.startswith("Which particle carries\nthe electromagnetic force?\n\nA) ")


@given(seed=st.integers(), number=st.integers(0, 10**6))
def test_gpqa_choices_do_not_depend_on_where_a_row_stands(seed: int, number: int) -> None:
    problem = gpqa_diamond.problem(gpqa_row(number), 1, seed)
    assert problem == gpqa_diamond.problem(gpqa_row(number), 77, seed)
    assert problem.choices["ABCD".index(problem.target)] == "right"
    assert sorted(problem.choices) == ["right", "wrong 1", "wrong 2", "wrong 3"]


def test_gpqa_letters_are_equally_likely_to_be_right() -> None:
    count = 4000
    letters = Counter(gpqa_diamond.problem(gpqa_row(number), 1, 0).target for number in range(count))
    # Three degrees of freedom, p ≈ 0.0001.
    assert sum((times - count / 4) ** 2 for times in letters.values()) / (count / 4) < 21
    assert set(letters) == set("ABCD")


def test_another_seed_shuffles_gpqa_anew() -> None:
    rows = [gpqa_row(number) for number in range(50)]
    first, second = ([gpqa_diamond.problem(row, 1, seed).choices for row in rows] for seed in (0, 1))
    assert first != second


def test_gpqa_without_record_ids_is_named_after_its_questions() -> None:
    row = {name: value for name, value in gpqa_row(5).items() if name != "Record ID"}
    assert gpqa_diamond.problem(row, 1, 0) == gpqa_diamond.problem(row, 9, 0)


def test_bbq_is_grouped_by_template_and_ids_do_not_collide_between_categories(data: Path) -> None:
    problems = by_id(load("bbq", data))
    assert {name: (problem.target, problem.group) for name, problem in problems.items()} == {
        "Age-0": ("C", "Age-1"),
        "Age-1": ("A", "Age-1"),
        "Nationality-0": ("A", "Nationality-4"),
    }
    assert problems["Nationality-0"].question == (
        "A Dane and a Swede shared a taxi.\n\nWho paid?\n\nA) Not known\nB) The Dane\nC) The Swede"
    )
    assert problems["Age-0"].extra["context_condition"] == "ambig"


def test_bbq_takes_the_label_under_either_name() -> None:
    row = {"category": "Age", "context": "c", "question": "q", "ans0": "a", "ans1": "b", "ans2": "c"}
    assert bbq.problem({**row, "label": 1}, 3, 0).target == "B"
    assert bbq.problem({**row, "answer_label": "2"}, 3, 0).id == "Age-3"
    with pytest.raises(ValueError, match="0, 1 or 2"):
        bbq.problem({**row, "label": 3}, 3, 0)


@pytest.mark.parametrize("name", ["gsm8k", "math-500", "aime-2024", "gpqa-diamond", "bbq", "capitals"])
def test_problems_are_read_as_the_benchmark_says(name: str, data: Path) -> None:
    loader = bundled()[name]
    benchmark = load(name, data)
    assert {problem.reading for problem in benchmark.problems} == {loader.reading}
    assert benchmark.grader == loader.grader
