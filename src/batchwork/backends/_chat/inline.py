"""Batches of a service on OpenAI's wire that takes their requests inside of the call, and gives the results back so.

They have the model, the endpoint and no name. Such a batch cannot be cancelled.
"""

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from batchwork.backends._chat import ChatBackend, decode_line
from batchwork.backends._chat.files import ENDED, Counts, progress_of
from batchwork.backends._inline import InlineBackend
from batchwork.backends._wire import BatchPage, Stored, encode
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchProgress, BatchTag
from batchwork.core.reply import Reply
from batchwork.core.request import Request


class _Batch(Stored):
    status: str
    created_at: float | str | None = None
    request_counts: Counts | None = None
    results: list[msgspec.Raw] | None = None  # once it has ended; never in a list
    error: dict[str, Any] | None = None

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def total(self) -> int:
        return (self.request_counts or Counts()).total or 0


class InlineChatBackend(InlineBackend, ChatBackend):
    """One model of one service whose batches are made of requests inside of the call."""

    decode_batch = staticmethod(msgspec.json.Decoder(_Batch).decode)
    decode_page = staticmethod(msgspec.json.Decoder(BatchPage[_Batch]).decode)
    after = "after"

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        return super().batch_line(custom_id, request).rstrip()

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch; what all requests have in common must stand before them."""
        del tag
        head = encode({"endpoint": self._endpoint, "model": self._model})
        body = head[:-1] + b',"requests":[' + b",".join(lines) + b"]}"
        return self._created(await self._http.post(self._batches_url(), body))

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        """Where it stands; `failed` means that it was not even accepted."""
        batch: _Batch = await self._batch(batch_id)
        if batch.status == "failed" and not batch.results:
            message = str((batch.error or {}).get("message") or "the batch failed without an explanation")
            return BatchProgress(ended=True, failure=Failure(kind=FailureKind.REJECTED, message=message))
        return progress_of(batch.status, batch.request_counts, has_results=bool(batch.results))

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Its results; a line that cannot be read is an error after all others were given."""
        batch: _Batch = await self._batch(batch_id)
        problem: msgspec.DecodeError | None = None
        for raw in batch.results or ():
            try:
                line = decode_line(raw)
            except msgspec.DecodeError as error:
                problem = problem or error
                continue
            yield line.custom_id, self._line_result(line)
        if problem is not None:
            message = f"a result of batch {batch_id} cannot be read: {problem}"
            raise BackendError(Failure(kind=FailureKind.SERVER, message=message)) from problem

    async def cancel_batch(self, batch_id: str) -> None:
        """There is no such call."""
        problem = f"{self.traits.name} cancels no batches: {batch_id} goes on, and ends by itself"
        raise BackendError(Failure(kind=FailureKind.REJECTED, message=problem))
