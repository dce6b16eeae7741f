"""Gemini's batches as it tells of them: a long-running operation, a file of results, or results inside of it.

Decides what the state of a batch means. Counts are 64-bit numbers, which Google writes as texts; the state's prefix
differs between the API and its libraries; a batch that expires, or fails as a whole, has no results at all.
"""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

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


class InlineResult(Struct):
    """The result of one request of a batch, named by what its maker gave it as `key`."""

    metadata: dict[str, Any] | None = None
    response: msgspec.Raw = msgspec.Raw(b"")
    error: dict[str, Any] | None = None


class _InlineResults(Struct, rename="camel"):
    inlined_responses: list[InlineResult] = []


class Output(Struct, rename="camel"):
    """Where the results are: a file, or here."""

    responses_file: str | None = None
    inlined_responses: _InlineResults | None = None


class _Metadata(Struct, rename="camel"):
    state: str = ""
    display_name: str = ""
    create_time: str = ""
    batch_stats: Stats | None = None
    output: Output | None = None


class Operation(Struct):
    """One batch."""

    name: str
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    done: bool = False
    response: Output | None = None
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
    def created_at(self) -> float | None:
        """When it was made; None when it does not say it readably."""
        try:
            return datetime.fromisoformat(self.metadata.create_time).timestamp()
        except ValueError:
            return None

    @property
    def output(self) -> Output | None:
        """Where its results are; None where there are none."""
        for held in (self.metadata.output, self.response):
            if held is not None and (held.responses_file or held.inlined_responses is not None):
                return held
        return None


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
        created = batch.created_at
        expires_at = None if created is None else created + WINDOW_S + ahead_s
        return BatchProgress(ended=False, total=total, done=done, expires_at=expires_at)
    late = _NOT_EXECUTED.get(state)
    not_executed = None if late is None else Failure(kind=FailureKind.EXPIRED, message=late)
    if batch.output is not None or (state in ("SUCCEEDED", "PARTIALLY_SUCCEEDED") and batch.error is None):
        return BatchProgress(ended=True, total=total, done=done, unlisted=not_executed)
    if stats.successful_request_count:
        problem = f"the batch ended as {state} without results, {stats.successful_request_count} of which it had made"
        failure = Failure(kind=FailureKind.RESULT_LOST, message=f"{problem}: they may be billed", unconfirmed=True)
        return BatchProgress(ended=True, failure=failure, total=total)
    return BatchProgress(ended=True, failure=not_executed or _refusal(batch), total=total)


def _refusal(batch: Operation) -> Failure:
    error = batch.error or {}
    kind, code = kind_of(error, 0)
    message = str(error.get("message") or f"the batch ended as {batch.state or 'failed'} without an explanation")
    return Failure(kind=kind if error else FailureKind.REJECTED, message=message, error_code=code)


def failure_of(error: dict[str, Any]) -> Failure:
    """Why one request of a batch failed."""
    kind, code = kind_of(error, 0)
    return Failure(kind=kind, message=str(error.get("message") or "no explanation"), error_code=code)
