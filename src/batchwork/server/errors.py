"""The one error shape of the API, and every code in it.

An HTTP error looks like an answer that failed: `status`, `response`, `error`, `error_code` and `retryable` mean
the same in both, so that a caller reads one shape. `where` is the place in the body, `request_id` finds the log line.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Literal

import msgspec

HTTP_CODES: dict[str, tuple[int, bool, str]] = {
    "invalid_json": (400, False, "the body is not JSON, or not Unicode, or nested too deeply"),
    "invalid_request": (422, False, "the body is JSON, but not a request"),
    "prompt_count": (422, False, "fewer than 1 or more than 1000 prompts"),
    "duplicate_id": (422, False, "two prompts of one request have the same id"),
    "invalid_schema": (422, False, "the JSON schema cannot be used; `where` names the place"),
    "invalid_path": (422, False, "extract_field_path cannot be understood"),
    "unknown_model": (422, False, "the model is not served here"),
    "missing_api_key": (401, False, "no X-API-Key header"),
    "wrong_api_key": (401, False, "the key in X-API-Key is not known"),
    "over_budget": (402, True, "the day's budget does not cover the request; Retry-After is the next day"),
    "wrong_host": (403, False, "without a key the server answers to loopback names only"),
    "not_found": (404, False, "no such address"),
    "method_not_allowed": (405, False, "the address has another method"),
    "not_acceptable": (406, False, "the Accept header takes neither JSON nor newline-delimited JSON"),
    "invalid_http": (400, False, "what arrived is no HTTP request, or its body comes in crumbs"),
    "request_timeout": (408, True, "the request did not arrive in time"),
    "body_too_large": (413, False, "more bytes than the server takes"),
    "unsupported_media_type": (415, False, "the body must be application/json"),
    "internal_error": (500, False, "a defect of the server; the request id finds it in the log"),
    "storage_failed": (503, True, "the day's book could not be written, so nothing may be spent"),
    "too_busy": (503, True, "too many connections, requests or prompts are open already, in all or of this key"),
    "shutting_down": (503, True, "the server is about to end"),
}


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
        self, code: str, message: str, *, where: str | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.retry_after_s = retry_after_s
        self.allow: str | None = None  # the methods there are, where the method is what is wrong
        self.status, self.retryable, _ = HTTP_CODES[code]

    def body(self, request_id: str) -> bytes:
        """What is sent."""
        return msgspec.json.encode(
            ErrorBody(
                error=self.message,
                error_code=self.code,
                retryable=self.retryable,
                where=self.where,
                request_id=request_id,
            )
        )


def refusal(code: str, message: str) -> bytes:
    """A whole HTTP answer for a connection whose request nobody has seen."""
    error = ApiError(code, message)
    own_id = secrets.token_hex(8)
    body = error.body(own_id)
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nx-request-id: {own_id}\r\ncache-control: no-store\r\nconnection: close\r\n"
    )
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        head += "retry-after: 1\r\n"
    return f"{head}\r\n".encode() + body
