"""Files of the user's own."""

import csv
import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.conftest import write_lines

from costpass.benchmarks.loading import load_benchmark
from costpass.benchmarks.problem import Benchmark, Problem
from costpass.benchmarks.spec import BenchmarkSpec, Sample
from costpass.errors import BadInputError

ROWS: list[dict[str, Any]] = [
    {"id": "sky", "question": "What colour is the sky?", "target": "blue"},
    {"id": "grass", "question": "What colour is grass?", "target": "green"},
]


def load(path: Path, **fields: Any) -> Benchmark:
    return load_benchmark(BenchmarkSpec(name=str(path), **fields), folder=path.parent)


def load_rows(folder: Path, rows: Iterable[Any], **fields: Any) -> Benchmark:
    return load(write_lines(folder / "mine.jsonl", rows), **fields)


def one(folder: Path, row: Mapping[str, Any], **fields: Any) -> Problem:
    return load_rows(folder, [row], **fields).problems[0]


def _json_lines(path: Path) -> None:
    write_lines(path, ROWS)


def _json_list(path: Path) -> None:
    path.write_text(json.dumps(ROWS), encoding="utf-8")


def _table(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ROWS[0], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(ROWS)


def _parquet(path: Path) -> None:
    _json_lines(path.with_suffix(".jsonl"))
    duckdb.execute(f"COPY (FROM read_json('{path.with_suffix('.jsonl')}')) TO '{path}' (FORMAT parquet)")


WRITERS = {".jsonl": _json_lines, ".json": _json_list, ".csv": _table, ".tsv": _table, ".parquet": _parquet}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_kind_of_file_says_the_same(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"colours{ending}"
    WRITERS[ending](path)
    benchmark = load(path)
    assert benchmark.name == "colours"
    assert list(benchmark.problems) == [Problem(**row) for row in ROWS]


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv", ".tsv"])
def test_text_may_be_gzipped(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"colours{ending}"
    WRITERS[ending](path)
    zipped = tmp_path / f"colours{ending}.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    benchmark = load(zipped)
    assert benchmark.name == "colours"
    assert benchmark.problems == load(path).problems


def test_paths_are_relative_to_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_lines(tmp_path / "data" / "my.v2.jsonl", ROWS)
    benchmark = load_benchmark(BenchmarkSpec(name="data/my.v2.jsonl"), folder=tmp_path)
    assert benchmark.name == "my.v2"
    assert len(benchmark.problems) == 2


def test_the_source_changes_with_the_content(tmp_path: Path) -> None:
    before = load_rows(tmp_path, ROWS).source
    after = load_rows(tmp_path, ROWS[:1]).source
    assert before is not None
    assert before.startswith("mine.jsonl sha256:")
    assert before != after


def test_rows_without_ids_are_numbered_and_answer_stands_for_target(tmp_path: Path) -> None:
    problems = load_rows(tmp_path, [{"question": "1+1?", "answer": 2}, {"question": "1+2?", "answer": 3}]).problems
    assert [(problem.id, problem.target) for problem in problems] == [("1", "2"), ("2", "3")]


def test_columns_are_mapped_and_the_rest_is_kept(tmp_path: Path) -> None:
    row = {"Prompt": "Why?", "Gold": ["a", "b"], "Key": 7, "Repo": "r", "Skill": "s", "question": "old", "note": 1}
    names = {"question": "Prompt", "target": "Gold", "id": "Key", "group": "Repo", "capability": "Skill"}
    problem = one(tmp_path, row, columns=names)
    assert problem == Problem(
        id="7",
        question="Why?",
        target=["a", "b"],
        group="r",
        capability="s",
        extra={"question": "old", "note": 1},
    )


def test_target_wins_over_answer(tmp_path: Path) -> None:
    problem = one(tmp_path, {"question": "Why?", "target": "t", "answer": "a"})
    assert (problem.target, problem.extra) == ("t", {"answer": "a"})


@pytest.mark.parametrize("target", ["B", "b", "green", 1])
def test_the_right_choice_is_a_letter_however_the_file_gives_it(target: object, tmp_path: Path) -> None:
    problem = one(tmp_path, {"question": "Colour?", "choices": ["blue", "green"], "target": target})
    assert problem.question == "Colour?\n\nA) blue\nB) green"
    assert (problem.target, problem.reading, problem.choices) == ("B", "choice", ("blue", "green"))


def test_several_choices_may_be_right(tmp_path: Path) -> None:
    problem = one(tmp_path, {"question": "Warm?", "choices": ["blue", "red", "orange"], "target": ["red", "C"]})
    assert problem.target == ["B", "C"]


def test_choices_in_a_table_are_a_json_list(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text('question,choices,target\nColour?,"[""blue"", ""green""]",A\n', encoding="utf-8")
    assert load(path).problems[0].choices == ("blue", "green")


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"choices": ["blue", "green"], "target": "red"}, "'red' is none of the choices"),
        ({"choices": ["B", "A"], "target": "B"}, "'B' could be A or B"),
        ({"choices": ["blue"], "target": "A"}, "1 choices"),
        ({"choices": "blue, green", "target": "A"}, "expected a list"),
        ({"target": None}, "'target' is empty"),
        ({"target": "  "}, "'target' is empty"),
        ({"target": "t", "question": ""}, "'question' is empty"),
        ({"target": "t", "question": ["a"]}, "expected text"),
        ({"target": "t", "grader": 3}, "a grader's name or an object"),
        ({"target": "t", "id": ""}, "'id' is empty"),
        ({"target": "t", "id": "a\u0007"}, "on one line"),
        ({"target": "t", "id": "x" * 201}, "1 to 200 characters"),
        ({"target": "t", "id": {"a": 1}}, "expected text"),
    ],
)
def test_a_bad_row_is_named(row: Mapping[str, Any], complaint: str, tmp_path: Path) -> None:
    good = {"id": "good", "question": "Why?", "target": "t"}
    with pytest.raises(BadInputError, match=rf"mine\.jsonl: row 2: .*{complaint}"):
        load_rows(tmp_path, [good, {"id": "bad", "question": "Why?", **row}])


def test_the_grader_follows_from_how_answers_are_read(tmp_path: Path) -> None:
    plain, quiz = {"question": "Why?", "target": "A"}, {"question": "Why?", "target": "A", "choices": ["x", "y"]}
    assert load_rows(tmp_path, [plain], reading="number").grader == "numeric"
    assert load_rows(tmp_path, [quiz]).grader == "multiple-choice"
    mixed = load_rows(tmp_path, [plain, quiz])
    assert [problem.grader for problem in mixed.problems] == [None, "multiple-choice"]
    assert mixed.grader == load_rows(tmp_path, [plain]).grader


def test_answers_are_read_as_the_grader_needs_them(tmp_path: Path) -> None:
    row = {"question": "How many?", "target": 3}
    assert one(tmp_path, row, grader="numeric").reading == "number"
    assert one(tmp_path, row, grader={"numeric": {"tolerance": 0.1}}).reading == "number"
    assert one(tmp_path, row, grader="numeric", reading="text").reading == "text"
    assert one(tmp_path, {**row, "grader": "math"}, grader="numeric").reading == "math"
    assert one(tmp_path, {**row, "grader": "math"}, grader="numeric").grader == "math"


def test_a_grader_that_compares_with_nothing_needs_no_target(tmp_path: Path) -> None:
    row = {"question": "Name a primary colour."}
    assert one(tmp_path, row, grader={"strings": {"required": ["red"]}}).target is None
    assert one(tmp_path, {**row, "grader": {"judge": {}}}).target is None
    with pytest.raises(BadInputError, match="no column 'target'"):
        one(tmp_path, row, grader={"numeric": {"strict": True}})


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(
        BadInputError, match=r"no column 'question' \(there are: qestion, target\); did you mean 'qestion'"
    ):
        one(tmp_path, {"qestion": "Why?", "target": "t"})
    with pytest.raises(BadInputError, match=r"no column 'target' .*`columns: \{target: …\}`"):
        one(tmp_path, {"question": "Why?", "x": "t"})
    for field in ("question", "group"):
        with pytest.raises(BadInputError, match=r"no column 'Promt' .*did you mean 'Prompt'"):
            one(tmp_path, {"question": "Why?", "Prompt": "Why?", "target": "t"}, columns={field: "Promt"})


def test_ids_that_come_twice_are_named_with_their_rows(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"mine\.jsonl: rows 2 and 3 have the same id 'grass'"):
        load_rows(tmp_path, [*ROWS, ROWS[1]])


def test_a_sample_of_more_than_there_is_says_how_much_there_is(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"mine\.jsonl: sample\.n is 3, but there are 2 problems"):
        load_rows(tmp_path, ROWS, sample=Sample(n=3))


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("empty.jsonl", b"", "no problems"),
        ("empty.json", b"[]", "no problems"),
        ("empty.csv", b"question,target\n", "no problems"),
        ("object.json", b"{}", "expected a JSON list"),
        ("torn.jsonl", b'{"question": "a", "target": "b"}\n{"que', "line 2: not JSON"),
        ("list.jsonl", b"[1]\n", "expected an object"),
        ("not.parquet", b"PAR1 but not really", "not a readable Parquet file"),
        ("text.parquet", b"hello", "no problems|not a readable"),
        ("latin.csv", b"question,target\n\xe9,b\n", "not CSV text"),
        ("long.csv", b"question,target\na,b,c\n", "more cells than the header"),
        ("broken.jsonl.gz", b"\x1f\x8b\x08nothing", "gzip"),
        ("notes.txt", b"hello", "must end in .jsonl"),
    ],
)
def test_an_unreadable_file_is_one_sentence(name: str, content: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=complaint) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no such file"):
        load(tmp_path / "absent.jsonl")


def test_values_of_parquet_become_json_values(tmp_path: Path) -> None:
    path = tmp_path / "typed.parquet"
    duckdb.execute(
        "COPY (SELECT 'Why?' AS question, 0.5::DECIMAL(4,2) AS target, DATE '2024-05-13' AS day, 'NaN'::DOUBLE AS odd,"
        f" {{'a': [1, 2]}} AS nested, 'x'::BLOB AS raw) TO '{path}' (FORMAT parquet)"
    )
    problem = load(path).problems[0]
    assert problem.target == "0.5"
    assert problem.extra == {"day": "2024-05-13", "nested": {"a": [1, 2]}}
