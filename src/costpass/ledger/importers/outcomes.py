"""Verdicts that stand in another file than the attempts: a SWE-bench report, or a table of problem and verdict."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from costpass.errors import BadInputError
from costpass.ledger.importers.source import Source

#: Names of the two columns, likeliest first.
_PROBLEM = ("problem", "instance_id", "task_id", "problem_id", "id")
_VERDICT = ("passed", "resolved", "correct", "success")
_TRUE = {"true", "t", "1", "1.0", "yes", "y", "passed", "pass", "resolved", "correct"}
_FALSE = {"false", "f", "0", "0.0", "no", "n", "failed", "fail", "unresolved", "incorrect"}

#: Groups of a SWE-bench report (newer ones end in `_ids`) that say of a problem that it was tried.
_TRIED = ("unresolved", "completed", "submitted", "generated", "with_logs", "applied")
#: Groups whose problems did not pass, for want of a patch that applies.
_UNANSWERED = ("incomplete", "empty_patch", "no_generation", "no_apply")
#: Groups that the harness broke on: nobody knows whether the patch was right.
_UNKNOWN = ("error", "install_fail", "reset_failed", "test_errored", "test_timeout", "no_logs")


def read_outcomes(path: Path) -> dict[str, bool]:
    """Problem → passed. A problem of which the file does not know is left out."""
    source = Source(path)
    if source.suffix in (".csv", ".tsv"):
        return _from_rows(_csv_rows(source), path)
    if source.suffix == ".jsonl":
        return _from_rows(_json_rows(source), path)
    document = source.document
    if isinstance(document, list):
        return _from_rows(document, path)
    if not isinstance(document, dict) or not document:
        raise BadInputError(_unreadable(path))
    if {"resolved", "resolved_ids"} & document.keys():
        return _from_report(document, path)
    return _from_mapping(document, path)


def _from_report(report: Mapping[str, Any], path: Path) -> dict[str, bool]:
    """A SWE-bench evaluation's report over all problems."""
    groups = {name.removesuffix("_ids"): ids for name, ids in report.items() if _are_names(ids)}
    if "resolved" not in groups:
        raise BadInputError(_unreadable(path))
    if not groups.keys() & set(_TRIED):
        # Reading the passes alone would make every attempt with a verdict a pass.
        raise BadInputError(f"{path}: says which problems were resolved and not which others were tried")
    resolved = set(groups["resolved"])
    unknown = _members(groups, _UNKNOWN)
    known = resolved | (_members(groups, (*_TRIED, *_UNANSWERED)) - unknown)
    return {problem: problem in resolved for problem in sorted(known)}


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _members(groups: Mapping[str, list[str]], names: Iterable[str]) -> set[str]:
    return {problem for name in names for problem in groups.get(name, ())}


def _from_mapping(document: Mapping[str, Any], path: Path) -> dict[str, bool]:
    """Problem → verdict, or problem → its own report with `resolved` in it."""
    verdicts: dict[str, Any] = {
        problem: value.get("resolved") if isinstance(value, dict) else value for problem, value in document.items()
    }
    if not all(isinstance(verdict, bool) for verdict in verdicts.values()):
        raise BadInputError(_unreadable(path))
    return verdicts


def _from_rows(rows: Iterable[Any], path: Path) -> dict[str, bool]:
    outcomes: dict[str, bool] = {}
    for number, row in enumerate(rows, start=1):
        problem, verdict = _cell(row, _PROBLEM), _cell(row, _VERDICT)
        if problem is None or verdict is None:
            raise BadInputError(_unreadable(path))
        if str(row[verdict] if row[verdict] is not None else "").strip() == "":
            continue
        name, passed = str(row[problem]), _boolean(row[verdict], f"{path}: row {number}: {verdict}")
        if outcomes.setdefault(name, passed) != passed:
            raise BadInputError(f"{path}: row {number}: {name!r} stands in it twice, once passed and once not")
    if not outcomes:
        raise BadInputError(f"{path}: no verdict in it")
    return outcomes


def _cell(row: Any, names: Iterable[str]) -> str | None:
    return next((name for name in names if isinstance(row, Mapping) and name in row), None)


def _boolean(value: Any, where: str) -> bool:
    text = str(value).strip().casefold()
    if text not in _TRUE | _FALSE:
        raise BadInputError(f"{where} is {value!r}, neither true nor false")
    return text in _TRUE


def _csv_rows(source: Source) -> Iterator[Mapping[str, Any]]:
    separator = "\t" if source.suffix == ".tsv" else ","
    try:
        lines = (line.decode("utf-8-sig") for _, line in source.lines())
        yield from csv.DictReader(lines, delimiter=separator)
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadInputError(f"{source.path}: not CSV text ({error})") from error


def _json_rows(source: Source) -> Iterator[Any]:
    for number, line in source.lines():
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInputError(f"{source.path}: line {number} is not JSON: {error}") from None


def _unreadable(path: Path) -> str:
    return (
        f"{path}: no verdicts that costpass can read; it takes a SWE-bench report (resolved_ids, unresolved_ids …), an "
        f"instance's report.json, or a CSV or JSON lines with a problem ({', '.join(_PROBLEM)}) and a verdict "
        f"({', '.join(_VERDICT)})"
    )
