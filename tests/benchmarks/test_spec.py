from decimal import Decimal
from pathlib import Path

import jsonschema
import pytest
from pydantic import BaseModel, ValidationError

from costpass import strict_yaml
from costpass.benchmarks.spec import BenchmarkSpec, Sample


class Experiment(BaseModel):
    benchmarks: list[BenchmarkSpec]


def test_a_name_alone_is_a_benchmark() -> None:
    assert BenchmarkSpec.model_validate("gsm8k") == BenchmarkSpec(name="gsm8k")


def test_everything_that_yaml_can_say_is_read(tmp_path: Path) -> None:
    written = """
        benchmarks:
          - capitals
          - name: data/mine.csv
            id: mine
            columns: {question: Prompt}
            grader: {numeric: {tolerance: 0.5, places: 2}}
            reading: number
            sample: {n: 64, seed: 7}
            expert: {hourly_usd: [45, 100], minutes: 12}
    """
    path = tmp_path / "experiment.yaml"
    path.write_text(written, encoding="utf-8")
    _, mine = Experiment.model_validate(strict_yaml.load(path)).benchmarks
    assert mine.sample == Sample(n=64, seed=7)
    assert mine.expert is not None
    assert mine.expert.range_usd == (9, 20)
    assert mine.grader == {"numeric": {"tolerance": 0.5, "places": 2}}


def test_settings_of_a_grader_become_json_values() -> None:
    spec = BenchmarkSpec(name="x", grader={"numeric": {"tolerance": Decimal("0.1"), "any": (Decimal(3),)}})
    assert isinstance(spec.grader, dict)
    settings = spec.grader["numeric"]
    assert settings == {"tolerance": 0.1, "any": [3]}
    assert [type(settings["tolerance"]), type(settings["any"][0])] == [float, int]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({"name": "gsm8k", "smaple": {"n": 3}}, "unknown key 'smaple'; did you mean 'sample'?"),
        ({"name": "gsm8k", "sample": {"n": 0}}, "greater than 0"),
        ({"name": "gsm8k", "sample": {"n": True}}, "valid integer"),
        ({"name": "gsm8k", "sample": {"size": 3}}, "unknown key 'sample.size'"),
        ({"name": ""}, "at least 1 character"),
        ({"name": "x", "id": "a\nb"}, "id"),
        ({"name": "x", "reading": "numbers"}, "reading"),
        ({"name": "x", "columns": {"qestion": "q"}}, "no field 'qestion'; did you mean 'question'?"),
        ({"name": "x", "expert": {"usd": 1, "minutes": 2}}, "say either usd, or hourly_usd and minutes"),
        ({"name": "x", "include": ["a*"]}, "unknown key 'include'"),
    ],
)
def test_what_is_wrong_is_named(written: object, complaint: str) -> None:
    with pytest.raises(ValidationError) as caught:
        BenchmarkSpec.model_validate(written)
    assert complaint in strict_yaml.complaint(caught.value, BenchmarkSpec)


def test_the_published_schema_allows_a_name_alone_and_names_the_fields_of_columns() -> None:
    schema = Experiment.model_json_schema()
    jsonschema.validate({"benchmarks": ["gsm8k", {"name": "x.csv", "columns": {"question": "q"}}]}, schema)
    for wrong in ({"name": "x.csv", "columns": {"qestion": "q"}}, {"name": "x", "typo": 1}, 3):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"benchmarks": [wrong]}, schema)


def test_every_field_is_described() -> None:
    for model in (BenchmarkSpec, Sample):
        assert all(field.description for field in model.model_fields.values())
