"""Batches on OpenAI's wire: an uploaded file of requests, and two files of results."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._chat import ChatBackend, decode_line
from batchwork.backends._headers import moment
from batchwork.backends._http import endpoint
from batchwork.backends._transport import HttpAnswer
from batchwork.backends._wire import BatchPage, Stored, encode, file_for
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchProgress, BatchTag, Sighting
from batchwork.core.reply import Reply

ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
_LATE = {
    "expired": "the batch expired before its turn",
    "cancelled": "the batch was cancelled before its turn",
}
METADATA = "batchwork"


class _Problem(Struct):
    code: str | None = None
    message: str | None = None
    line: int | None = None


class _Problems(Struct):
    data: list[_Problem] = []


class Counts(Struct):
    """How many requests a batch has, and how many of them have an answer."""

    total: int | None = None
    completed: int | None = None


class _Batch(Stored):
    status: str
    created_at: float | str | None = None
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Problems | None = None
    metadata: dict[str, Any] | None = None  # of others as well: theirs need not be texts
    request_counts: Counts | None = None


class _Created(Struct):
    id: str | None = None
    job: Stored | None = None  # some put it into an envelope


_decode_list = msgspec.json.Decoder(BatchPage[_Batch] | list[_Batch]).decode
_decode_created = msgspec.json.Decoder(_Created).decode
_decode_file = msgspec.json.Decoder(Stored).decode


class FileChatBackend(ChatBackend):
    """One model of one service whose batches are made of an uploaded file, and leave two files of results.

    The file is a batch's identity: one whose creation has an unknown outcome is found by its file, and by the name we
    gave it where batches keep names.
    """

    decode_batch: Callable[[bytes], Any] = msgspec.json.Decoder(_Batch).decode

    async def upload_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Upload the lines; an upload without a batch costs nothing."""
        form = {field: value.format(name=tag.name) for field, value in self._files.form.items()}
        url = endpoint(self._base_url, self._files.upload)
        answer = await self._http.upload(url, form, f"{tag.name}.jsonl", lines)
        return self._read(answer, _decode_file).id

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch of the file that the tag names; without one the lines are uploaded first."""
        file_id = await file_for(self.upload_batch, lines, tag)
        files = self._files
        body: dict[str, Any] = {
            "input_file_id": file_id,
            "endpoint": self._endpoint,
            "completion_window": files.window,
        }
        if files.metadata:
            body["metadata"] = {METADATA: tag.name}
        if files.model_in == "request_params":
            body["request_params"] = self._batch_params
        return self._created(await self._http.post(self._batches_url(), encode(body)))

    def _created(self, answer: HttpAnswer) -> str:
        created = self._read(answer, _decode_created, unconfirmed=True)
        batch_id = created.id or (created.job.id if created.job is not None else None)
        if batch_id is None:
            problem = "the answer names no batch"
            raise BackendError(Failure(kind=FailureKind.SERVER, message=problem, unconfirmed=True))
        return batch_id

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        """Where it stands; `failed` means that its file was not even accepted."""
        batch: _Batch = await self._batch(batch_id)
        if batch.status.lower() == "failed":
            return _refused(batch)
        return progress_of(batch.status.lower(), batch.request_counts, has_results=bool(batch.output_file_id))

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Its answers and its errors, which stand in two files; what is wrong with one does not hide the other."""
        batch: _Batch = await self._batch(batch_id)
        problem: BackendError | None = None
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            try:
                url = endpoint(self._base_url, f"files/{file_id}/content")
                async for line in self._lines(url, decode_line):
                    yield line.custom_id, self._line_result(line)
            except BackendError as error:
                problem = problem or error
        if problem is not None:
            raise problem

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        """Look for its file, or for the name we gave it, as far back as it can be.

        No batch is made before its file is on record. Only where there are names may one without a file be: journals of
        earlier releases keep none.
        """
        if tag.file_id is None and not self._files.metadata:
            return Sighting.ABSENT
        async for batch, oldest, _ in self._listed(_decode_page, "after", tag):
            if tag.file_id is not None and batch.input_file_id == tag.file_id:
                return batch.id
            if (batch.metadata or {}).get(METADATA) == tag.name:
                return batch.id
            if (made_at := moment(batch.created_at)) is not None and made_at < oldest:
                break
        return Sighting.ABSENT


def progress_of(status: str, counts: Counts | None, *, has_results: bool) -> BatchProgress:
    """Where a batch stands that was accepted."""
    counts, late = counts or Counts(), _LATE.get(status)
    # What ran has a result, or is counted: without either, what no result tells of was not executed.
    nothing_ran = late is not None and not has_results and counts.completed == 0
    unlisted = Failure(kind=FailureKind.EXPIRED, message=late or "") if nothing_ran else None
    return BatchProgress(ended=status in ENDED, total=counts.total, unlisted=unlisted)


def _decode_page(raw: bytes) -> BatchPage[_Batch]:
    """A page of the list of batches; some services have one page, a bare array."""
    page = _decode_list(raw)
    return BatchPage(data=page) if isinstance(page, list) else page


def _refused(batch: _Batch) -> BatchProgress:
    """Why a batch failed before anything ran, and for which of its lines."""
    problems = batch.errors.data if batch.errors is not None else []
    first = problems[0] if problems else _Problem(message="no explanation")
    bad_lines = tuple((problem.line, _refusal(problem)) for problem in problems if problem.line is not None)
    return BatchProgress(ended=True, failure=_refusal(first), bad_lines=bad_lines)


def _refusal(problem: _Problem) -> Failure:
    where = f" (line {problem.line})" if problem.line is not None else ""
    # The queue of enqueued tokens is full: it empties as other batches end.
    kind = FailureKind.RATE_LIMITED if problem.code == "token_limit_exceeded" else FailureKind.REJECTED
    return Failure(kind=kind, message=f"{problem.message or problem.code}{where}", error_code=problem.code)
