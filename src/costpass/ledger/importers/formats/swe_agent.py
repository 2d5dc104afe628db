"""SWE-agent's trajectories: one `.traj` per attempt.

- `instance_cost` is the attempt's; `total_cost` may be that of the whole batch so far.
- A replay, a person at the keyboard and a model without a price all cost 0 here: not known.
- Tokens are counted by SWE-agent itself: cached input is not told apart, tool calls and reasoning are left out.
- The verdict is not in the file; it comes from `--outcomes`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from costpass.attempt import Attempt, Status, strategy_name
from costpass.ledger.importers.protocol import Row, Settings, Skip
from costpass.ledger.importers.source import Source
from costpass.ledger.importers.trajectory import above_zero, document_row, graded, repository
from costpass.ledger.importers.usage import provider_and_model
from costpass.ledger.importers.values import fault_category, positive

_ENDING = ".traj"
#: What SWE-agent calls a model that is none.
_NO_MODELS = {"replay", "human", "human_thought", "instant_empty_submit"}
#: A folder of runs names its settings: gpt4__SWE-bench__default__t-0.00__p-0.95__c-3.00
_RUN_FOLDER = re.compile(r"__t-\d")

_ENDINGS: dict[str, tuple[Status, str | None]] = {
    "submitted": ("completed", None),
    "exit_command": ("completed", None),
    "exit_forfeit": ("completed", "gave_up"),
    "exit_format": ("completed", "agent_error"),
    "exit_context": ("completed", "context_window"),
    "exit_command_timeout": ("completed", "command_timeout"),
    "exit_cost": ("cost_killed", "budget"),
    "exit_total_execution_time": ("timeout", "wall_clock"),
    "exit_api": ("fault", "provider_error"),
    "exit_environment_error": ("fault", "harness_error"),
}


@dataclass(frozen=True)
class _Trajectory:
    """A trajectory with the folder of its batch."""

    folder: str | None
    document: Any


class SweAgent:
    name = "swe-agent"
    about = "SWE-agent trajectories (.traj)"

    def recognises(self, source: Source) -> bool:
        return source.suffix == _ENDING and any(
            key in source.head for key in (b'"history"', b'"trajectory"', b'"info"')
        )

    def rows(self, source: Source) -> Iterable[Row]:
        row = document_row(source)
        folders = (parent.name for parent in source.path.parents if _RUN_FOLDER.search(parent.name))
        yield Row(row.where, _Trajectory(next(folders, None), row.content), row.error, as_logged=row.content)

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:
        document = _checked(row.content.document)
        info, stats = document["info"], document["info"]["model_stats"]
        config = _config(document)
        problem = (config.get("problem_statement") or {}).get("id") or row.where.removesuffix(_ENDING)
        model_config = _model_config(config)
        name = model_config.get("name")
        provider, model = provider_and_model(name) if name and name not in _NO_MODELS else (None, None)
        passed, status, failure = graded(problem, *_ending(document), settings)
        cost = positive(stats, "instance_cost")
        yield Attempt(
            problem=problem,
            group=repository(problem),
            # Without a model's name the folder keeps two batches from passing for repetitions of one strategy.
            strategy=strategy_name(self.name, model or name or row.content.folder),
            model=model,
            provider=provider,
            runner=self.name,
            passed=passed,
            status=status,
            failure=failure,
            flags=["replay"] if name == "replay" else [],
            input_tokens=positive(stats, "tokens_sent"),
            output_tokens=positive(stats, "tokens_received"),
            requests=stats["api_calls"],
            turns=len(document["trajectory"]) if document.get("trajectory") else None,
            usage_complete=False,
            cost_usd=cost,
            cost_source=None if cost is None else "imported",
            imported_usd=cost,
            budget_usd=above_zero(model_config.get("per_instance_cost_limit")),
            cost_killed_at_usd=cost if status == "cost_killed" else None,
            runner_version=info.get("swe_agent_version"),
        )


def _checked(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        raise ValueError("not a SWE-agent trajectory: not a JSON object")
    if not isinstance(document.get("info"), dict) or "model_stats" not in document["info"]:
        raise Skip("a SWE-agent history without costs or usage")
    return document


def _ending(document: Mapping[str, Any]) -> tuple[Status, str | None]:
    """How the run ended. After most errors SWE-agent still submits what there is: "submitted (exit_cost)"."""
    exit_status: str | None = document["info"].get("exit_status")
    if not exit_status:
        # The file is saved after every step, so one without an ending was stopped from outside.
        return "interrupted", "interrupted"
    within = re.search(r"\((\w+)\)", exit_status)
    cause = within[1] if within else exit_status
    if cause in _ENDINGS:
        return _ENDINGS[cause]
    category = fault_category(_last_words(document))
    return ("fault", category) if category else ("completed", "agent_error")


def _last_words(document: Mapping[str, Any]) -> str:
    """What the last step says: after an error that is the error's message."""
    steps = document.get("trajectory") or [{}]
    return str(steps[-1].get("response") or steps[-1].get("thought") or "")


def _config(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The run's configuration, which newer versions store as JSON within the JSON."""
    config = document.get("replay_config") or {}
    parsed: Mapping[str, Any] = json.loads(config) if isinstance(config, str) else config
    return parsed


def _model_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    agent = config.get("agent") or {}
    if "agent_configs" in agent:
        # An agent that tries several configurations and keeps the best; its statistics are those of all of them.
        agent = agent["agent_configs"][0]
    found: Mapping[str, Any] = agent.get("model") or {}
    return found


IMPORTER = SweAgent()
