"""The calls about message batches: create, retrieve, list, cancel, delete, results."""

from typing import Any

from aiohttp import web

from batchwork.simulator import sending
from batchwork.simulator.anthropic.batches import MessageBatch, check_envelope
from batchwork.simulator.anthropic.endpoints import page
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.batch_shelf import BatchShelf
from batchwork.simulator.bodies import decoded
from batchwork.simulator.errors import Refused
from batchwork.simulator.live import LiveCalls
from batchwork.simulator.log import BatchRecord
from batchwork.simulator.world import World


class MessageBatches(BatchShelf[MessageBatch]):
    """All message batches of one simulator."""

    def __init__(self, world: World, wire: AnthropicWire, calls: LiveCalls) -> None:
        super().__init__(world, wire, calls)
        self._wire = wire

    async def create(self, request: web.BaseRequest) -> web.StreamResponse:
        """`POST /v1/messages/batches`."""
        most = self._world.config.max_batch_bytes
        version = self._wire.authorize(request.headers)
        if (request.content_length or 0) > most:
            raise Refused(413, f"Request exceeds the maximum size of {most} bytes", type="request_too_large")
        raw = await request.read()
        if len(raw) > most:
            raise Refused(413, f"Request exceeds the maximum size of {most} bytes", type="request_too_large")

        batch_id = f"msgbatch_sim{self._world.next_number():08d}"

        async def work() -> web.Response:
            requests = check_envelope(decoded(raw), self._world.config.max_batch_requests)
            batch = MessageBatch(self._world, self._wire, batch_id, requests, version)
            await batch.take_in()
            self._batches[batch_id] = batch
            self._world.log.batches[batch_id] = BatchRecord(api="anthropic", size=len(requests))
            return self._calls.answer(await batch.shown())

        return await self._around.run(request, "create", work, batch_id)

    async def cancel(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        """`POST /v1/messages/batches/{id}/cancel`: what is done stays done."""

        async def work() -> web.Response:
            batch = self._batch(batch_id)
            if batch.ended:
                raise Refused(400, f"Batch {batch_id} cannot be canceled because it has already ended")
            if batch.cancelled_at is None:
                batch.cancelled_at = self._world.clock.now()
            return self._calls.answer(await batch.shown())

        return await self._around.run(request, "cancel", work)

    async def delete(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        """`DELETE /v1/messages/batches/{id}`: only when it has ended."""

        async def work() -> web.Response:
            batch = self._batch(batch_id)
            if not batch.ended:
                raise Refused(400, f"Batch {batch_id} cannot be deleted while it is processing; cancel it first")
            await batch.settle()
            del self._batches[batch_id]
            return self._calls.answer({"id": batch_id, "type": "message_batch_deleted"})

        return await self._around.run(request, "cancel", work)

    async def results(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        """`GET /v1/messages/batches/{id}/results`: JSON lines, in no order."""

        async def work() -> web.Response:
            batch = self._batch(batch_id)
            if not batch.ended:
                raise Refused(404, f"Batch {batch_id} has no available results", type="not_found_error")
            if batch.archived:
                raise Refused(404, f"The results of batch {batch_id} are archived", type="not_found_error")
            headers = self._calls.headers(self._world.next_number())
            headers["Content-Type"] = "application/x-jsonl"
            return sending.json_response(await batch.results(), 200, headers)

        return await self._around.run(request, "results", work, batch_id)

    def _page(self, shown: list[dict[str, Any]], request: web.BaseRequest) -> dict[str, Any]:
        return page(shown, request)

    def _batch(self, batch_id: str) -> MessageBatch:
        batch = self._batches.get(batch_id)
        if batch is None:
            raise Refused(404, f"No message batch with id {batch_id}", type="not_found_error")
        return batch
