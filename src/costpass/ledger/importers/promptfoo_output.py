"""promptfoo's output as a list of results, each with the names of its problem and its prompt.

`--repeat` gives every repeat a `testIdx` of its own, and `promptIdx` counts pairs of prompt and provider. So problems
and prompts are told apart by their content.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from costpass.errors import BadInputError
from costpass.ledger.importers.naming import distinct_names
from costpass.ledger.importers.protocol import Row
from costpass.ledger.importers.source import Source

_LINE_KEYS = {"promptIdx", "testIdx", "success"}


@dataclass(frozen=True)
class Evaluation:
    """What stands once for all results."""

    id: str | None = None
    description: str | None = None
    #: As the log writes it.
    timestamp: Any = None
    #: The one provider of an evaluation whose results name none, as in versions 1 and 2.
    provider: str | None = None


@dataclass(frozen=True)
class Result:
    """A result with what only the whole evaluation tells."""

    item: Mapping[str, Any]
    problem: str
    #: None where the evaluation has one prompt only.
    prompt: str | None
    #: Tells apart two providers of one name, such as one model at two temperatures; None where there is no need to.
    column: str | None
    evaluation: Evaluation


def is_output(source: Source) -> bool:
    """Whether this is promptfoo's output: a document of versions 1 to 3, or JSON lines."""
    return _is_lines(source) or (b'"results"' in source.head and _is_document(source.document_or_none))


def results(source: Source) -> Iterator[Row]:
    """Each result as a row."""
    evaluation, rows = _read(source)
    readable = [row.content for row in rows if row.error is None and isinstance(row.content, Mapping)]
    problems = distinct_names(map(_problem, readable))
    prompts = distinct_names(map(_prompt, readable))
    columns: defaultdict[str, set[str]] = defaultdict(set)
    for item in readable:
        columns[_strategy(item)].add(_column(item))
    for row in rows:
        if row.error is not None or not isinstance(row.content, Mapping):
            yield Row(row.where, row.content, row.error or "not a result: not a JSON object")
            continue
        item = row.content
        prompt = prompts[_prompt(item)[0]] if len(prompts) > 1 else None
        column = _column(item) if len(columns[_strategy(item)]) > 1 else None
        result = Result(item, problems[_problem(item)[0]], prompt, column, evaluation)
        yield Row(row.where, result, as_logged=item)


def _is_lines(source: Source) -> bool:
    return source.first.keys() >= _LINE_KEYS


def _is_document(document: Any) -> bool:
    found = document.get("results") if isinstance(document, dict) else None
    if isinstance(found, dict):
        return isinstance(found.get("results"), list)
    if not isinstance(found, list):
        return False
    begins_well = all(isinstance(item, dict) and "success" in item for item in found[:1])
    return begins_well and bool({"stats", "prompts", "evalId"} & document.keys())


def _read(source: Source) -> tuple[Evaluation, list[Row]]:
    if _is_lines(source):
        return Evaluation(), list(source.json_rows())
    document = source.document
    if not _is_document(document):
        raise BadInputError(f"{source.path}: not promptfoo's output: it has no list of results")
    outer = document["results"]
    nested = outer if isinstance(outer, dict) else {"results": outer}
    config = _object(document.get("config"))
    providers = config.get("providers")
    only = providers[0] if isinstance(providers, list) and len(providers) == 1 else providers
    evaluation = Evaluation(
        id=document.get("evalId") or document.get("id"),
        description=config.get("description") or None,
        timestamp=nested.get("timestamp") or document.get("createdAt"),
        provider=only if isinstance(only, str) else None,
    )
    return evaluation, [Row(f"{source.name}:{number}", item) for number, item in enumerate(nested["results"], start=1)]


def _problem(item: Mapping[str, Any]) -> tuple[str, str]:
    """A test's identity and a text for people."""
    test = _object(item.get("testCase")) or item
    variables = _object(test.get("vars")) or _object(item.get("vars"))
    description = test.get("description") or item.get("description")
    identity = json.dumps([description, variables, test.get("assert")], sort_keys=True)
    if len(variables) == 1:
        listed = str(next(iter(variables.values())))
    else:
        listed = ", ".join(f"{name}: {value}" for name, value in variables.items())
    return identity, str(description or listed.strip() or f"test {item.get('testIdx', 0)}")


def _prompt(item: Mapping[str, Any]) -> tuple[str, str]:
    """A prompt's identity and a text for people: not its rendered text, which differs from test to test."""
    prompt = _object(item.get("prompt"))
    text = str(prompt.get("label") or prompt.get("display") or prompt.get("raw") or "prompt")
    return str(item.get("promptId") or text), text


def _strategy(item: Mapping[str, Any]) -> str:
    return json.dumps([item.get("provider"), _prompt(item)[0]], sort_keys=True)


def _column(item: Mapping[str, Any]) -> str:
    return f"column {item.get('promptIdx')}"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
