"""Takes every HTTP request: gives it an id, checks its key, finds its handler, logs it. Errors leave in one shape.

Plain ASGI. Bodies are decoded by our own strict decoders and answers are sent at the reader's pace, so that a web
framework would have nothing left to do here.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from batchwork.clock import stopwatch
from batchwork.core.errors import JournalWriteError
from batchwork.server.api import API
from batchwork.server.config import ServerConfig, is_loopback
from batchwork.server.errors import ApiError
from batchwork.server.keys import caller
from batchwork.server.logs import log, log_defect, request_id
from batchwork.server.metrics import ServerMetrics
from batchwork.server.protocol import CROWDED
from batchwork.server.spans import request_span

DOCS = "/docs"
JSON = "application/json"
_OPEN = frozenset(route.path for route in API.routes.values() if not route.needs_key)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_CLIENT_LEFT = 499  # in the log alone: nobody is there to be answered
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Exchange:
    """One HTTP request and its response: its id, its caller, and what the log says about it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}
        self.receive = receive
        self._send = send
        own = self.headers.get("x-request-id", "")
        self.id = own if _ID.fullmatch(own) else secrets.token_hex(8)
        self.is_crowded = bool(scope.get("state", {}).get(CROWDED))
        self.caller: int | None = None  # the number of its key
        self.status = _CLIENT_LEFT
        self.started = False
        self.log_fields: dict[str, Any] = {}

    async def respond(
        self, body: bytes, content_type: str = JSON, *, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()
    ) -> None:
        """Send a whole response at once."""
        await self.start(content_type, status=status, headers=[(b"content-length", b"%d" % len(body)), *headers])
        await self.send(body, more=False)

    async def start(self, content_type: str, *, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        """Send the head of a response."""
        self.started = True
        self.status = status
        own = [(b"content-type", content_type.encode()), (b"x-request-id", self.id.encode())]
        head = [*own, (b"cache-control", b"no-store"), *headers]
        await self._send({"type": "http.response.start", "status": status, "headers": head})

    async def send(self, body: bytes, *, more: bool = True) -> None:
        """Send a part of the response's body; waits until the reader has read enough of what was sent before."""
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def refuse(self, error: ApiError) -> None:
        """Respond with an error of the one shape, unless a response has begun."""
        self.log_fields["error_code"] = error.code
        if self.started:
            return
        headers: list[tuple[bytes, bytes]] = []
        if error.retry_after_s is not None:
            headers.append((b"retry-after", b"%d" % (int(error.retry_after_s) + 1)))
        if error.allow is not None:
            headers.append((b"allow", error.allow.encode()))
        if error.status == 401:
            headers.append((b"www-authenticate", b"X-API-Key"))
        await self.respond(error.body(self.id), status=error.status, headers=headers)


Handler = Callable[[Exchange], Awaitable[None]]


class Dispatcher:
    """The ASGI application. `handlers` has a method and a handler for every path."""

    def __init__(
        self, handlers: Mapping[str, tuple[str, Handler]], *, config: ServerConfig, metrics: ServerMetrics
    ) -> None:
        self._handlers = handlers
        self._config = config
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":  # there is nothing else here: a web socket is closed again
            await send({"type": "websocket.close", "code": 1000})
            return
        exchange = Exchange(scope, receive, send)
        request_id.set(exchange.id)
        elapsed = stopwatch()
        # Whoever invents addresses and methods must not make the numbers and the names of spans grow.
        route = exchange.path if exchange.path in self._handlers else "other"
        method = exchange.method if exchange.method in _METHODS else "other"
        try:
            with request_span(method, route, exchange.id):
                await self._handle(exchange)
        finally:
            self._metrics.http(route, method, exchange.status, elapsed())
            if route not in _OPEN:
                log("request", route=route, method=method, status=exchange.status, s=elapsed(), **exchange.log_fields)

    async def _handle(self, exchange: Exchange) -> None:
        try:
            exchange.caller = self._check_key(exchange)
            caller.set(exchange.caller)
            if exchange.is_crowded and exchange.path not in _OPEN:
                raise ApiError("too_busy", "there are too many connections; ask again in a moment", retry_after_s=1.0)
            await self._handler(exchange)(exchange)
        except Exception as error:  # the process edge: logged with its request, answered, and the server goes on
            await exchange.refuse(api_error(error))

    def _handler(self, exchange: Exchange) -> Handler:
        if exchange.path not in self._handlers:
            raise ApiError("not_found", "there is nothing at this address; /docs lists what there is")
        method, handler = self._handlers[exchange.path]
        methods = ("GET", "HEAD") if method == "GET" else (method,)
        if exchange.method not in methods:
            raise ApiError("method_not_allowed", "this address has another method", allow=", ".join(methods))
        return handler

    def _check_key(self, exchange: Exchange) -> int | None:
        """The number of the caller's key; None where none is needed.

        Raises:
            ApiError: there is no key, or an unknown one.
        """
        headers, keys = exchange.headers, self._config.keys
        if exchange.path in _OPEN:
            return None
        if not keys:
            # A page in a browser can reach loopback under a name of its own: only our own names are answered.
            if not is_loopback(re.sub(r":\d*$", "", headers.get("host", ""))):
                raise ApiError("wrong_host", "without an API key the server answers to localhost and 127.0.0.1 only")
            return None
        if exchange.path == DOCS:  # a browser that opens a page shows no key; the page asks for it
            return None
        key = headers.get("x-api-key")
        if key is None and (bearer := headers.get("authorization", "")).lower().startswith("bearer "):
            key = bearer[7:].strip()
        if key is None:
            raise ApiError("missing_api_key", "the header X-API-Key is missing")
        number = keys.number_of(key)
        if number is None:
            raise ApiError("wrong_api_key", "the key in X-API-Key is not known")
        return number


def api_error(error: Exception) -> ApiError:
    """The error that a caller gets for what went wrong; the log has the rest."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, JournalWriteError):
        log("storage failed", detail=str(error))
        return ApiError("storage_failed", "the day's book cannot be written, so nothing may be spent; the log says why")
    log_defect("defect", kind=type(error).__name__)
    return ApiError("internal_error", "a defect of the server; the request id finds it")
