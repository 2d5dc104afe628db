"""Usage and model names as the providers and LiteLLM write them, read as the record's."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_LITELLM_PREFIX = re.compile(r"^([a-z][a-z0-9_]*)/(.+)$")


def provider_and_model(name: str) -> tuple[str | None, str]:
    """LiteLLM's `provider/model` as its two parts.

    >>> provider_and_model("openrouter/anthropic/claude-sonnet-4")
    ('openrouter', 'anthropic/claude-sonnet-4')
    >>> provider_and_model("meta-llama/Llama-3.3-70B-Instruct")
    (None, 'meta-llama/Llama-3.3-70B-Instruct')
    """
    match = _LITELLM_PREFIX.match(name)
    return (match[1], match[2]) if match else (None, name)


def total_token_classes(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The token classes of many replies, added up."""
    total: Counter[str] = Counter()
    for usage in usages:
        total.update(token_classes(usage))
    return dict(total)


def token_classes(usage: Mapping[str, Any]) -> dict[str, Any]:
    """One reply's usage in disjoint classes; a class that the reply does not speak of is left out.

    >>> token_classes({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 90}})
    {'input_tokens': 10, 'cache_read_tokens': 90, 'output_tokens': 5}
    """
    details = _part(usage, "prompt_tokens_details", "input_tokens_details")
    read = _largest(
        details.get("cached_tokens"), usage.get("cache_read_input_tokens"), usage.get("prompt_cache_hit_tokens")
    )
    written = _largest(
        details.get("cache_creation_tokens"),
        details.get("cache_write_tokens"),
        usage.get("cache_creation_input_tokens"),
    )
    ttls = _part(usage, "cache_creation") or _part(details, "cache_creation_token_details")
    written_1h = ttls.get("ephemeral_1h_input_tokens") or 0
    classes = {
        "input_tokens": _uncached(usage, (read or 0) + (written or 0)),
        "cache_read_tokens": read,
        "cache_write_tokens": None if written is None else written - written_1h,
        "cache_write_1h_tokens": written_1h or None,
        **_output(usage),
    }
    return {name: count for name, count in classes.items() if count is not None}


def _uncached(usage: Mapping[str, Any], cached: int) -> int | None:
    """Anthropic's own `input_tokens` leave the cached ones out; LiteLLM's and OpenAI's counts include them."""
    sent: int | None = _input(usage)
    apart = "prompt_tokens" not in usage and "input_tokens_details" not in usage
    if sent is None or apart or cached > sent:
        return sent
    return sent - cached


def _output(usage: Mapping[str, Any]) -> dict[str, int | None]:
    """xAI counts reasoning beside the completion, OpenAI within it: the total tells which."""
    received = _largest(usage.get("completion_tokens"), usage.get("output_tokens"))
    reasoning = _part(usage, "completion_tokens_details", "output_tokens_details").get("reasoning_tokens")
    if received is not None and reasoning:
        beside = usage.get("total_tokens") == (_input(usage) or 0) + received + reasoning
        received += reasoning if beside or reasoning > received else 0
    return {"output_tokens": received, "reasoning_tokens": None if received is None else reasoning}


def _input(usage: Mapping[str, Any]) -> int | None:
    return _largest(usage.get("prompt_tokens"), usage.get("input_tokens"))


def _part(of: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    found = (of.get(name) for name in names)
    return next((part for part in found if isinstance(part, Mapping)), {})


def _largest(*counts: int | None) -> int | None:
    return max((count for count in counts if count is not None), default=None)
