"""The experiments that come with costpass: they parse, meet the schema, and say what they cost without a key."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pytest import MonkeyPatch

from costpass.analysis.context import load_context
from costpass.benchmarks import hub
from costpass.reports.estimate import text
from costpass.runs.assuming import Loading
from costpass.runs.estimate import estimate
from costpass.runs.experiment import BUNDLED, experiment_schema, load_experiment
from costpass.runs.preparing import Overrides, prepare

#: Table 4 of the paper: dollars per million tokens, in and out.
TABLE_4 = {
    "Llama-3.1-8B": (0.18, 0.18),
    "GPT-4o mini": (0.15, 0.60),
    "Llama-3.3-70B": (0.88, 0.88),
    "Llama-3.1-405B": (3.50, 3.50),
    "Claude Sonnet-3.5": (3.00, 15.00),
    "GPT-4o": (2.50, 10.00),
    "o1-mini": (1.10, 4.40),
    "o1": (15.00, 60.00),
    "DeepSeek-R1": (7.00, 7.00),
    "o3-mini": (1.10, 4.40),
}


@pytest.fixture(autouse=True)
def alone(monkeypatch: MonkeyPatch) -> Iterator[None]:
    """No key, and no hub: as a machine without the `hf` extra is, which is also the quickest to find out."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TOGETHER_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def no_module(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(hub, "import_module", no_module)
    yield


def content(name: str) -> Any:
    return yaml.safe_load(files("costpass.presets").joinpath("experiments", f"{name}.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", BUNDLED)
def test_it_meets_the_schema_and_is_named_as_its_file(name: str) -> None:
    document = content(name)
    for strategy in document["strategies"]:
        strategy.update({"released": str(strategy["released"])} if "released" in strategy else {})
    jsonschema.validate(document, experiment_schema())
    assert load_experiment(name)[0].experiment == name


@pytest.mark.parametrize("name", BUNDLED)
def test_a_dry_run_needs_no_key_and_no_network(name: str) -> None:
    found = estimate(*load_experiment(name), Overrides())
    page = text(found)
    assert found.attempts > 0
    assert found.usd > 0
    assert found.worst_usd is not None
    assert found.usd < found.worst_usd
    assert max(map(len, page.splitlines())) <= 80
    assert re.search(r"^total ", page, re.MULTILINE)


def test_the_protocol_is_the_papers() -> None:
    experiment, _ = load_experiment("cost-of-pass")
    assert experiment.repetitions == 8
    assert {spec.name: spec.sample.n if spec.sample else None for spec in experiment.benchmarks} == {
        "two-digit-addition": 128,
        "gsm8k": 128,
        "bbq": 128,
        "gpqa-diamond": 128,
        "math-500": 128,
        "aime-2024": None,
    }
    for strategy in experiment.strategies:
        assert strategy.technique == "chain-of-thought"
        if strategy.id in ("o1", "o1-mini", "o3-mini"):
            assert strategy.settings["temperature"] == 1
            assert "top_p" not in strategy.settings
        else:
            assert strategy.settings["temperature"] == 0.7
            assert strategy.settings["top_p"] == 1


def test_the_protocol_is_priced_as_in_the_paper() -> None:

    plan = prepare(*load_experiment("cost-of-pass"), Overrides(), load=Loading())
    priced = {
        strategy.id: tuple(float(strategy.quote.rates.tokens[name].base * 10**6) for name in ("input", "output"))
        for strategy in plan.strategies
    }
    assert priced == TABLE_4


def test_no_cap_cuts_a_reply_before_the_models_own_limit_does() -> None:

    plan = prepare(*load_experiment("cost-of-pass"), Overrides(), load=Loading())
    for strategy in plan.strategies:
        limit = strategy.settings.get("max_tokens", 70_000)
        assert strategy.cap_usd is not None
        assert limit * strategy.quote.rates.tokens["output"].base < strategy.cap_usd


def test_names_prices_families_and_dates_agree_with_the_papers_preset() -> None:
    experiment, _ = load_experiment("cost-of-pass")
    paper = load_context("paper")
    for spec in experiment.benchmarks:
        assert spec.expert is not None
        assert paper.expert_usd(spec.name) == spec.expert.range_usd[1]
    for strategy in experiment.strategies:
        assert paper.family((strategy.id,), None) == strategy.family
        assert paper.release((strategy.id,)) == strategy.released


def test_the_estimate_of_the_protocol_is_near_what_the_paper_spent() -> None:
    """Table 6 times the attempts comes to about $850."""
    found = estimate(*load_experiment("cost-of-pass"), Overrides())
    assert found.attempts == 10 * 8 * (5 * 128 + 30)
    assert 500 < found.usd < 1200
    assert found.worst_usd == 1200
    assert list(found.not_set) == ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "TOGETHER_API_KEY"]


@pytest.mark.parametrize(("name", "most"), [("demo", 300), ("demo-quick", 80)])
def test_a_demo_asks_a_few_minutes_of_work_of_a_small_machine(name: str, most: int) -> None:
    assert estimate(*load_experiment(name), Overrides()).calls <= most
    assert all("max_tokens" in strategy.settings for strategy in load_experiment(name)[0].strategies)


def test_they_are_part_of_the_package() -> None:
    folder = Path(str(files("costpass.presets").joinpath("experiments")))
    assert {path.stem for path in folder.glob("*.yaml")} == set(BUNDLED)
