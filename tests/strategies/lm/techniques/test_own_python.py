"""python: one's own callable, as the docs show it and as people get it wrong."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.strategies.lm.techniques.scripted_ask import ScriptedAsk, answer

from costpass.errors import BadInputError
from costpass.strategies.lm.ask import Reply, ToolCall, ToolResult
from costpass.strategies.lm.techniques.registry import BuiltTechnique, build_technique

DOCS = Path(__file__).parents[4] / "docs" / "techniques.md"

Build = Callable[..., BuiltTechnique]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Builds `function` of a file with the given source."""

    def build(source: str, function: str, **options: object) -> BuiltTechnique:
        (tmp_path / "mine.py").write_text(source)
        spec = {"function": f"mine.py:{function}", **options} if options else f"mine.py:{function}"
        return build_technique({"python": spec}, folder=tmp_path)

    return build


def test_the_short_example_of_the_docs(build: Build) -> None:
    source = "\n".join(re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL))
    ask = ScriptedAsk("1. add", "42")
    technique = build(source, "solve")
    assert answer(technique, ask) == "42"
    assert technique.name == "python-solve"
    assert "1. add" in ask.calls[1].text
    assert ask.calls[1].settings == {"temperature": 0}


def test_the_tool_using_example_of_the_docs(build: Build) -> None:
    source = "\n".join(re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL))
    call = ToolCall(id="c1", name="add", arguments={"numbers": [40, 2]})
    ask = ScriptedAsk(Reply(text="", tool_calls=[call], messages=["so far"]), "It is 42.")
    assert answer(build(source, "with_calculator"), ask) == "It is 42."
    assert [tool.name for tool in ask.calls[0].tools] == ["add"]
    assert ask.calls[1].prompt == [ToolResult(call, "42")]
    assert ask.calls[1].history == ["so far"]


def test_a_module_beside_the_experiment_is_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "my_own_technique.py").write_text("async def f(problem, ask):\n    return problem.question\n")
    technique = build_technique({"python": "my_own_technique:f"}, folder=tmp_path)
    assert answer(technique, ScriptedAsk()) == "What is 40 + 2?"


def test_an_instance_with_an_async_call_will_do(build: Build) -> None:
    source = "class S:\n    async def __call__(self, problem, ask):\n        return 'x'\n\ns = S()\n"
    technique = build(source, "s")
    assert answer(technique, ScriptedAsk()) == "x"
    assert technique.describe()["source_sha256"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(problem, ask):\n    return '42'\n", "mine.py:f gave back str, not an awaitable"),
        ("async def f(problem, ask):\n    return 42\n", "mine.py:f gave back int for an answer"),
        ("async def f(problem, ask):\n    yield '42'\n", "mine.py:f gave back async_generator, not an awaitable"),
    ],
)
def test_a_wrong_return_type_is_named(build: Build, source: str, message: str) -> None:
    technique = build(source, "f")
    with pytest.raises(TypeError, match=message):
        answer(technique, ScriptedAsk())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("async def f(problem): ...\n", r"cannot be called as \(problem, ask\): too many positional arguments"),
        ("class f: ...\n", "is a class"),
    ],
)
def test_what_cannot_be_called_is_refused_before_anything_runs(build: Build, source: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        build(source, "f")


def test_the_digest_follows_the_source(build: Build) -> None:
    one, other = "async def f(problem, ask):\n    return '1'\n", "async def f(problem, ask):\n    return '2'\n"
    described = [build(source, "f").describe() for source in (one, other, one)]
    assert described[0] == described[2] != described[1]


def test_the_number_of_calls_can_be_said(build: Build) -> None:
    source = "async def f(problem, ask):\n    return '1'\n"
    assert build(source, "f").calls == (1, 8)
    assert build(source, "f", calls=[2, 5]).calls == (2, 5)
    with pytest.raises(BadInputError, match="other way round"):
        build(source, "f", calls=[5, 2])


def test_a_prompt_that_nothing_would_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("async def f(problem, ask):\n    return '1'\n")
    for spec in ({"python": "mine.py:f"}, {"majority-vote": {"of": {"python": "mine.py:f"}}}):
        with pytest.raises(BadInputError, match=r"prompt: has no effect on mine\.py:f"):
            build_technique(spec, prompt="{question}", folder=tmp_path)
