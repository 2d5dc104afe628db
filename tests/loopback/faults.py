"""What goes wrong with which request: decided by its number and the seed, whatever the order of the replies."""

from typing import NamedTuple

from tests.loopback.options import Options
from tests.loopback.reply import chances

SERVER_ERRORS = (500, 503, 529)


class Refusal(NamedTuple):
    """A request that gets an error in place of a reply, and is not billed."""

    status: int
    fault: str


class Plan(NamedTuple):
    """How a reply is sent: `cut` is the share of its tokens after which it ends, 1 for all of them and the usage."""

    cut: float | None = None
    between_s: float = 0.0

    @property
    def fault(self) -> str | None:
        return None if self.cut is None else "cut_late" if self.cut == 1 else "cut"


def refusal(number: int, in_flight: int, options: Options) -> Refusal | None:
    """Whether request `number`, one of `in_flight`, is refused before any byte."""
    if options.limit_concurrency is not None and in_flight > options.limit_concurrency:
        return Refusal(429, "concurrency")
    if options.storm is not None:
        every, length = options.storm
        if (number - 1) % every >= every - length:
            return Refusal(429, "storm")
    if not (options.rate_limit or options.error):
        return None
    limited, failed, which, *_ = chances(options.seed, "refusal", number)
    if limited < options.rate_limit:
        return Refusal(429, "rate_limit")
    if failed < options.error:
        return Refusal(SERVER_ERRORS[int(which * len(SERVER_ERRORS))], "error")
    return None


def plan(number: int, options: Options) -> Plan:
    """How the reply to request `number` is sent."""
    if not options.cut and options.slow is None:
        return Plan()
    cut, late, where, slow, *_ = chances(options.seed, "plan", number)
    probability, between_s = options.slow or (0.0, 0.0)
    return Plan(
        cut=None if cut >= options.cut else 1.0 if late < options.cut_late else where,
        between_s=between_s if slow < probability else 0.0,
    )
