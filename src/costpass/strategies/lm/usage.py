"""From what a provider reports to the record's token classes, which are disjoint."""

from typing import TYPE_CHECKING, Any

from costpass.attempt import Usage

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage

INPUT_CLASSES = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens")

#: A token of text is at least a byte, and about four in English.
_BYTES_PER_TOKEN = 4


def reported(usage: "RequestUsage") -> Usage | None:
    """One request's usage by class, or None where the provider did not say. Its input counts cached tokens too."""
    if usage.unmeasured_requests or not (usage.input_tokens or usage.output_tokens):
        return None
    written = usage.cache_write_tokens
    written_1h = min(usage.cache_write_1h_tokens, written)
    reasoning = usage.output_reasoning_tokens or usage.details.get("reasoning_tokens", 0)
    return Usage(
        input_tokens=max(0, usage.input_tokens - usage.cache_read_tokens - written),
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=written - written_1h,
        cache_write_1h_tokens=written_1h,
        output_tokens=max(usage.output_tokens, reasoning),
        reasoning_tokens=reasoning,
        requests=1,
    )


def estimated(prompt_bytes: int, output_tokens: int, alike: Usage | None) -> Usage:
    """What a request that broke off has used, as far as can be told.

    `alike` is the usage of the same prompt sent at another time: its input is this one's. Output is what had arrived.
    """
    if alike is None:
        return Usage(input_tokens=-(-prompt_bytes // _BYTES_PER_TOKEN), output_tokens=output_tokens, requests=1)
    return alike.model_copy(update={"output_tokens": output_tokens, "reasoning_tokens": None})


def output_tokens(pieces: int, text: str) -> int:
    """How many tokens have arrived: mostly each came as a piece of its own; pieces too long for that are many tokens.

    >>> output_tokens(3, "one two three"), output_tokens(1, "a whole answer in a single piece of text")
    (3, 10)
    """
    size = len(text.encode("utf-8", "replace"))
    return pieces if size <= 4 * _BYTES_PER_TOKEN * pieces else -(-size // _BYTES_PER_TOKEN)


def total(usages: list[Usage]) -> Usage:
    """The sum over requests; a class that no request knows stays unknown."""
    names = (*INPUT_CLASSES, "output_tokens", "reasoning_tokens", "requests")
    sums: dict[str, Any] = {}
    quantities: dict[str, float] = {}
    for usage in usages:
        for name in names:
            if (count := getattr(usage, name)) is not None:
                sums[name] = sums.get(name, 0) + count
        for unit, amount in usage.quantities.items():
            quantities[unit] = quantities.get(unit, 0.0) + amount
    return Usage(**sums, quantities=quantities)
