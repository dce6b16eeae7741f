"""The addresses of the API, its error codes as `api.toml` lists them, and its one error shape.

An HTTP error looks like an answer that failed: `status`, `response`, `error`, `error_code` and `retryable` mean
the same in both, so that a caller reads one shape. `where` is the place in the body, `request_id` finds the log line.
"""

import secrets
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import msgspec

VERSION = version("batchwork")
Headers = Iterable[tuple[bytes, bytes]]


class Route(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One address: what it takes, what it answers, which errors it knows."""

    path: str
    method: str
    summary: str
    answer: str  # what a 200 means
    content: dict[str, list[str]]  # by media type the names of the schemas, one of which the body has
    errors: list[str] = []
    body: str | None = None  # the name of the schema it takes
    example: str | None = None  # a body, as JSON
    needs_key: bool = True


class Api(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it. An error code has an HTTP status, whether asking again may help, and a meaning."""

    routes: dict[str, Route]
    errors: dict[str, tuple[int, bool, str]]


API = msgspec.toml.decode(Path(__file__).with_name("api.toml").read_bytes(), type=Api)


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
        retryable: bool | None = None,
        retry_after_s: float | None = None,
        allow: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.where = where
        self.status, usually, _ = API.errors[code]
        self.retryable = usually if retryable is None else retryable
        self.headers: list[tuple[bytes, bytes]] = []
        if retry_after_s is not None:
            self.headers.append((b"retry-after", b"%d" % (int(retry_after_s) + 1)))
        if allow is not None:  # the methods there are, where the method is what is wrong
            self.headers.append((b"allow", allow.encode()))
        if self.status == HTTPStatus.UNAUTHORIZED:
            self.headers.append((b"www-authenticate", b"X-API-Key"))

    def body(self, request_id: str) -> bytes:
        """What is sent."""
        error, code, retryable = str(self), self.code, self.retryable
        return msgspec.json.encode(
            ErrorBody(error=error, error_code=code, retryable=retryable, where=self.where, request_id=request_id)
        )


def page_headers(policy: str, **texts: str) -> Headers:
    """The headers of a page of ours; `{name}` in its policy stands for the hash of the text of this name."""
    hashes = {name: f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for name, text in texts.items()}
    return [
        (b"content-security-policy", policy.format(**hashes).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]


def raw_response(code: str, message: str) -> bytes:
    """A whole HTTP response for a connection whose request nobody has seen."""
    error, own_id = ApiError(code, message), secrets.token_hex(8)
    body = error.body(own_id)
    again = "retry-after: 1\r\n" if error.status == HTTPStatus.SERVICE_UNAVAILABLE else ""
    head = (
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nx-request-id: {own_id}\r\ncache-control: no-store\r\nconnection: close\r\n"
    )
    return f"{head}{again}\r\n".encode() + body
