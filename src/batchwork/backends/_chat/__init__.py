"""The wire of OpenAI's chat completions, which a dozen services speak: what differs between them is a row's.

Batches are `files`' and `inline`'s: of an uploaded file, or of requests inside of the call.
"""

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
from batchwork.core.providers import Batches, Provider
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_NOT_EXECUTED = frozenset({"batch_expired", "batch_cancelled"})


class _Response(Struct):
    status_code: int
    body: msgspec.Raw
    request_id: str | None = None


class ResultLine(Struct):
    """What became of one request of a batch."""

    custom_id: str
    response: _Response | None = None
    error: dict[str, Any] | None = None


decode_line = msgspec.json.Decoder(ResultLine).decode


class ChatBackend(WireBackend):
    """One model of one service that speaks chat completions, for single calls; and what all its batches have."""

    path = "chat/completions"
    batches_path = "batches"
    reply_in = staticmethod(reply_in)
    kind_of = staticmethod(kind_of)
    limit_headers = OPENAI_LIMITS
    request_id_header = istr("x-request-id")

    def __init__(
        self, model: str, build: Callable[[Request], dict[str, Any]], traits: Traits, setup: Setup, row: Provider
    ) -> None:
        self._row = row
        self._files = row.batch or Batches()
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

    def _line_result(self, line: ResultLine) -> Reply | Failure:
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
