"""The endpoints of a run: one for each model at each provider, shared by the strategies that use it."""

import importlib.util
from collections.abc import Callable
from decimal import Decimal

from costpass.errors import MissingExtraError
from costpass.runs.plan import Plan, Strategy
from costpass.runs.preparing import quote
from costpass.runs.reaching import judge_addresses
from costpass.strategies.lm.endpoint import LOCAL, Address, Connector, Endpoint, Remote
from costpass.strategies.lm.pace import Pace


class Endpoints:
    """Makes endpoints as they are needed, and closes them together."""

    def __init__(self, plan: Plan, *, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._say = say
        self._judges = judge_addresses(plan)
        self._made: dict[Address, Endpoint] = {}

    def of(self, strategy: Strategy) -> Endpoint:
        """The strategy's endpoint; says in words what is missing to reach it."""
        return self._at(strategy.address)

    async def of_judge(self, model: str) -> Endpoint:
        """The endpoint of a grader's judge."""
        return self._at(self._judges[model])

    def check_judges(self) -> None:
        """Makes the judges' endpoints now, so that one that cannot be reached is known before money is spent."""
        for address in self._judges.values():
            self._at(address)

    @property
    def rate_limited(self) -> int:
        """How often providers asked to wait."""
        return sum(endpoint.pace.refusals for endpoint in self._made.values())

    async def close(self) -> None:
        for endpoint in self._made.values():
            await endpoint.connector.close()

    def _at(self, address: Address) -> Endpoint:
        if address not in self._made:
            self._made[address] = self._make(address)
        return self._made[address]

    def _make(self, address: Address) -> Endpoint:
        experiment = self._plan.experiment
        connector: Connector
        most, core_hour_usd = experiment.concurrency, None
        if address.provider == LOCAL:
            connector, most = self._local(address.model)
            core_hour_usd = Decimal(experiment.local.core_hour_usd)
        else:
            connector = Remote(address)
        return Endpoint(
            address,
            quote(address, self._plan.book),
            connector,
            Pace(min(most, experiment.concurrency), seed=experiment.seed),
            core_hour_usd=core_hour_usd,
        )

    def _local(self, name: str) -> tuple[Connector, int]:
        from costpass.strategies.lm.local.connector import LocalConnector
        from costpass.strategies.lm.local.server import LocalPool
        from costpass.strategies.lm.local.weights import find_weights

        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtraError("a model on this machine", "local")
        local = self._plan.experiment.local
        pool = LocalPool(
            find_weights(name, say=self._say), size=local.servers, threads=local.threads, context=local.context_tokens
        )
        return LocalConnector(name, pool), pool.size
