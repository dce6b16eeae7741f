"""The calls about OpenAI batches: create, retrieve, list, cancel."""

import re
from typing import Any

from aiohttp import web

from batchwork.simulator.batch_shelf import BatchShelf
from batchwork.simulator.bodies import decoded
from batchwork.simulator.errors import Refused
from batchwork.simulator.live import LiveCalls
from batchwork.simulator.log import BatchRecord
from batchwork.simulator.openai.batches import Batch
from batchwork.simulator.openai.files import Files, cursor_page
from batchwork.simulator.openai.wire import ChatWire
from batchwork.simulator.world import World

_ENDPOINTS = ("/v1/chat/completions", "/v1/responses")


class Batches(BatchShelf[Batch]):
    """All OpenAI batches of one simulator."""

    def __init__(self, world: World, wire: ChatWire, calls: LiveCalls, files: Files) -> None:
        super().__init__(world, wire, calls)
        self._wire = wire
        self._files = files

    async def create(self, request: web.BaseRequest) -> web.StreamResponse:
        """`POST /v1/batches`."""
        self._wire.authorize(request.headers)
        raw = await request.read()

        batch_id = f"batch_sim{self._world.next_number():08d}"

        async def work() -> web.Response:
            batch = Batch(self._world, self._wire, self._files, batch_id, self._checked(raw))
            await batch.take_in()
            self._batches[batch_id] = batch
            self._world.log.batches[batch_id] = BatchRecord(api="openai", size=batch.size)
            return self._calls.answer(await batch.shown())

        return await self._around.run(request, "create", work, batch_id)

    def _checked(self, raw: bytes) -> dict[str, Any]:
        order = decoded(raw)
        for name in ("input_file_id", "endpoint", "completion_window"):
            if not isinstance(order, dict) or not isinstance(order.get(name), str):
                raise Refused(
                    400, f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter"
                )
        if order["endpoint"] not in _ENDPOINTS:
            known = ", ".join(_ENDPOINTS)
            raise Refused(400, f"Invalid value: '{order['endpoint']}'. The simulator takes: {known}.", param="endpoint", code="invalid_value")  # fmt: skip # noqa: E501
        if not re.fullmatch(r"\d+[hd]", order["completion_window"]):
            raise Refused(400, "Invalid value for 'completion_window': expected '24h'.", param="completion_window", code="invalid_value")  # fmt: skip # noqa: E501
        metadata = order.get("metadata") or {}
        if len(metadata) > 16 or any(
            len(k) > 64 or not isinstance(v, str) or len(v) > 512 for k, v in metadata.items()
        ):
            raise Refused(400, "Invalid 'metadata': at most 16 keys of 64 and values of 512 characters.", param="metadata", code="invalid_value")  # fmt: skip # noqa: E501
        stored = self._files.get(order["input_file_id"])
        if stored.purpose != "batch":
            raise Refused(
                400, f"File {stored.id} must have purpose 'batch'.", param="input_file_id", code="invalid_value"
            )
        checked: dict[str, Any] = order
        return checked

    async def cancel(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        """`POST /v1/batches/{id}/cancel`: what is done stays done."""

        async def work() -> web.Response:
            batch = self._batch(batch_id)
            if not batch.cancellable:
                message = f"Cannot cancel a batch with status '{batch.status()}'."
                raise Refused(409, message, code="invalid_batch_status")
            if batch.cancelled_at is None:
                await batch.settle()
                batch.cancelled_at = self._world.clock.now()
            return self._calls.answer(await batch.shown())

        return await self._around.run(request, "cancel", work)

    def _page(self, shown: list[dict[str, Any]], request: web.BaseRequest) -> dict[str, Any]:
        return cursor_page(shown, request.rel_url.query, default=20, most=100)

    def _batch(self, batch_id: str) -> Batch:
        batch = self._batches.get(batch_id)
        if batch is None:
            raise Refused(404, f"No batch found with id '{batch_id}'.", param="id")
        return batch
