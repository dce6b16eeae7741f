"""Gemini's batches as it tells of them: a long-running operation, and a file of results.

Decides what the state of a batch means. Counts are 64-bit numbers, which Google writes as texts; the state's prefix
differs between the API and its libraries; a batch that expires, or fails as a whole, has no results at all.
"""

from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._headers import moment
from batchwork.backends._wire import ended_batch, no_results
from batchwork.backends.gemini.reply import kind_of
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchProgress

WINDOW_S = 48 * 3600.0
_RUNNING = frozenset({"", "UNSPECIFIED", "PENDING", "QUEUED", "RUNNING", "CANCELLING"})
_NOT_EXECUTED = {
    "EXPIRED": "the batch expired before its turn",
    "CANCELLED": "the batch was cancelled before its turn",
}


class Stats(Struct, rename="camel"):
    """The counts of a batch."""

    request_count: int | None = None
    successful_request_count: int = 0
    failed_request_count: int = 0


class _Output(Struct, rename="camel"):
    responses_file: str | None = None


class _Metadata(Struct, rename="camel"):
    state: str = ""
    display_name: str = ""
    create_time: str = ""
    batch_stats: Stats | None = None
    output: _Output | None = None


class Operation(Struct):
    """One batch."""

    name: str
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    done: bool = False
    response: _Output | None = None
    error: dict[str, Any] | None = None

    @property
    def id(self) -> str:
        """Its name, by which it is asked for."""
        return self.name

    @property
    def state(self) -> str:
        """Where it stands, without the prefix."""
        return self.metadata.state.rpartition("_STATE_")[2]

    @property
    def results_file(self) -> str | None:
        """Where its results are; None where there are none."""
        files = (held.responses_file for held in (self.metadata.output, self.response) if held is not None)
        return next(filter(None, files), None)


class OperationPage(Struct, rename="camel"):
    """One page of the list of batches."""

    operations: list[Operation] = []
    next_page_token: str = ""


class ResultLine(Struct):
    """One line of a file of results."""

    key: str
    response: msgspec.Raw = msgspec.Raw(b"")
    error: dict[str, Any] | None = None


decode_operation = msgspec.json.Decoder(Operation, strict=False).decode
decode_page = msgspec.json.Decoder(OperationPage, strict=False).decode
decode_line = msgspec.json.Decoder(ResultLine).decode


def progress_of(batch: Operation, ahead_s: float = 0.0) -> BatchProgress:
    """Where a batch stands; our clock is `ahead_s` ahead of its provider's."""
    state, stats = batch.state, batch.metadata.batch_stats or Stats()
    done = stats.successful_request_count + stats.failed_request_count
    total = None if stats.request_count is None else max(stats.request_count, done)
    if state in _RUNNING and not batch.done:
        created = moment(batch.metadata.create_time)
        expires_at = None if created is None else created + WINDOW_S + ahead_s
        return BatchProgress(ended=False, total=total, done=done, expires_at=expires_at)
    late = _NOT_EXECUTED.get(state)
    if batch.results_file is not None or (state in ("SUCCEEDED", "PARTIALLY_SUCCEEDED") and batch.error is None):
        return ended_batch(total=total, done=done, late=late)
    return no_results(state, stats.successful_request_count, total=total, late=late, refusal=_refusal(batch))


def _refusal(batch: Operation) -> Failure:
    error = batch.error or {}
    kind, code = kind_of(error, 0)
    message = str(error.get("message") or f"the batch ended as {batch.state or 'failed'} without an explanation")
    return Failure(kind=kind if error else FailureKind.REJECTED, message=message, error_code=code)


def failure_of(error: dict[str, Any]) -> Failure:
    """Why one request of a batch failed."""
    kind, code = kind_of(error, 0)
    return Failure(kind=kind, message=str(error.get("message") or "no explanation"), error_code=code)
