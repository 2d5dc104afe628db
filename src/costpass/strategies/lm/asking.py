"""The metered model call: bounded before it is sent, journalled, timed, priced, and tried again where that helps."""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from typing import TYPE_CHECKING, Any

from costpass.attempt import usd as exact_usd
from costpass.budget.purse import ExhaustedError, Hold, Purse
from costpass.errors import CostpassError, MissingExtraError
from costpass.ledger.requests import Begun, Cell, Ended, Requests
from costpass.strategies.lm import messages as wire
from costpass.strategies.lm.ask import Reply, Tool, ToolResult
from costpass.strategies.lm.bound import Bound, bound
from costpass.strategies.lm.call import Call
from costpass.strategies.lm.endpoint import Connection, Endpoint
from costpass.strategies.lm.faults import Broken, CapReachedError, FaultError, classify
from costpass.strategies.lm.stopwatch import Stopwatch
from costpass.strategies.lm.usage import estimated, output_tokens, reported

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import StreamedResponse

_FIRST_WAIT_S = 0.5
_MOST_WAIT_S = 30.0
#: How long a request that is refused again and again is tried in all.
_PATIENCE_S = 600.0
_SEED_SPACE = 2**31
_SECONDS_PER_HOUR = 3600


@dataclass
class Attempting:
    """What the calls of one attempt share."""

    cell: Cell
    #: The retry number that the attempt's first record will have.
    retry: int
    seed: int
    #: The attempt's own cap, within its strategy's and the run's.
    purse: Purse
    requests: Requests
    watch: Stopwatch = field(default_factory=Stopwatch)
    #: How often a request that the infrastructure broke is sent again.
    retries: int = 4
    #: How many calls the attempt may make, among which its cap is shared out.
    calls: int = 1
    grading: bool = False


class Asking:
    """`ask`, as a technique gets it, and the book of what it did."""

    def __init__(self, endpoint: Endpoint, attempting: Attempting, settings: Mapping[str, Any]) -> None:
        self.seed = attempting.seed
        #: Requests that ended well, or were stopped on our side: what the attempt cost.
        self.calls: list[Call] = []
        #: Requests that the infrastructure broke, and that were sent again: what faults cost.
        self.broken: list[Call] = []
        self._endpoint = endpoint
        self._shared = attempting
        self._settings = settings
        self._numbers = count()
        self._sent_now = 0
        self._under_way: set[asyncio.Task[Any] | None] = set()
        self._ended = False
        #: The first thing that no technique can mend, whether or not it lets that through.
        self.fatal: FaultError | CapReachedError | ExhaustedError | None = None

    async def __call__(
        self,
        prompt: str | Sequence[ToolResult],
        *,
        system: str | None = None,
        history: Sequence[Any] = (),
        tools: Sequence[Tool] = (),
        **settings: Any,
    ) -> Reply:
        if self._ended:
            raise RuntimeError("the attempt has ended: its `ask` cannot be used any more")
        task = asyncio.current_task()
        self._under_way.add(task)
        given = {name: value for name, value in settings.items() if value is not None}
        wanted = {"seed": (self.seed + next(self._numbers)) % _SEED_SPACE, **self._settings, **given}
        try:
            return await self._ask(wire.conversation(prompt, system, history), tools, wanted)
        except (FaultError, CapReachedError, ExhaustedError) as error:
            self.fatal = self.fatal or error
            raise
        finally:
            self._under_way.discard(task)

    async def _ask(
        self,
        conversation: tuple[list["ModelMessage"], list[dict[str, Any]]],
        tools: Sequence[Tool],
        wanted: dict[str, Any],
    ) -> Reply:
        """Sends the conversation until a reply comes back, or nothing can be hoped for."""
        messages, kept = conversation
        size, digest = wire.measure(messages, tools)
        began, tries = time.monotonic(), 0
        while True:
            call = Call(kept, digest, size, time.monotonic())
            response = await self._send(call, messages, tools, wanted)
            if response is not None:
                return wire.reply(response, messages)
            assert call.broken is not None
            refused = call.broken.failure == "rate_limit"
            tries += not refused
            tired = refused and time.monotonic() - began > _PATIENCE_S
            if tired:
                self.broken.append(call)
            if tired or not call.broken.again or tries > self._shared.retries:
                raise FaultError(call.broken)
            if not refused:
                await self._wait_before(tries)

    async def close(self) -> None:
        """Ends calls that the technique has left running, so that all are booked."""
        self._ended = True
        left = [task for task in self._under_way if task is not None and task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def backfill(self) -> None:
        """Estimates anew what broken requests used, now that the same prompt may have gone through."""
        for call in self.broken:
            alike = self._endpoint.alike(call.prompt_digest)
            if call.estimated and alike is not None:
                call.usage = estimated(call.prompt_bytes, call.usage.output_tokens or 0, alike)
                self._price(call)

    async def _send(
        self, call: Call, messages: list["ModelMessage"], tools: Sequence[Tool], wanted: dict[str, Any]
    ) -> "ModelResponse | None":
        """One request; None where the infrastructure broke it, as `call.broken` then says."""
        with self._shared.watch.waiting():
            slot = self._endpoint.pace.slot()
            await slot.__aenter__()
        try:
            with self._shared.watch.waiting():
                limit, hold = await self._hold(call, wanted.get("max_tokens"))
            return await self._request(call, messages, tools, wanted, limit, hold)
        finally:
            await slot.__aexit__(None, None, None)

    async def _hold(self, call: Call, asked_tokens: int | None) -> tuple[Bound, Hold]:
        """Sets aside what the request may cost; waits for sibling requests of the attempt, which may give some back."""
        purse = self._shared.purse
        while True:
            limit = bound(
                self._endpoint.prices,
                call.prompt_bytes,
                left_usd=self._share_usd(),
                asked_tokens=asked_tokens,
                output_limit=self._endpoint.output_limit,
                excess=self._endpoint.excess,
            )
            if limit is not None:
                try:
                    return limit, await purse.hold(limit.worst_usd)
                except ExhaustedError as error:
                    if error.purse is not purse:
                        raise
            if not purse.held_usd:
                raise CapReachedError(
                    f"the attempt's cap of ${purse.cap_usd} has ${purse.left_usd} left, too little for the next request"
                )
            await purse.change()

    def _share_usd(self) -> Decimal | None:
        """What one call may cost of what the attempt has left: calls to come, perhaps side by side, need some too."""
        purse = self._shared.purse
        if purse.cap_usd is None:
            return None
        to_come = self._shared.calls - len(self.calls) - self._sent_now
        return (purse.cap_usd - purse.spent_usd - purse.held_usd) / max(1, to_come)

    async def _request(
        self,
        call: Call,
        messages: list["ModelMessage"],
        tools: Sequence[Tool],
        wanted: dict[str, Any],
        limit: Bound,
        hold: Hold,
    ) -> "ModelResponse | None":
        from pydantic_ai.exceptions import AgentRunError

        shared, outcome = self._shared, "cancelled"
        request = shared.requests.new_name()
        expected = self._endpoint.expected(call.prompt_digest, call.prompt_bytes)
        try:
            shared.requests.begin(
                Begun(request, shared.cell, shared.retry, str(self._endpoint.address), *expected, shared.grading)
            )
        except BaseException:
            hold.settle(Decimal(0))
            raise
        self._sent_now += 1
        try:
            with shared.watch.working():
                response = await self._stream(call, messages, tools, wanted, limit)
            outcome = "ok"
        except (AgentRunError, OSError, CostpassError, ValueError) as error:
            call.broken = self._what_broke(error, limit)
            outcome = call.broken.failure
            return None
        else:
            return response
        finally:
            self._sent_now -= 1
            self._settle(call, hold, limit)
            shared.requests.end(Ended(request, outcome, call.usage, call.usd, call.estimated))

    async def _stream(
        self,
        call: Call,
        messages: list["ModelMessage"],
        tools: Sequence[Tool],
        wanted: dict[str, Any],
        limit: Bound,
    ) -> "ModelResponse":
        from pydantic_ai.direct import model_request_stream

        settings = dict(wanted)
        if limit.max_tokens is not None:
            settings["max_tokens"] = limit.max_tokens
        async with self._endpoint.connector.connection() as connection:
            call.started = time.monotonic()
            if connection.retries_itself:
                settings["max_retries"] = 0
            try:
                async with model_request_stream(
                    connection.model,
                    messages,
                    model_settings=settings,  # type: ignore[arg-type]
                    model_request_parameters=wire.parameters(tools) if tools else None,
                    instrument=False,
                ) as stream:
                    response = await self._read(call, stream)
            finally:
                await self._meter(call, connection)
        call.stopped_by_cap = limit.by_cap and response.finish_reason == "length"
        return response

    async def _read(self, call: Call, stream: "StreamedResponse") -> "ModelResponse":
        from pydantic_ai.exceptions import AgentRunError

        call.opened = True
        lost: Exception | None = None
        try:
            async for event in stream:
                if wire.has_content(event):
                    call.pieces += 1
                    if call.first_token_s is None:
                        call.first_token_s = time.monotonic()
        except (AgentRunError, OSError) as error:
            lost = error
        finally:
            call.ended_s = time.monotonic()
            response = stream.get()
            _take_down(call, response)
        if call.finish_reason is None and not call.usage.requests and lost is None:
            raise ConnectionError("the stream ended before the reply did")
        # A connection lost after the last word and the usage has cost nothing: the reply is whole.
        if lost is not None and (call.finish_reason is None or not call.usage.requests):
            raise lost
        return response

    async def _meter(self, call: Call, connection: Connection) -> None:
        if connection.core_seconds is None:
            return
        seconds = await asyncio.shield(connection.core_seconds())
        call.usage = call.usage.model_copy(update={"quantities": {"core_seconds": round(seconds, 6)}})

    def _what_broke(self, error: Exception, limit: Bound) -> Broken:
        from pydantic_ai.exceptions import ModelAPIError

        if isinstance(error, MissingExtraError):
            return Broken("setup", str(error), again=False, hopeless=True)
        if not isinstance(error, ModelAPIError):
            failure = "bad_reply" if isinstance(error, ValueError) else "network"
            sentence = str(error).split("\n")[0]
            return Broken(failure, f"{self._endpoint.address}: {sentence}"[:300], again=True)
        broken = classify(error)
        if broken.failure == "rate_limit":
            self._endpoint.pace.refused(broken.retry_after_s)
        elif broken.failure == "rejected" and limit.by_cap and limit.max_tokens:
            lower = _output_limit(broken.message, limit.max_tokens)
            if lower is not None:
                self._endpoint.output_limit = lower
                return Broken("output_limit", broken.message, again=True)
        return broken

    def _settle(self, call: Call, hold: Hold, limit: Bound) -> None:
        """Books what the request cost, whatever became of it."""
        endpoint = self._endpoint
        if call.usage.requests is None:
            self._guess(call)
        elif not call.estimated and call.broken is None:
            endpoint.remember(call.prompt_digest, call.usage)
            endpoint.learn(call.usage, call.prompt_bytes, limit.max_tokens)
        if call.broken is None and call.opened:
            endpoint.pace.went_well()
        try:
            self._price(call)
        except (CostpassError, ValueError):
            # What was reported cannot be priced; what was set aside for it is the best that is known.
            call.usd, call.estimated = exact_usd(hold.usd), True
        hold.settle(call.usd)
        if call.broken is None:
            self.calls.append(call)
        elif call.broken.failure not in ("rate_limit", "output_limit") or call.usd:
            self.broken.append(call)

    def _guess(self, call: Call) -> None:
        kept = call.usage.quantities
        if call.opened or call.broken is None:
            alike = self._endpoint.alike(call.prompt_digest)
            call.usage = estimated(call.prompt_bytes, output_tokens(call.pieces, call.text + call.thinking), alike)
            call.estimated = True
        else:
            # Nothing arrived: a request refused before its first byte is not billed.
            call.usage = estimated(0, 0, None)
        call.usage = call.usage.model_copy(update={"quantities": kept})

    def _price(self, call: Call) -> None:
        endpoint = self._endpoint
        tokens_only = call.usage.model_copy(update={"quantities": {}})
        call.priced_usd = exact_usd(endpoint.quote.bill(tokens_only).usd)
        call.usd = call.priced_usd
        if call.billed_usd is not None:
            call.usd = call.billed_usd
        seconds = call.usage.quantities.get("core_seconds")
        if seconds is not None and endpoint.core_hour_usd is not None:
            call.metered_usd = exact_usd(Decimal(repr(seconds)) * endpoint.core_hour_usd / _SECONDS_PER_HOUR)
            call.usd = call.metered_usd

    async def _wait_before(self, tries: int) -> None:
        wait = min(_MOST_WAIT_S, _FIRST_WAIT_S * 2 ** (tries - 1))
        with self._shared.watch.waiting():
            await asyncio.sleep(self._endpoint.pace.jitter(wait))


def _take_down(call: Call, response: "ModelResponse") -> None:
    """What arrived, whether or not all of it did."""
    answer = wire.reply(response, [])
    call.text, call.thinking, call.tool_calls = answer.text, answer.thinking, len(answer.tool_calls)
    call.finish_reason = response.finish_reason
    call.model_reported = response.model_name
    usage = reported(response.usage)
    if usage is None:
        return
    if response.finish_reason is None:
        # The last figures before a cut may lag behind what had arrived.
        usage = usage.model_copy(update={"output_tokens": max(usage.output_tokens or 0, call.pieces)})
        call.estimated = True
    call.usage = usage
    cost = (response.provider_details or {}).get("cost")
    if isinstance(cost, int | float) and cost >= 0:
        call.billed_usd = exact_usd(float(cost))


def _output_limit(message: str, sent: int) -> int | None:
    """The most output tokens that an endpoint allows, out of its complaint that so many are too many."""
    if not re.search(r"max_\w*tokens|output tokens|completion tokens", message, re.IGNORECASE):
        return None
    numbers = [int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*", message)]
    return max((number for number in numbers if 0 < number < sent), default=None)
