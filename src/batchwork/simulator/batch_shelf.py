"""All batches of one wire, and the calls about them: created, settled with time, shown, listed, cancelled."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from aiohttp import web

from batchwork.simulator.batch import Batch
from batchwork.simulator.bodies import decoded, read_limited
from batchwork.simulator.errors import Refused
from batchwork.simulator.live_calls import LiveCalls, Wire
from batchwork.simulator.log import BatchRecord
from batchwork.simulator.service_calls import ServiceCalls
from batchwork.simulator.world import World

B = TypeVar("B", bound=Batch)


class BatchShelf(ABC, Generic[B]):
    """What the calls about batches of both wires have in common."""

    def __init__(self, world: World, wire: Wire, calls: LiveCalls, service: ServiceCalls, prefix: str) -> None:
        """Start empty; the ids of the batches begin with `prefix`."""
        self._world = world
        self._wire = wire
        self._calls = calls
        self._service = service
        self._prefix = prefix
        self._batches: dict[str, B] = {}
        world.shelves.append(self)

    async def settle(self) -> None:
        """Let every batch catch up with the clock."""
        for batch in list(self._batches.values()):
            await batch.settle()

    def clear(self) -> None:
        """Forget every batch."""
        self._batches.clear()

    async def create(self, request: web.BaseRequest) -> web.StreamResponse:
        """`POST .../batches`."""
        self._wire.authorize(request.headers)
        raw = await read_limited(request, self._world.config.max_batch_bytes)
        batch_id = f"{self._prefix}{self._world.next_number():08d}"

        async def work() -> web.Response:
            batch = self._made(batch_id, decoded(raw), request)
            await batch.take_in()
            self._batches[batch_id] = batch
            self._world.log.batches[batch_id] = BatchRecord(api=self._wire.api, size=batch.size)
            return self._calls.answer(await batch.shown())

        return await self._service.run(request, "create", work, batch_id)

    async def retrieve(self, request: web.BaseRequest, batch_id: str) -> web.Response:  # noqa: ARG002
        """`GET .../batches/{id}`."""
        return self._calls.answer(await self._batch(batch_id).shown())

    async def listed(self, request: web.BaseRequest) -> web.Response:
        """`GET .../batches`: newest first; a young batch may not be listed yet."""
        ripe = self._world.clock.now() - self._world.config.list_lag_s
        newest = sorted(self._batches.values(), key=lambda batch: batch.created_at)[::-1]
        shown = [await batch.shown() for batch in newest if batch.created_at <= ripe]
        return self._calls.answer(self._wire.page(shown, request.rel_url.query))

    async def cancel(self, request: web.BaseRequest, batch_id: str) -> web.Response:  # noqa: ARG002
        """`POST .../batches/{id}/cancel`: what is done stays done."""
        batch = self._batch(batch_id)
        batch.check_cancel()
        if batch.cancelled_at is None:
            await batch.settle()
            batch.cancelled_at = self._world.clock.now()
        return self._calls.answer(await batch.shown())

    def _batch(self, batch_id: str) -> B:
        batch = self._batches.get(batch_id)
        if batch is None:
            raise self._unknown(batch_id)
        return batch

    @abstractmethod
    def _made(self, batch_id: str, body: Any, request: web.BaseRequest) -> B:
        """The batch that a create call asks for."""

    @abstractmethod
    def _unknown(self, batch_id: str) -> Refused:
        """The refusal when there is no such batch."""
