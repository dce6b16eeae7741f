"""The one error shape of the API.

An HTTP error looks like an answer that failed: `status`, `response`, `error`, `error_code` and `retryable` mean
the same in both, so that a caller reads one shape. `where` is the place in the body, `request_id` finds the log line.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Literal

import msgspec

from batchwork.server.api import API


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """An HTTP error."""

    status: Literal["error"] = "error"
    response: None = None
    error: str
    error_code: str
    retryable: bool
    where: str | None = None
    request_id: str


class ApiError(Exception):
    """Ends a request with an HTTP error of the documented shape."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        where: str | None = None,
        retry_after_s: float | None = None,
        allow: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.where = where
        self.retry_after_s = retry_after_s
        self.allow = allow  # the methods there are, where the method is what is wrong
        self.status, self.retryable, _ = API.errors[code]

    def body(self, request_id: str) -> bytes:
        """What is sent."""
        shape = ErrorBody(
            error=str(self),
            error_code=self.code,
            retryable=self.retryable,
            where=self.where,
            request_id=request_id,
        )
        return msgspec.json.encode(shape)


def raw_response(code: str, message: str) -> bytes:
    """A whole HTTP response for a connection whose request nobody has seen."""
    error, own_id = ApiError(code, message), secrets.token_hex(8)
    body = error.body(own_id)
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nx-request-id: {own_id}\r\ncache-control: no-store\r\nconnection: close\r\n"
    )
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        head += "retry-after: 1\r\n"
    return f"{head}\r\n".encode() + body
