"""Message batches: many requests at once, answered within a day at half the price.

A batch carries nothing by which it could be found again but the custom ids inside it, and these can be read
only once it has ended. Looking for one therefore has three answers: found, surely not there, not decided yet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._batching import PAGE, Batches
from batchwork.backends._http import Answer, Http, endpoint
from batchwork.backends.anthropic.answering import reply_in
from batchwork.backends.anthropic.asking import Asking
from batchwork.backends.anthropic.failing import kind_of
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import Operation, Trait, traits_of
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchProgress, BatchTag, Candidate, Sighting
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_NOT_EXECUTED = {"expired": "the batch expired before its turn", "canceled": "the batch was cancelled before its turn"}
_encode = msgspec.json.Encoder().encode


class _Counts(Struct):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0

    @property
    def total(self) -> int:
        return self.processing + self.succeeded + self.errored + self.canceled + self.expired


class _Batch(Struct):
    id: str
    processing_status: str
    created_at: str
    request_counts: _Counts

    @property
    def has_ended(self) -> bool:
        return self.processing_status == "ended"


class _Page(Struct):
    data: list[_Batch]
    has_more: bool = False
    last_id: str | None = None


class _Result(Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: dict[str, Any] | None = None


class _Line(Struct):
    custom_id: str
    result: _Result


_decode_batch = msgspec.json.Decoder(_Batch).decode
_decode_page = msgspec.json.Decoder(_Page).decode
_decode_line = msgspec.json.Decoder(_Line).decode


class MessageBatches(Batches):
    """The message batches of one workspace."""

    limits = BatchLimits(max_requests=100_000, max_bytes=256 * 1024 * 1024)

    def __init__(
        self,
        http: Http,
        base_url: str,
        asking: Asking,
        failure: Callable[[Answer], Failure],
        utc: Callable[[], float],
    ) -> None:
        super().__init__(http, failure, utc)
        self._asking = asking
        self._url = endpoint(base_url, "v1/messages/batches")

    def line(self, custom_id: str, request: Request) -> bytes:
        """One request of a batch."""
        return _encode({"custom_id": custom_id, "params": self._asking.body(request)})

    async def submit(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch; nothing in it can name us but the custom ids."""
        del tag
        answer = await self._http.post(self._url, b'{"requests":[' + b",".join(lines) + b"]}")
        return self._read(answer, _decode_batch, unconfirmed=True).id

    async def poll(self, batch_id: str) -> BatchProgress:
        """Where it stands: it tells nothing but whether it has ended."""
        batch = self._read(await self._http.get(self._url / batch_id), _decode_batch)
        return BatchProgress(ended=batch.has_ended, total=batch.request_counts.total)

    async def collect(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Its results, in any order."""
        async for told in self._lines(self._url / batch_id / "results", _decode_line):
            yield told.custom_id, _said(told.result)

    async def cancel(self, batch_id: str) -> None:
        """Ask the provider to stop."""
        self._read(await self._http.post(self._url / batch_id / "cancel", b""), _decode_batch)

    async def find(self, tag: BatchTag) -> str | Sighting | Candidate:
        """Look at every batch that is young enough, of the right size, and ours by its custom ids."""
        undecided = False
        unreadable: Candidate | None = None
        async for batch in self._behind(tag):
            if batch.id in tag.known or batch.request_counts.total != len(tag.custom_ids):
                continue
            if not batch.has_ended:
                undecided = True
            elif (ours := await self._holds(batch.id, tag)) is None:
                unreadable = unreadable or Candidate(batch.id)
            elif ours:
                return batch.id
        return Sighting.UNDECIDED if undecided else unreadable or Sighting.ABSENT

    async def _behind(self, tag: BatchTag) -> AsyncIterator[_Batch]:
        """The provider's list, newest first, as far back as the batch can stand in it."""
        url = self._url.with_query(limit=PAGE)
        while True:
            answer = await self._http.get(url)
            page = self._read(answer, _decode_page)
            for batch in page.data:
                if _utc(batch.created_at) < self._oldest(tag, answer):
                    return
                yield batch
            if not page.has_more or page.last_id is None:
                return
            url = self._url.with_query(limit=PAGE, after_id=page.last_id)

    async def _holds(self, batch_id: str, tag: BatchTag) -> bool | None:
        """Whether an ended batch is ours; None when not a line of its results can be read."""
        try:
            async for name, _ in self.collect(batch_id):
                return name in tag.custom_ids  # one is enough: they name our run and our batch
        except BackendError as error:
            if Trait.HOPELESS in traits_of(error.failure.kind, Operation.COLLECT):
                raise
        return None


def _utc(told: str) -> float:
    """When a batch was made; one that does not say it readably is taken to be young, and looked at."""
    try:
        return datetime.fromisoformat(told).timestamp()
    except ValueError:
        return float("inf")


def _said(result: _Result) -> Reply | Failure:
    """One result in our words."""
    if result.type == "succeeded":
        try:
            return reply_in(bytes(result.message))
        except BackendError as error:
            return error.failure
    if result.type in _NOT_EXECUTED:
        return Failure(kind=FailureKind.EXPIRED, message=_NOT_EXECUTED[result.type])
    outer = result.error or {}
    inner = outer.get("error")  # the cause stands one level deeper than one would think
    error_object = inner if isinstance(inner, dict) else outer
    kind, code = kind_of(error_object, 0)
    return Failure(kind=kind, message=str(error_object.get("message", "no explanation")), error_code=code)
