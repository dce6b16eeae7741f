"""Message batches: many requests at once, answered within a day at half the price.

A batch carries nothing by which it could be found again but the custom ids inside it, and these can be read
only once it has ended. Looking for one therefore has three answers: found, surely not there, not decided yet.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._failures import lost_result
from batchwork.backends._wire import BatchPage, RequestBody, Server, WireBackend, encode
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchProgress, BatchTag, Candidate, Sighting
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_NOT_EXECUTED = {"expired": "the batch expired before its turn", "canceled": "the batch was cancelled before its turn"}


class _Counts(Struct):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0

    @property
    def total(self) -> int:
        return self.processing + self.succeeded + self.errored + self.canceled + self.expired


class Batch(Struct):
    """An answer about one batch."""

    id: str
    processing_status: str
    created_at: str
    request_counts: _Counts

    @property
    def has_ended(self) -> bool:
        """It can be read."""
        return self.processing_status == "ended"


class _Result(Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: dict[str, Any] | None = None


class _Line(Struct):
    custom_id: str
    result: _Result


_decode_page = msgspec.json.Decoder(BatchPage[Batch]).decode
_decode_line = msgspec.json.Decoder(_Line).decode


class MessageBatches(WireBackend):
    """The part of a backend that is about batches."""

    batch_limits = BatchLimits(max_requests=100_000, max_bytes=256 * 1024 * 1024)

    def __init__(self, model: str, body: RequestBody, server: Server) -> None:
        super().__init__(model, body, server)
        self._first_names: dict[str, str] = {}  # of ended batches that were looked at: a search looks again and again

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        """One request of a batch."""
        return encode({"custom_id": custom_id, "params": self._body.build(request)})

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch; nothing in it can name us but the custom ids."""
        del tag
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return self._created(await self._http.post(self._batches_url, body))

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        """Where it stands: it tells nothing but whether it has ended."""
        batch: Batch = await self._batch(batch_id)
        return BatchProgress(ended=batch.has_ended, total=batch.request_counts.total)

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Its results, in any order."""
        async for line in self._lines(self._batches_url / batch_id / "results", _decode_line):
            yield line.custom_id, self._line_result(line.result)

    async def find_batch(self, tag: BatchTag) -> str | Sighting | Candidate:
        """Look at every batch that is young enough, of the right size, and ours by its custom ids."""
        undecided = False
        unreadable: Candidate | None = None
        async for batch, oldest, youngest in self._listed(_decode_page, "after_id", tag):
            created = _utc(batch.created_at)
            if created is not None and created < oldest:
                break
            if batch.id in tag.known or (created is not None and created > youngest):
                continue
            if not batch.has_ended:
                undecided = undecided or _is_about(batch.request_counts.total, len(tag.custom_ids))
            elif (ours := await self._holds(batch.id, tag)) is None:
                unreadable = unreadable or Candidate(batch.id)
            elif ours:
                return batch.id
        return Sighting.UNDECIDED if undecided else unreadable or Sighting.ABSENT

    async def _holds(self, batch_id: str, tag: BatchTag) -> bool | None:
        """Whether an ended batch is ours; None when not a line of its results can be read."""
        if (name := self._first_names.get(batch_id)) is None:
            try:
                async for name, _ in self.collect_batch(batch_id):
                    self._first_names[batch_id] = name
                    break
            except BackendError:
                return None
        return None if name is None else name in tag.custom_ids  # one is enough: it names our run and our batch

    def _line_result(self, result: _Result) -> Reply | Failure:
        """One result in our words."""
        if result.type == "succeeded":
            return self._result(result.message)
        if result.type in _NOT_EXECUTED:
            return Failure(kind=FailureKind.EXPIRED, message=_NOT_EXECUTED[result.type])
        if result.type != "errored":
            return lost_result(f"its result is of the unknown type {result.type!r}")
        outer = result.error or {}
        inner = outer.get("error")  # the cause stands one level deeper than one would think
        error = inner if isinstance(inner, dict) else outer
        kind, code = self.wire.kind_of(error, 0)
        return Failure(kind=kind, message=str(error.get("message", "no explanation")), error_code=code)


def _is_about(counted: int, size: int) -> bool:
    """Whether a batch may hold so many requests although its counts say otherwise: they are not always right."""
    return abs(counted - size) <= max(1, size // 10)


def _utc(text: str) -> float | None:
    """When a batch was made; None when it does not say it readably."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
