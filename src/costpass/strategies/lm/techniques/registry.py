"""Which techniques there are, and how an experiment's words become one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from costpass.errors import BadInputError, did_you_mean
from costpass.strategies.lm.techniques import (
    chain_of_thought,
    direct,
    few_shot,
    majority_vote,
    own_python,
    self_refine,
    tale_ep,
)
from costpass.strategies.lm.techniques.built import BuiltTechnique, Given
from costpass.strategies.lm.techniques.system_prompt import WithSystem
from costpass.strategies.lm.techniques.template import checked

__all__ = ["TECHNIQUES", "BuiltTechnique", "build_technique"]

TECHNIQUES: dict[str, Callable[[Any, Given], BuiltTechnique]] = {
    module.NAME: module.build
    for module in (direct, chain_of_thought, few_shot, majority_vote, self_refine, tale_ep, own_python)
}


def build_technique(
    spec: str | Mapping[str, Any] | None,
    *,
    prompt: str | None = None,
    system: str | None = None,
    folder: Path | None = None,
) -> BuiltTechnique:
    """The technique that `spec` names (`direct` where it names none), with the strategy's own prompt and system prompt.

    Paths in the options are relative to `folder`.
    """
    template = None if prompt is None else checked(prompt)

    def build(inner: Any) -> BuiltTechnique:
        name, options = _name_and_options(inner)
        return TECHNIQUES[name](options, Given(template, folder, build))

    built = build(direct.NAME if spec is None else spec)
    return built if system is None else WithSystem(built, system)


def _name_and_options(spec: Any) -> tuple[str, Any]:
    if isinstance(spec, str):
        name, options = spec, None
    elif isinstance(spec, Mapping) and len(spec) == 1:
        ((name, options),) = spec.items()
    elif isinstance(spec, Mapping):
        written = ", ".join(map(str, spec)) or "nothing"
        raise BadInputError(f"technique: names {written}; write one name, as in {{majority-vote: {{k: 3}}}}")
    else:
        raise BadInputError(f"technique: {spec!r:.80} is not a technique; write a name, or a name with its options")
    if name not in TECHNIQUES:
        known = ", ".join(TECHNIQUES)
        raise BadInputError(f"technique: there is no {name!r}{did_you_mean(str(name), TECHNIQUES)} (known: {known})")
    return name, options
