"""The experiment file says what is to be run, and says so only if it is spelt right."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.conftest import Run

from costpass.errors import BadInputError
from costpass.runs.experiment import Experiment, experiment_schema, load_experiment

#: The first example of the design, word for word.
ADDITION = """\
experiment: addition-ladder
benchmarks:
  - name: two-digit-addition
    sample: {n: 64, seed: 0}
    expert: {hourly_usd: 20, minutes: 0.05}
strategies:
  - {id: small-direct, model: local:smollm2-135m, technique: direct, settings: {temperature: 0.7}}
  - {id: small-vote3, model: local:smollm2-135m, technique: {majority-vote: {k: 3}}}
  - {id: sonnet, model: anthropic:claude-sonnet-4-5, technique: chain-of-thought, family: large, released: 2025-09-29}
repetitions: 8
budgets: {attempt_usd: auto, total_usd: 5.00, wall_clock_s: 600}
"""


def written(tmp_path: Path, text: str) -> Experiment:
    (tmp_path / "mine.yaml").write_text(text, "utf-8")
    return load_experiment(tmp_path / "mine.yaml")[0]


def complaint(tmp_path: Path, old: str, new: str) -> str:
    assert old in ADDITION
    with pytest.raises(BadInputError) as raised:
        written(tmp_path, ADDITION.replace(old, new, 1))
    return str(raised.value)


def strategies(written: Any) -> list[dict[str, Any]]:
    document = {"experiment": "e", "benchmarks": ["gsm8k"], "strategies": written}
    return [one.model_dump(exclude_none=True) for one in Experiment.model_validate(document).strategies]


def test_the_example_is_read_as_written(tmp_path: Path) -> None:
    experiment = written(tmp_path, ADDITION)
    assert [strategy.id for strategy in experiment.strategies] == ["small-direct", "small-vote3", "sonnet"]
    assert experiment.strategies[1].technique == {"majority-vote": {"k": 3}}
    assert str(experiment.strategies[2].released) == "2025-09-29"
    assert experiment.budgets.total_usd == Decimal("5.00")
    assert experiment.benchmarks[0].sample is not None
    assert experiment.benchmarks[0].sample.n == 64


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(ADDITION)
    assert load_experiment(tmp_path / "mine.yaml")[1] == tmp_path


@pytest.mark.parametrize(
    ("old", "new", "nearest"),
    [
        ("repetitions:", "repetition:", "repetitions"),
        ("total_usd:", "totl_usd:", "total_usd"),
        ("sample:", "smaple:", "sample"),
        ("{n: 64, seed: 0}", "{n: 64, sed: 0}", "seed"),
        ("minutes: 0.05", "minuts: 0.05", "minutes"),
        ("family: large", "famly: large", "family"),
        ("technique: direct", "tehnique: direct", "technique"),
    ],
)
def test_a_key_that_is_not_known_is_refused_with_the_nearest(tmp_path: Path, old: str, new: str, nearest: str) -> None:
    said = complaint(tmp_path, old, new)
    assert "mine.yaml" in said
    assert f"did you mean {nearest!r}?" in said


def test_a_key_written_out_is_refused_and_is_not_repeated(tmp_path: Path) -> None:
    said = complaint(tmp_path, "technique: direct", "technique: direct, api_key: sk-very-secret-1")
    assert "${OPENAI_API_KEY}" in said
    assert "sk-very-secret-1" not in said


def test_two_strategies_cannot_share_an_id(tmp_path: Path) -> None:
    assert "'small-direct' stands twice" in complaint(tmp_path, "id: small-vote3", "id: small-direct")


def test_a_repeated_yaml_key_is_refused_with_both_lines(tmp_path: Path) -> None:
    assert "repetitions" in complaint(tmp_path, "repetitions: 8", "repetitions: 8\nrepetitions: 4")


@pytest.mark.parametrize("repetitions", ["0", "-1", "many"])
def test_repetitions_are_a_count(tmp_path: Path, repetitions: str) -> None:
    assert "repetitions" in complaint(tmp_path, "repetitions: 8", f"repetitions: {repetitions}")


def test_a_name_that_is_no_file_names_the_bundled_one_it_looks_like() -> None:
    with pytest.raises(BadInputError, match="did you mean 'cost-of-pass'"):
        load_experiment("cost-of-pas")


def test_a_matrix_makes_a_strategy_of_every_combination() -> None:
    found = strategies(
        {
            "matrix": {"model": ["a:x", "b:y"], "technique": ["direct", {"majority-vote": {"k": 3}}]},
            "settings": {"max_tokens": 64},
        }
    )
    assert [(one["model"], one["technique"]) for one in found] == [
        ("a:x", "direct"),
        ("a:x", {"majority-vote": {"k": 3}}),
        ("b:y", "direct"),
        ("b:y", {"majority-vote": {"k": 3}}),
    ]
    assert [one["id"] for one in found] == [
        "a:x+direct",
        "a:x+majority-vote-3",
        "b:y+direct",
        "b:y+majority-vote-3",
    ]
    assert all(one["settings"] == {"max_tokens": 64} for one in found)


def test_a_matrix_can_sweep_a_setting_and_keeps_the_others() -> None:
    found = strategies([{"matrix": {"settings.temperature": [0, 0.7]}, "model": "a:x", "settings": {"top_p": 1}}])
    assert [one["settings"] for one in found] == [{"top_p": 1, "temperature": 0}, {"top_p": 1, "temperature": 0.7}]
    assert [one["id"] for one in found] == ["a:x+temperature=0", "a:x+temperature=0.7"]


def test_a_matrix_can_sweep_prompts() -> None:
    prompts = ["{question}", "Think. {question}"]
    found = strategies([{"matrix": {"prompt": prompts}, "model": "a:x"}])
    assert [one["prompt"] for one in found] == prompts
    assert len({one["id"] for one in found}) == 2


def test_matrices_and_single_strategies_stand_side_by_side() -> None:
    found = strategies([{"id": "one", "model": "a:x"}, {"matrix": {"model": ["b:x", "b:y"]}}])
    assert [one["id"] for one in found] == ["one", "b:x", "b:y"]


def test_a_misspelt_key_of_a_matrix_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="modle"):
        strategies([{"matrix": {"modle": ["a:x"]}, "model": "a:x"}])


def test_the_schema_takes_the_example_and_no_unknown_key(costpass: Run) -> None:
    printed = yaml.safe_load(costpass("schema", "experiment").stdout)
    assert printed["$id"] == "costpass.experiment/1"
    example = yaml.load(ADDITION, Loader=yaml.BaseLoader)
    numbers = yaml.safe_load(ADDITION)
    numbers["strategies"] = [{**one} for one in example["strategies"]]
    jsonschema.Draft202012Validator.check_schema(printed)
    jsonschema.validate(numbers, printed)
    for misspelt in (
        {**numbers, "repetition": 3},
        {**numbers, "budgets": {"totl_usd": 5}},
        {**numbers, "strategies": [{"model": "a:x", "tehnique": "direct"}]},
        {**numbers, "benchmarks": [{"name": "gsm8k", "smaple": {"n": 3}}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(misspelt, printed)


def test_the_schema_takes_a_matrix_alone_and_in_a_list() -> None:
    base = {"experiment": "e", "benchmarks": ["gsm8k"]}
    matrix = {"matrix": {"model": ["a:x"], "settings.temperature": [0, 1]}, "technique": "direct"}
    for written in (matrix, [matrix], [matrix, {"model": "b:x"}]):
        jsonschema.validate({**base, "strategies": written}, experiment_schema())
