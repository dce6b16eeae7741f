"""Anthropic's message batches: created at once, validated later, counted only when all is over."""

import re
from collections import Counter
from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator.anthropic.parse import parse_messages
from batchwork.simulator.anthropic.render import error_of
from batchwork.simulator.batch import Batch, BatchShelf
from batchwork.simulator.calls import Calls
from batchwork.simulator.clock import rfc3339_exact
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.prompt import Prompt

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_ARCHIVED_AFTER_S = 29 * 24 * 3600.0
_PATH = "/v1/messages/batches"
_NOT_IN_BATCHES = ("stream", "speed", "thread")


class MessageBatch(Batch):
    """One message batch."""

    def __init__(self, calls: Calls, batch_id: str, requests: list[tuple[str, Any]], version: str) -> None:
        super().__init__(calls.world, calls.wire, batch_id, requests, _PATH, delay_s=0.0)
        self._version = version

    @property
    def ended_at(self) -> float:
        """When it ends, as things stand."""
        natural = min(max(self._finish, default=self.created_at), self.expires_at)
        if self.cancelled_at is None:
            return natural
        return min(natural, self.cancelled_at + self._world.config.cancel_time_s)

    @property
    def ended(self) -> bool:
        """Whether it has ended by now."""
        return self._world.clock.now() >= self.ended_at

    @property
    def archived(self) -> bool:
        """Whether its results are gone."""
        return self._world.clock.now() >= self.created_at + _ARCHIVED_AFTER_S

    @property
    def _left(self) -> str:
        """What becomes of the requests that were not done in time."""
        return "canceled" if self.cancelled_at is not None and self.cancelled_at < self.expires_at else "expired"

    def check_cancel(self) -> None:
        """A batch that has ended cannot be cancelled."""
        refuse_if(self.ended, f"Batch {self.id} cannot be canceled because it has already ended")

    def check_delete(self) -> None:
        """A batch that is under way cannot be deleted."""
        refuse_if(not self.ended, f"Batch {self.id} cannot be deleted while it is processing; cancel it first")

    def _parse(self, body: Any) -> Prompt:
        for name in _NOT_IN_BATCHES:
            refuse_if(body.get(name), f"{name}: not supported in message batches")
        prompt = parse_messages(body, self._version)
        refuse_if(prompt.max_tokens == 0, "max_tokens: Input should be greater than or equal to 1")
        return prompt

    def _line(
        self, number: int, kind: str, body: dict[str, Any] | None = None, refused: Refused | None = None
    ) -> bytes:
        result: dict[str, Any] = {"type": kind}
        if body is not None:
            result["message"] = body
        if refused is not None:
            result["error"] = error_of(refused, f"req_{self.id[-8:]}_{number}")
        return msgspec.json.encode({"custom_id": self._requests[number][0], "result": result}) + b"\n"

    async def results(self) -> bytes:
        """All result lines, in no order."""
        await self.settle()
        return b"".join(
            self._lines[n][1] if n in self._lines else self._line(n, self._left) for n in self._order_of_lines()
        )

    async def shown(self) -> dict[str, Any]:
        """The batch object; its counts do not move before the end."""
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        status = "in_progress" if self.cancelled_at is None else "canceling"
        if self.ended:
            await self.settle()
            status = "ended"
            counts |= Counter(kind for kind, _ in self._lines.values())
            counts[self._left] += self.size - len(self._lines)
        else:
            counts["processing"] = self.size
        fetchable = self.ended and not self.archived
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": counts,
            "created_at": rfc3339_exact(self.created_at),
            "expires_at": rfc3339_exact(self.expires_at),
            "ended_at": rfc3339_exact(self.ended_at) if self.ended else None,
            "cancel_initiated_at": None if self.cancelled_at is None else rfc3339_exact(self.cancelled_at),
            "archived_at": rfc3339_exact(self.created_at + _ARCHIVED_AFTER_S) if self.archived else None,
            "results_url": f"{self._world.base_url}{_PATH}/{self.id}/results" if fetchable else None,
        }


class MessageBatches(BatchShelf[MessageBatch]):
    """All message batches of one simulator."""

    prefix = "msgbatch_sim"
    unknown = "No message batch with id {}"

    def _deleted(self, batch_id: str) -> dict[str, Any]:
        return {"id": batch_id, "type": "message_batch_deleted"}

    async def results(self, request: web.BaseRequest, batch_id: str) -> web.Response:  # noqa: ARG002
        """`GET /v1/messages/batches/{id}/results`: JSON lines, in no order."""
        batch = self._batch(batch_id)
        if not batch.ended:
            raise Refused(404, f"Batch {batch_id} has no available results")
        if batch.archived:
            raise Refused(404, f"The results of batch {batch_id} are archived")
        return self._calls.answer(await batch.results(), "application/x-jsonl")

    def _made(self, batch_id: str, body: Any, request: web.BaseRequest) -> MessageBatch:
        requests = _requests(body, self._world.config.max_batch_requests)
        return MessageBatch(self._calls, batch_id, requests, request.headers["anthropic-version"])


def _requests(body: Any, most: int) -> list[tuple[str, Any]]:
    """The requests of a create call; only the envelope is checked now."""
    listed = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        raise Refused(400, "requests: Field required")
    refuse_if(not listed, "requests: List should have at least 1 item after validation, not 0")
    refuse_if(
        len(listed) > most, f"requests: List should have at most {most} items after validation, not {len(listed)}"
    )
    requests: dict[str, Any] = {}
    for number, request in enumerate(listed):
        where = f"requests.{number}"
        if not isinstance(request, dict) or not isinstance(request.get("custom_id"), str):
            raise Refused(400, f"{where}.custom_id: Field required")
        custom_id = request["custom_id"]
        if len(custom_id) > 64:
            raise Refused(400, f"{where}.custom_id: String should have at most 64 characters")
        if not _CUSTOM_ID.match(custom_id):
            raise Refused(400, f"{where}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if custom_id in requests:
            raise Refused(400, f"{where}.custom_id: custom_id '{custom_id}' is not unique in this batch")
        if not isinstance(request.get("params"), dict):
            raise Refused(400, f"{where}.params: Field required")
        requests[custom_id] = request["params"]
    return list(requests.items())
