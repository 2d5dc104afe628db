"""Specs as people write them, the system prompt, and what is described."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.strategies.lm.techniques.scripted_ask import ScriptedAsk, answer

from costpass.errors import BadInputError
from costpass.strategies.lm.techniques.registry import TECHNIQUES, build_technique

DOCS = Path(__file__).parents[4] / "docs" / "techniques.md"

SPECS: list[Any] = [
    "direct",
    "chain-of-thought",
    {"few-shot": {"examples": [{"question": "q", "answer": "a"}]}},
    {"majority-vote": {"k": 2}},
    {"self-refine": None},
    {"tale-ep": {}},
]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("chain_of_thought", "there is no 'chain_of_thought'; did you mean 'chain-of-thought'"),
        ({"majority-vot": {"k": 3}}, "did you mean 'majority-vote'"),
        ({"majority-vote": {"kk": 3}}, "technique majority-vote: unknown key 'kk'; did you mean 'k'"),
        ({"majority-vote": {"k": 0}}, "technique majority-vote: k: "),
        ({"majority-vote": {"k": True}}, "technique majority-vote: k: "),
        ({"majority-vote": 3}, "technique majority-vote: "),
        ({"majority-vote": {"of": "drect"}}, "did you mean 'direct'"),
        ({"majority-vote": {"of": None}}, "is not a technique"),
        ({"self-refine": {"rounds": 0}}, "technique self-refine: rounds: "),
        ({"tale-ep": {"fallback_tokens": 0}}, "technique tale-ep: fallback_tokens: "),
        ({"direct": {"k": 3}}, "technique direct: unknown key 'k'"),
        ({"direct": None, "few-shot": None}, "names direct, few-shot; write one name"),
        ({}, "names nothing; write one name"),
        (3, "3 is not a technique"),
        ({3: None}, "there is no 3"),
    ],
)
def test_what_is_wrong_is_named(spec: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        build_technique(spec)


def test_a_prompt_without_the_question_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"prompt: has no \{question\}"):
        build_technique("direct", prompt="Solve {input}")


@pytest.mark.parametrize("spec", SPECS)
def test_a_system_prompt_goes_with_each_call(spec: Any) -> None:
    ask = ScriptedAsk("1", "2")
    technique = build_technique(spec, system="Be brief.")
    answer(technique, ask)
    assert technique.calls == (len(ask.calls), len(ask.calls))
    assert {call.system for call in ask.calls} == {"Be brief."}
    assert technique.name == build_technique(spec).name


def test_a_call_that_brings_its_own_system_prompt_keeps_it(tmp_path: Path) -> None:
    source = (
        "async def f(problem, ask):\n    await ask('a', system='mine', top_p=1)\n    return (await ask('b')).text\n"
    )
    (tmp_path / "mine.py").write_text(source)
    ask = ScriptedAsk("1", "2")
    answer(build_technique({"python": "mine.py:f"}, system="Be brief.", folder=tmp_path), ask)
    assert [(call.system, call.settings) for call in ask.calls] == [("mine", {"top_p": 1}), ("Be brief.", {})]


@pytest.mark.parametrize("spec", SPECS)
def test_whatever_changes_what_is_sent_changes_the_description(spec: Any) -> None:
    variants: list[dict[str, Any]] = [{}, {"prompt": "Q: {question}"}, {"prompt": "{question}!"}, {"system": "s"}]
    described = [json.dumps(build_technique(spec, **variant).describe(), sort_keys=True) for variant in variants]
    assert len(set(described)) == len(variants)


def test_no_two_specs_are_described_alike() -> None:
    others: list[Any] = [{"majority-vote": {"k": 3}}, {"majority-vote": {"k": 2, "of": "direct"}}]
    others += [{"self-refine": {"rounds": 2}}, {"tale-ep": {"fallback_tokens": 9}}]
    described = [json.dumps(build_technique(spec).describe()) for spec in SPECS + others]
    assert len(set(described)) == len(described)


def test_the_yaml_of_the_docs_is_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("async def solve(problem, ask): ...\n")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)]
    specs = [block for block in blocks if "technique" in block]
    specs += [strategy for block in blocks for strategy in block.get("strategies", [])]
    named = set()
    for spec in specs:
        if "my_package" in str(spec):
            continue
        chosen = {key: spec[key] for key in ("prompt", "system") if key in spec}
        technique = build_technique(spec.get("technique"), folder=tmp_path, **chosen)
        named.add(technique.describe()["name"])
    assert named == set(TECHNIQUES)


def test_importing_loads_no_provider() -> None:
    code = "import sys, costpass.strategies.lm.techniques.registry; sys.exit('pydantic_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
