"""What perf.lm_runs puts side by side, each in a process of its own that prints what it took.

    python -m perf.lm_children costpass|bare|inspect WORK.json

The clock runs over the calls alone, once everything is imported and the problems are read.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Work = dict[str, Any]


def timed(work: Callable[[], object]) -> dict[str, float]:
    """Seconds, and CPU seconds of all threads."""
    started, used = time.perf_counter(), cpu_s()
    work()
    return {"wall_s": time.perf_counter() - started, "cpu_s": cpu_s() - used}


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mib() -> float:
    """The most memory that this process has held; ru_maxrss would count what its parent held when it was started."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def costpass(work: Work) -> dict[str, float]:
    """The library's part of `costpass run`."""
    from costpass.runs.engine import Ended
    from costpass.runs.events import Unwatched
    from costpass.runs.experiment import load_experiment
    from costpass.runs.preparing import Overrides, prepare
    from costpass.runs.running import run_plan

    plan = prepare(*load_experiment(work["experiment"]), Overrides())
    for strategy in plan.strategies:
        # As in the bare loop, which has its client imported before the clock starts.
        import_module(f"pydantic_ai.models.{'anthropic' if strategy.address.provider == 'anthropic' else 'openai'}")
    ended: list[Ended] = []
    took = timed(lambda: ended.append(run_plan(plan, Path(work["ledger"]), Unwatched())))
    if ended != [Ended.complete]:
        raise SystemExit(f"the run did not complete: {ended}")
    return took


def bare(work: Work) -> dict[str, float]:
    """The same calls in a loop around pydantic-ai: every event and the usage are read, nothing is kept."""
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    async def ask(model: Model[Any], slots: asyncio.Semaphore, prompt: str, seed: int) -> int:
        settings = ModelSettings(max_tokens=work["max_tokens"], seed=seed)
        messages = [ModelRequest.user_text_prompt(prompt)]
        async with slots, model_request_stream(model, messages, model_settings=settings) as stream:
            async for _ in stream:
                pass
            return stream.get().usage.output_tokens

    async def ask_all() -> None:
        model = new_model(work)
        slots = asyncio.Semaphore(work["concurrency"])
        async with model:
            used = await asyncio.gather(*(ask(model, slots, prompt, seed) for prompt, seed in work["calls"]))
        assert all(used), "a reply came without its usage"

    new_model = model_maker(work["dialect"])
    return timed(lambda: asyncio.run(ask_all()))


def model_maker(dialect: str) -> Callable[[Work], Any]:
    """Imports the dialect's client and no other, as costpass does."""
    if dialect == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return lambda work: AnthropicModel(
            work["model"], provider=AnthropicProvider(base_url=work["url"], api_key="none")
        )
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return lambda work: OpenAIChatModel(
        work["model"], provider=OpenAIProvider(base_url=f"{work['url']}/v1", api_key="none")
    )


def inspect(work: Work) -> dict[str, Any]:
    """The same problems as a task of inspect_ai; what keeps it from running is told and is no crash."""
    try:
        from inspect_ai import Task, eval
        from inspect_ai.dataset import MemoryDataset, Sample
        from inspect_ai.model import GenerateConfig, get_model
        from inspect_ai.scorer import match
        from inspect_ai.solver import generate

        task = Task(
            dataset=MemoryDataset([Sample(input=question, target=target) for question, target in work["problems"]]),
            solver=generate(),
            scorer=match(numeric=True),
            epochs=work["repetitions"],
        )
        settings = GenerateConfig(max_tokens=work["max_tokens"], max_connections=work["concurrency"])
        model = get_model(f"openai/{work['model']}", config=settings, base_url=f"{work['url']}/v1", api_key="none")
        logs: list[Any] = []
        took = timed(
            lambda: logs.extend(
                eval(task, model=model, log_dir=work["log_dir"], display="none", max_samples=work["concurrency"])
            )
        )
    except Exception as error:  # noqa: BLE001 - whatever a foreign tool dies of is what there is to tell of it
        return {"trouble": f"{type(error).__name__}: {error}"}
    (log,) = logs
    if log.status != "success":
        return {"trouble": f"{log.status}: {log.error.message if log.error else 'no error was given'}"}
    return dict(took)


def main() -> None:
    contestants: dict[str, Callable[[Work], dict[str, Any]]] = {"costpass": costpass, "bare": bare, "inspect": inspect}
    took = contestants[sys.argv[1]](json.loads(Path(sys.argv[2]).read_text("utf-8")))
    print(json.dumps({**took, "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main()
