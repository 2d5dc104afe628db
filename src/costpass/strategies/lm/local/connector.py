"""Connections to a model on this machine: a server of its own for each request, so that its core seconds are known."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from costpass.strategies.lm.endpoint import Address, Connection, build_model, tell_not_to_retry
from costpass.strategies.lm.local.server import LocalPool

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class LocalConnector:
    """Leases a server for each request."""

    def __init__(self, name: str, pool: LocalPool) -> None:
        self._name = name
        self._pool = pool
        self._models: dict[str, Model] = {}
        self._open = AsyncExitStack()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with self._pool.lease() as lease:
            model = await self._model(lease.base_url)
            yield Connection(model, retries_itself=False, core_seconds=lease.cpu_seconds)

    async def close(self) -> None:
        await self._open.aclose()
        await asyncio.shield(self._pool.close())

    async def _model(self, base_url: str) -> "Model":
        if base_url not in self._models:
            address = Address("local", self._name, base_url)
            model = build_model(address, reuse_connections=False)
            tell_not_to_retry(model)
            self._models[base_url] = await self._open.enter_async_context(model)
        return self._models[base_url]
