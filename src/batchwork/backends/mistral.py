"""Mistral's models: live calls on OpenAI's wire, as its row in the table says, and batches by an API of its own.

The results of a batch can be had for 24 hours after its end.
"""

from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends import Setup
from batchwork.backends._chat import ChatBackend
from batchwork.backends._chat import embeddings as chat_embeddings
from batchwork.backends._chat import service as chat_service
from batchwork.backends._chat.files import METADATA, FileChatBackend
from batchwork.backends._headers import ahead_s, moment
from batchwork.backends._wire import Stored, encode, ended_batch, file_for, no_results
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchProgress, BatchTag, Sighting, Traits

_SERVICE = "mistral"
_TIMEOUT_HOURS = 24
_PAGE = 100
_RUNNING = frozenset({"QUEUED", "RUNNING", "CANCELLATION_REQUESTED"})
_NOT_EXECUTED = {
    "TIMEOUT_EXCEEDED": "the batch timed out before its turn",
    "CANCELLED": "the batch was cancelled before its turn",
}


class _Problem(Struct):
    message: str = ""
    count: int = 1


class _Job(Stored):
    status: str
    created_at: float | str | None = None
    input_files: tuple[str, ...] | None = None
    output_file: str | Stored | None = None
    error_file: str | Stored | None = None
    errors: tuple[_Problem, ...] = ()
    metadata: dict[str, Any] | None = None
    total_requests: int | None = None
    completed_requests: int = 0
    succeeded_requests: int = 0
    failed_requests: int = 0

    @property
    def output_file_id(self) -> str | None:
        return _id(self.output_file)

    @property
    def error_file_id(self) -> str | None:
        return _id(self.error_file)


class _JobPage(Struct):
    data: list[_Job] | None = None


_decode_page = msgspec.json.Decoder(_JobPage).decode


class MistralBackend(FileChatBackend):
    """One Mistral model. A batch keeps metadata and the file it was made of, so it is found by either."""

    batches_path = "batch/jobs"
    decode_batch = msgspec.json.Decoder(_Job).decode

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        file_id = await file_for(self.upload_batch, lines, tag)
        body = {
            "endpoint": self._endpoint,
            "model": self._model,
            "input_files": [file_id],
            "metadata": {METADATA: tag.name},
            "timeout_hours": _TIMEOUT_HOURS,
        }
        return self._created(await self._http.post(self._batches_url(), encode(body)))

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        return _progress(await self._batch(batch_id))

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        """Look for its file, or for the name we gave it, as far back as it can be; a page may come twice."""
        url, number, seen = self._batches_url().update_query(page_size=_PAGE, order_by="-created"), 0, set[str]()
        while True:
            answer = await self._http.get(url.update_query(page=number))
            jobs = self._read(answer, _decode_page).data or []
            oldest = tag.intended_at - ahead_s(answer.headers, self._clock.utc()) - tag.slack_s
            for job in jobs:
                if (tag.file_id is not None and tag.file_id in (job.input_files or ())) or (
                    (job.metadata or {}).get(METADATA) == tag.name
                ):
                    return job.id
            new = {job.id for job in jobs} - seen  # a server that knows no pages gives the same one again and again
            if not new or all((made_at := moment(job.created_at)) is not None and made_at < oldest for job in jobs):
                return Sighting.ABSENT
            seen |= new
            number += 1


class MistralEmbedder(chat_embeddings.EmbeddingsBackend, MistralBackend):
    """One Mistral model that makes embeddings: its calls are OpenAI's, its batches Mistral's."""


def _progress(job: _Job) -> BatchProgress:
    done = max(job.completed_requests, job.succeeded_requests + job.failed_requests)
    total = None if not job.total_requests else max(job.total_requests, done)
    if job.status in _RUNNING:
        return BatchProgress(ended=False, total=total, done=done)
    late = _NOT_EXECUTED.get(job.status)
    if job.status == "SUCCESS" or job.output_file is not None or job.error_file is not None:
        return ended_batch(total=total, done=done, late=late)
    told = "; ".join(problem.message for problem in job.errors[:3] if problem.message)
    refusal = Failure(kind=FailureKind.REJECTED, message=told or f"the batch ended as {job.status}")
    return no_results(job.status, job.succeeded_requests, total=total, late=late, refusal=refusal)


def _id(file: str | Stored | None) -> str | None:
    """The id of a file; some servers tell the file itself."""
    return file.id if isinstance(file, Stored) else file


def describe(name: str, base_url: str | None) -> Traits:
    """What is known before it is opened."""
    return chat_service.describe(_SERVICE, name, base_url)


def open_backend(name: str, setup: Setup) -> ChatBackend:
    """The backend for one Mistral model."""
    return chat_service.open_backend(_SERVICE, name, setup, kind=MistralBackend)


def open_embedder(name: str, setup: Setup) -> chat_embeddings.EmbeddingsBackend:
    """The backend that makes embeddings with one Mistral model."""
    return chat_embeddings.open_embedder(_SERVICE, name, setup, kind=MistralEmbedder)
