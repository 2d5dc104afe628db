"""Whether models could be reached, found without sending anything."""

import re
from collections.abc import Iterable
from dataclasses import replace

from costpass.errors import CostpassError
from costpass.runs.plan import Plan
from costpass.strategies.lm.endpoint import LOCAL, Address, build_model

#: Stands for what an environment variable would hold, be it a key or an address.
NOT_SET = "http://not-set"

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]")


def judge_addresses(plan: Plan) -> dict[str, Address]:
    """Where the judges of the plan's graders are, by the models' names."""
    graders = (grader for graded in plan.benchmarks for grader in (graded.grader, *graded.own.values()))
    models = dict.fromkeys(grader.judge_model for grader in graders if grader.judge_model is not None)
    return {
        model: Address.parse(model, base_url=None if model.startswith(f"{LOCAL}:") else plan.base_url)
        for model in models
    }


def missing_keys(addresses: Iterable[Address]) -> set[str]:
    """Which keys the providers' clients miss; what else keeps them from being made is an error, as in a run."""
    missing = set()
    for address in dict.fromkeys(addresses):
        if address.provider == LOCAL:
            _require_known_weights(address.model)
            continue
        try:
            build_model(address)
        except CostpassError as error:
            if not _works_with_a_key(address):
                raise
            missing.add(next(iter(_VARIABLE.findall(str(error))), str(error)))
    return missing


def _works_with_a_key(address: Address) -> bool:
    try:
        build_model(replace(address, api_key=NOT_SET))
    except (CostpassError, ValueError, TypeError):
        return False
    return True


def _require_known_weights(name: str) -> None:
    from costpass.strategies.lm.local.weights import CATALOG, find_weights

    # Known ones are fetched where they are absent, which is for the run to do.
    if all(name != weights.name for weights in CATALOG):
        find_weights(name, say=lambda _: None)
