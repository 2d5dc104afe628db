"""ATIF, Harbor's interchange format of trajectories: what the agent did and used in one."""

from collections.abc import Mapping
from typing import Any

#: How Claude Code calls the tool that starts a subagent, whose session Harbor does not read.
_SUBAGENT_TOOLS = {"Agent", "Task"}

Trajectory = Mapping[str, Any]


def agent_steps(trajectory: Trajectory | None) -> list[Mapping[str, Any]]:
    return [step for step in (trajectory or {}).get("steps", []) if step.get("source") == "agent"]


def _replies(trajectory: Trajectory | None) -> list[Mapping[str, Any]]:
    """One reply becomes several steps (thought, text, each tool call), the first of which carries its metrics."""
    return [step["metrics"] for step in agent_steps(trajectory) if step.get("metrics")]


def totals(trajectory: Trajectory | None) -> Mapping[str, Any]:
    """ATIF's final metrics, which a writer may leave out, or the sum of the steps'."""
    replies = _replies(trajectory)
    added_up = {
        "total_prompt_tokens": _sum(replies, "prompt_tokens"),
        "total_completion_tokens": _sum(replies, "completion_tokens"),
        "total_cached_tokens": _sum(replies, "cached_tokens"),
        "total_cost_usd": _sum(replies, "cost_usd"),
    }
    return (trajectory or {}).get("final_metrics") or added_up


def written_for_an_hour(trajectory: Trajectory | None) -> int:
    lifetimes = [(reply.get("extra") or {}).get("cache_creation") or {} for reply in _replies(trajectory)]
    return sum(lifetime.get("ephemeral_1h_input_tokens") or 0 for lifetime in lifetimes)


def activity(trajectory: Trajectory | None, sent: int | None) -> dict[str, Any]:
    if trajectory is None:
        return {}
    steps, replies = agent_steps(trajectory), _replies(trajectory)
    return {
        # The totals may have calls that no step shows, such as those that summarise the context.
        "requests": len(replies) if sent == _sum(replies, "prompt_tokens") else None,
        "turns": len(replies) or len(steps),
        "tool_calls": sum(len(step.get("tool_calls") or []) for step in steps),
        "usage_complete": False if has_uncounted_subagents(trajectory) else None,
    }


def has_uncounted_subagents(trajectory: Trajectory | None) -> bool:
    """Claude Code keeps a subagent's session in a file of its own, which Harbor's totals leave out."""
    steps = agent_steps(trajectory)
    called = {call.get("function_name") for step in steps for call in step.get("tool_calls") or []}
    shown = any((step.get("extra") or {}).get("is_sidechain") for step in steps)
    return bool(called & _SUBAGENT_TOOLS) and not shown


def _sum(replies: list[Mapping[str, Any]], name: str) -> Any:
    return sum(reply.get(name) or 0 for reply in replies)
