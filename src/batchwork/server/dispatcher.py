"""Takes every HTTP request: checks its key, finds its handler, counts and logs it. Errors leave in one shape."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from batchwork.clock import stopwatch
from batchwork.core.errors import JournalWriteError
from batchwork.server.api import API, ApiError
from batchwork.server.config import ServerConfig, is_loopback
from batchwork.server.day_page import SIGN_IN
from batchwork.server.exchange import Exchange, Receive, Scope, Send
from batchwork.server.keys import caller
from batchwork.server.logs import log, log_defect, request_id
from batchwork.server.metrics import ServerMetrics
from batchwork.server.spans import request_span

Handler = Callable[[Exchange], Awaitable[None]]
DOCS = "/docs"
_OPEN = frozenset(route.path for route in API.routes.values() if not route.needs_key)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """The ASGI application."""

    handlers: Mapping[str, tuple[str, Handler]]  # a method and a handler for every path
    config: ServerConfig
    metrics: ServerMetrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":  # there is nothing else here: a web socket is closed again
            await send({"type": "websocket.close", "code": 1000})
            return
        exchange = Exchange(scope, receive, send)
        request_id.set(exchange.id)
        elapsed = stopwatch()
        # Whoever invents addresses and methods must not make the numbers and the names of spans grow.
        route = exchange.path if exchange.path in self.handlers else "other"
        method = exchange.method if exchange.method in _METHODS else "other"
        try:
            with request_span(method, route, exchange.id):
                await self._handle(exchange)
        finally:
            self.metrics.http(route, method, exchange.status, elapsed())
            if route not in _OPEN:
                log("request", route=route, method=method, status=exchange.status, s=elapsed(), **exchange.log_fields)

    async def _handle(self, exchange: Exchange) -> None:
        try:
            exchange.caller = self._check_key(exchange)
            caller.set(exchange.caller)
            if exchange.is_crowded and exchange.path not in _OPEN:
                raise ApiError("too_busy", "there are too many connections; ask again in a moment", retry_after_s=1.0)
            await self._handler(exchange)(exchange)
        except asyncio.CancelledError:  # the process edge: the server leaves, and nobody waits for this task
            exchange.cut_off("shutting_down")
        except Exception as error:  # the process edge: logged with its request, answered, and the server goes on
            await exchange.refuse(api_error(error))

    def _handler(self, exchange: Exchange) -> Handler:
        if exchange.path not in self.handlers:
            raise ApiError("not_found", "there is nothing at this address; /docs lists what there is")
        method, handler = self.handlers[exchange.path]
        methods = ("GET", "HEAD") if method == "GET" else (method,)
        if exchange.method not in methods:
            allowed = " or ".join(methods)
            raise ApiError("method_not_allowed", f"this address takes {allowed} alone", allow=", ".join(methods))
        return handler

    def _check_key(self, exchange: Exchange) -> int | None:
        """The number of the caller's key; None where none is needed. Raises ApiError where it is missing or wrong."""
        headers, keys = exchange.headers, self.config.keys
        if exchange.path in _OPEN:
            return None
        if not keys:
            # A page in a browser can reach loopback under a name of its own: only our own names are answered.
            check_host(exchange)
            return None
        if exchange.path in (DOCS, SIGN_IN):  # a browser that opens a page shows no key; the page asks for it
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


def check_host(exchange: Exchange) -> None:
    """Refuse a request under another name than this machine's, where no key is asked for. Raises ApiError."""
    if not is_loopback(re.sub(r":\d*$", "", exchange.headers.get("host", ""))):
        raise ApiError("wrong_host", "without an API key the server answers to localhost and 127.0.0.1 only")


def api_error(error: Exception) -> ApiError:
    """The error that a caller gets for what went wrong; the log has the rest."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, JournalWriteError):
        log("storage failed", detail=str(error))
        return ApiError("storage_failed", "the day's book cannot be written, so nothing may be spent; the log says why")
    log_defect("defect", kind=type(error).__name__)
    return ApiError("internal_error", "a defect of the server; the request id finds it")
