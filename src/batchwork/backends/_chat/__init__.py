"""The wire of OpenAI's chat completions, which a dozen services speak: what differs between them is a row's."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from msgspec import Struct
from multidict import istr

from batchwork.backends import Setup
from batchwork.backends._chat.reply import kind_of, reply_in
from batchwork.backends._failures import error_in, lost_result
from batchwork.backends._headers import OPENAI_LIMITS, moment
from batchwork.backends._http import endpoint
from batchwork.backends._transport import HttpAnswer
from batchwork.backends._wire import BatchPage, Stored, WireBackend, encode, file_for
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchProgress, BatchTag, Sighting, Traits
from batchwork.core.providers import FileBatches, Provider
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
_LATE = {
    "expired": "the batch expired before its turn",
    "cancelled": "the batch was cancelled before its turn",
}
_NOT_EXECUTED = frozenset({"batch_expired", "batch_cancelled"})
METADATA = "batchwork"


class _Problem(Struct):
    code: str | None = None
    message: str | None = None
    line: int | None = None


class _Problems(Struct):
    data: list[_Problem] = []


class _Counts(Struct):
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
    request_counts: _Counts | None = None


class _Response(Struct):
    status_code: int
    body: msgspec.Raw
    request_id: str | None = None


class _Line(Struct):
    custom_id: str
    response: _Response | None = None
    error: dict[str, Any] | None = None


class _Created(Struct):
    id: str | None = None
    job: Stored | None = None  # some put it into an envelope


_decode_list = msgspec.json.Decoder(BatchPage[_Batch] | list[_Batch]).decode
_decode_created = msgspec.json.Decoder(_Created).decode
_decode_file = msgspec.json.Decoder(Stored).decode
_decode_line = msgspec.json.Decoder(_Line).decode


class ChatBackend(WireBackend):
    """One model of one service that speaks chat completions, for single calls and for batches.

    A batch is made of an uploaded file and leaves two files of results. The file is its identity: one whose creation
    has an unknown outcome is found by its file, and by the name we gave it where batches keep names.
    """

    path = "chat/completions"
    batches_path = "batches"
    decode_batch: Callable[[bytes], Any] = msgspec.json.Decoder(_Batch).decode
    reply_in = staticmethod(reply_in)
    kind_of = staticmethod(kind_of)
    limit_headers = OPENAI_LIMITS
    request_id_header = istr("x-request-id")

    def __init__(
        self, model: str, build: Callable[[Request], dict[str, Any]], traits: Traits, setup: Setup, row: Provider
    ) -> None:
        self._row = row
        self._files = row.batch or FileBatches()
        self.path = row.path.format(model=model)
        self.limit_headers = OPENAI_LIMITS.only(row.minute_limits)
        self.batch_limits = BatchLimits(max_requests=self._files.max_requests, max_bytes=self._files.max_bytes)
        self._endpoint = f"{self._files.endpoints}/chat/completions"
        self._batch_params: dict[str, Any] = {"model": model}
        super().__init__(model, build, traits, setup, row.auth)

    def _failure(self, answer: HttpAnswer, *, model: str | None = None) -> Failure:
        return self._charged(super()._failure(answer, model=model))

    def _charged(self, failure: Failure) -> Failure:
        """The same failure; one that the service charges for, at a price that it does not tell, is unconfirmed."""
        is_charged = failure.error_code in self._row.billed
        return msgspec.structs.replace(failure, unconfirmed=True) if is_charged else failure

    def not_found_hint(self, model: str | None) -> str:
        if model is None:
            return "is the base_url right?"
        return super().not_found_hint(model) or f"is the model {model!r} right, and the base_url?"

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        """One line of the input file."""
        body = self._line_body(request)
        line: dict[str, Any] = {"custom_id": custom_id, "body": body}
        if self._files.line == "call":
            line = {"custom_id": custom_id, "method": "POST", "url": self._endpoint, "body": body}
        return encode(line) + b"\n"

    def _line_body(self, request: Request) -> dict[str, Any]:
        """What a line asks; what all lines have in common may be the batch's to say."""
        body = self._build(request)
        if self._files.model_in != "body":
            body.pop("model", None)
        return body

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
        counts = batch.request_counts or _Counts()
        late = _LATE.get(batch.status.lower())
        # What ran is in a file, or counted: without either, what no file tells of was not executed.
        nothing_ran = late is not None and not batch.output_file_id and counts.completed == 0
        unlisted = Failure(kind=FailureKind.EXPIRED, message=late or "") if nothing_ran else None
        return BatchProgress(ended=batch.status.lower() in _ENDED, total=counts.total, unlisted=unlisted)

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Its answers and its errors, which stand in two files; what is wrong with one does not hide the other."""
        batch: _Batch = await self._batch(batch_id)
        problem: BackendError | None = None
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            try:
                url = endpoint(self._base_url, f"files/{file_id}/content")
                async for line in self._lines(url, _decode_line):
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

    def _line_result(self, line: _Line) -> Reply | Failure:
        """One line of either file in our words."""
        response, error = line.response, line.error or {}
        if response is None and not error:
            return lost_result("its line holds neither a response nor an error")
        if response is not None and response.status_code < 400:
            return self._result(response.body, response.request_id)
        if error.get("code") in _NOT_EXECUTED:
            return Failure(kind=FailureKind.EXPIRED, message=str(error.get("message") or error["code"]))
        status = None
        if response is not None:
            status, error = response.status_code, error_in(bytes(response.body))
        kind, code = self.kind_of(error, status or 500)
        message = str(error.get("message") or "no explanation")
        return self._charged(Failure(kind=kind, message=message, status=status or None, error_code=code))


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
