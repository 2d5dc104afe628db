"""What an experiment writes for a benchmark."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from costpass.benchmarks.expert import ExpertPrice
from costpass.benchmarks.plain import plain
from costpass.benchmarks.problem import Reading
from costpass.errors import did_you_mean

#: What a column of a user's own file can stand for; every other column is kept beside the problem.
FIELDS = ("question", "target", "id", "choices", "group", "capability", "grader")

_NAME = r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$"
_LONGEST_NAME = 200


class Sample(BaseModel):
    """Some of a benchmark's problems, by chance; a larger sample with the same seed holds every smaller one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    n: int = Field(gt=0, strict=True, description="How many problems.")
    seed: int = Field(default=0, strict=True, description="Which ones: the same seed takes the same problems.")


class BenchmarkSpec(BaseModel):
    """A benchmark as an experiment names it. `gsm8k` alone is the same as `{name: gsm8k}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(
        min_length=1,
        description="A bundled benchmark, the path of a file (.jsonl, .json, .csv, .tsv, .parquet), "
        "or hf:owner/dataset/config/split.",
    )
    id: str | None = Field(
        default=None,
        max_length=_LONGEST_NAME,
        pattern=_NAME,
        description="The name that records carry. By default the bundled name, the file's stem or the dataset.",
    )
    file: Path | None = Field(
        default=None,
        description="A local file with the columns of the bundled benchmark, used in place of a download.",
    )
    columns: Mapping[str, str] = Field(
        default_factory=dict,
        description=f"For a file or dataset of your own: which of its columns holds each of {', '.join(FIELDS)}.",
        json_schema_extra={"propertyNames": {"enum": list(FIELDS)}},
    )
    grader: str | Mapping[str, Any] | None = Field(
        default=None,
        description="How answers are graded: a grader's name, or its name with settings. "
        "By default the bundled benchmark's own, or what fits the way answers are read.",
    )
    reading: Reading | None = Field(
        default=None,
        description="How an answer is read out of a reply: the last number, the letter of a choice, "
        "a mathematical expression, or the text.",
    )
    sample: Sample | None = Field(default=None, description="Only some of the problems; all of them by default.")
    expert: ExpertPrice | None = Field(
        default=None, description="What an expert asks for one solution. By default the bundled benchmark's own price."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_its_name(cls, written: Any) -> Any:
        return {"name": written} if isinstance(written, str) else written

    @field_validator("columns")
    @classmethod
    def _of_known_fields(cls, columns: Mapping[str, str]) -> Mapping[str, str]:
        for field in columns:
            if field not in FIELDS:
                hint = did_you_mean(field, FIELDS) or f"; there are {', '.join(FIELDS)}"
                raise ValueError(f"problems have no field {field!r}{hint}")
        return columns

    @field_validator("grader")
    @classmethod
    def _as_json_has_it(cls, grader: str | Mapping[str, Any] | None) -> Any:
        return plain(grader)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The published schema allows what the validator does: the name alone."""
        return {"anyOf": [{"type": "string", "description": "The benchmark's name."}, handler(core_schema)]}
