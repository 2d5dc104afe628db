"""Harbor's trial results with the ATIF trajectory beside each, and trajectories alone.

- A trial lives at `<job>/<trial>/result.json`, its trajectory at `<trial>/agent/trajectory.json`; copied out of their
  folders the two are named `<trial>_result.json` and `<trial>_trajectory_atif.json`.
- Other phases of a trial may have an `agent_result` too (a fork lets the agent write down what it learnt, after the
  verifier ran). That is no try at the problem, so it is not in the attempt's usage; a flag says that it was spent.
"""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from costpass.attempt import Attempt, strategy_name
from costpass.ledger.importers import atif
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.values import fault_category, milliseconds_between, moment, positive

_MARKS = (b'"ATIF-v', b'"trial_name"', b'"n_total_trials"')
_RESULT_ENDING = "_result.json"
_TRAJECTORY_ENDING = re.compile(r"[._]?trajectory(?:_atif)?\.json$")
#: The agent's own failures: with a verdict they are a lost attempt, not a broken one.
_AGENT_ERRORS = {"NonZeroAgentExitCodeError", "ContextLengthExceededError", "OutputLengthExceededError"}
_CANCELLED = {"CancelledError", "KeyboardInterrupt"}

Kind = Literal["trial", "job", "trajectory"]


class Harbor:
    name = "harbor"
    about = "Harbor trial results and ATIF trajectories"

    def recognises(self, source: Source) -> bool:
        return any(mark in source.head for mark in _MARKS) and _kind(source.document_or_none) is not None

    def rows(self, source: Source) -> Iterable[Row]:
        document, kind = source.document, _kind(source.document)
        where = f"{source.path.parent.name}/{source.name}"
        if kind == "trial":
            yield Row(where, {"kind": kind, "trial": document, "trajectory": _trajectory_of(source)})
        elif kind == "trajectory":
            held = _held_by_trial(source)
            yield Row(where, {"kind": kind, "trajectory": document, "problem": _trial_name(source), "held": held})
        else:
            yield Row(where, {"kind": kind})

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        if row.content["kind"] == "job":
            raise Skip("a Harbor job summary: its trials hold the attempts")
        if row.content.get("held"):
            raise Skip("an ATIF trajectory whose trial result holds the attempt")
        if row.content["kind"] == "trial":
            yield _trial_attempt(row.content["trial"], row.content["trajectory"], settings)
        elif row.content["kind"] == "trajectory":
            yield _trajectory_attempt(row.content["problem"], row.content["trajectory"], settings)
        else:
            raise ValueError("neither a Harbor result nor an ATIF trajectory")


def _kind(document: Any) -> Kind | None:
    if not isinstance(document, dict):
        return None
    if str(document.get("schema_version")).startswith("ATIF-v") and "steps" in document:
        return "trajectory"
    if document.keys() >= {"trial_name", "task_name", "agent_info"}:
        return "trial"
    return "job" if document.keys() >= {"n_total_trials", "stats"} else None


def _read(path: Path) -> Any:
    return Source(path).document_or_none if path.is_file() else None


def _trajectory_of(source: Source) -> Any:
    flat = source.name.removesuffix(_RESULT_ENDING)
    places = [source.sibling("agent", "trajectory.json"), source.sibling(f"{flat}_trajectory_atif.json")]
    return next((found for place in places if _kind(found := _read(place)) == "trajectory"), None)


def _held_by_trial(source: Source) -> bool:
    """Whether a trial's result is beside it or above it: subagents and learning phases have folders of their own."""
    flat = source.sibling(_TRAJECTORY_ENDING.sub("", source.name) + _RESULT_ENDING)
    above = [folder / "result.json" for folder in list(source.path.parents)[:3]]
    return any(_kind(_read(place)) == "trial" for place in [flat, *above])


def _trial_name(source: Source) -> str:
    if source.path.parent.name == "agent":
        return source.path.parent.parent.name
    return _TRAJECTORY_ENDING.sub("", source.name) or source.path.parent.name


def _trial_attempt(trial: Mapping[str, Any], trajectory: Mapping[str, Any] | None, settings: Settings) -> Attempt:
    config = trial.get("config") or {}
    agent = trial["agent_info"]
    model = (config.get("agent") or {}).get("model_name") or (agent.get("model_info") or {}).get("name")
    execution = trial.get("agent_execution") or {}
    started = moment(execution.get("started_at"))
    reported = ((trajectory or {}).get("agent") or {}).get("model_name")
    return Attempt(
        experiment=PurePosixPath(config.get("trials_dir") or "").name or config.get("job_id"),
        benchmark=trial.get("source"),
        problem=trial["task_name"],
        strategy=strategy_name(agent["name"], model),
        model=model,
        provider=(agent.get("model_info") or {}).get("provider") or _provider(model),
        runner=agent["name"],
        **_outcome(trial, settings),
        **_spent(trial, trajectory),
        flags=_flags(trial, trajectory, model, reported),
        started_at=started or moment(trial.get("started_at")),
        duration_ms=milliseconds_between(started, moment(execution.get("finished_at"))),
        runner_version=_known(agent.get("version")),
        model_reported=reported,
    )


def _trajectory_attempt(problem: str, trajectory: Mapping[str, Any], settings: Settings) -> Attempt:
    agent = trajectory["agent"]
    model = agent.get("model_name")
    times = [moment(step["timestamp"]) for step in trajectory["steps"] if step.get("timestamp")]
    passed = settings.outcomes.get(problem)
    return Attempt(
        problem=problem,
        strategy=strategy_name(agent["name"], model),
        model=model,
        provider=_provider(model),
        runner=agent["name"],
        passed=passed,
        failure="wrong_answer" if passed is False else None,
        **_spent({}, trajectory),
        flags=_flags({}, trajectory, model, model),
        started_at=times[0] if times else None,
        duration_ms=milliseconds_between(times[0], times[-1]) if times else None,
        runner_version=_known(agent.get("version")),
        model_reported=model,
    )


def _known(version: str | None) -> str | None:
    return None if version == "unknown" else version


def _provider(model: str | None) -> str | None:
    return model.split("/", 1)[0] if model and "/" in model else None


def _outcome(trial: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    scores = {name: float(value) for name, value in rewards.items() if math.isfinite(value)}
    score = scores.get("reward") if len(scores) != 1 else next(iter(scores.values()))
    passed = None if score is None else score >= (1.0 if settings.threshold is None else settings.threshold)
    fields: dict[str, Any] = {"score": score, "scores": scores, "passed": passed, "status": "completed"}
    error = trial.get("exception_info")
    if not error:
        return fields | {"failure": "wrong_answer" if passed is False else None}
    kind, fault = error["exception_type"], fault_category(f"{error['exception_type']}: {error['exception_message']}")
    if kind == "AgentTimeoutError":
        return fields | {"passed": bool(passed), "status": "timeout", "failure": None if passed else "wall_clock"}
    if kind in _CANCELLED:
        return fields | {"passed": None, "status": "interrupted", "failure": "interrupted"}
    if kind in _AGENT_ERRORS and passed is not None and fault is None:
        return fields | {"failure": None if passed else "agent_error"}
    return fields | {"passed": None, "status": "fault", "failure": fault or "harness_error"}


def _spent(trial: Mapping[str, Any], trajectory: Mapping[str, Any] | None) -> dict[str, Any]:
    if not trial.get("agent_result") and "agent_execution" in trial and trial["agent_execution"] is None:
        # The environment or the agent's installation failed: no model was called.
        return {"input_tokens": 0, "output_tokens": 0, **_imported(0)}
    result, totals = trial.get("agent_result") or {}, atif.totals(trajectory)
    # An agent that ran has sent something: Harbor writes 0 where it could not read the agent's session.
    sent = positive(result, "n_input_tokens") or positive(totals, "total_prompt_tokens")
    read = _first(result.get("n_cache_tokens"), totals.get("total_cached_tokens"))
    written = (totals.get("extra") or {}).get("total_cache_creation_input_tokens")
    for_an_hour = atif.written_for_an_hour(trajectory)
    tokens = {
        "input_tokens": _uncached(sent, read or 0, written or 0),
        "cache_read_tokens": read,
        "cache_write_tokens": None if written is None else written - for_an_hour,
        "cache_write_1h_tokens": for_an_hour or None,
        "output_tokens": _first(result.get("n_output_tokens"), totals.get("total_completion_tokens")),
    }
    # LiteLLM, which Harbor asks, answers 0 for a model that it does not know.
    cost = positive(result, "cost_usd") or positive(totals, "total_cost_usd")
    return (tokens if sent else {}) | _imported(cost) | atif.activity(trajectory, sent)


def _imported(cost: float | None) -> dict[str, Any]:
    return {} if cost is None else {"cost_usd": cost, "imported_usd": cost, "cost_source": "imported"}


def _uncached(sent: int | None, read: int, written: int) -> int | None:
    """What was sent without what came from the cache or went into it.

    Both are within Harbor's input and ATIF's prompt tokens: a session's first prompt, of which nothing can be cached
    yet, is logged as 24,913 tokens with 24,787 of them written, where another session's first prompt has 24,964.
    """
    if sent is None:
        return None
    return sent - read - written if read + written <= sent else max(sent - read, 0)


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _flags(
    trial: Mapping[str, Any], trajectory: Mapping[str, Any] | None, model: str | None, reported: str | None
) -> list[str]:
    models = {step.get("model_name") for step in atif.agent_steps(trajectory) if step.get("metrics")}
    phases = [part for name, part in trial.items() if name != "agent_result" and isinstance(part, Mapping)]
    short, served = (name.rsplit("/", 1)[-1].casefold() if name else None for name in (model, reported))
    raised = {
        "other_phase_spend": any(phase.get("agent_result") for phase in phases),
        "cache_writes_unknown": trajectory is None and bool((trial.get("agent_result") or {}).get("n_cache_tokens")),
        "subagents_uncounted": atif.has_uncounted_subagents(trajectory),
        # A gateway may serve another model under the name that was asked for; a dated name is no other model.
        "other_model_reported": bool(short and served and not served.startswith(short)),
        "several_models": len(models) > 1,
    }
    return [name for name, on in raised.items() if on]


IMPORTER = Harbor()
