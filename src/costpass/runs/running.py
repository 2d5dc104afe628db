"""Running an experiment from its file to its ledger, stopped cleanly where it is stopped."""

import asyncio
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from costpass.runs.endpoints import Endpoints
from costpass.runs.engine import Ended, Run
from costpass.runs.events import Watcher
from costpass.runs.plan import Plan
from costpass.runs.preparing import ENVIRONMENT
from costpass.runs.recording import Recorder, open_ledger
from costpass.runs.resuming import look_back

LEDGERS = Path("ledgers")

_SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$")


def run_plan(
    plan: Plan,
    ledger_path: Path,
    watcher: Watcher,
    *,
    say: Callable[[str], None] = lambda _: None,
    environment: Mapping[str, str] = os.environ,
) -> Ended:
    """Runs what of the plan is not in the ledger yet."""
    secrets = [value for name, value in environment.items() if _SECRET_NAMES.search(name)]
    for strategy in plan.strategies:
        written = f"{strategy.spec.api_key} {strategy.spec.base_url}"
        secrets += [environment[name] for name in ENVIRONMENT.findall(written) if name in environment]
    return asyncio.run(_run(plan, ledger_path, watcher, say, secrets))


async def _run(
    plan: Plan,
    ledger_path: Path,
    watcher: Watcher,
    say: Callable[[str], None],
    secrets: list[str],
) -> Ended:
    endpoints = Endpoints(plan, say=say)
    try:
        for strategy in plan.strategies:
            endpoints.of(strategy)
        endpoints.check_judges()
        ledger = open_ledger(ledger_path, plan)
        recorder = Recorder(ledger, secrets=secrets)
        try:
            run = Run(plan, look_back(ledger, plan), recorder, endpoints, watcher)
            with _stopped_by_signals(run):
                return await run.run()
        finally:
            recorder.close()
    finally:
        await endpoints.close()


@contextmanager
def _stopped_by_signals(run: Run) -> Iterator[None]:
    """Ctrl-C, or a polite kill, ends the run once what is under way is booked; a second Ctrl-C ends it at once."""
    loop = asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        run.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
