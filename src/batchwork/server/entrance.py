"""The entrance: every request gets an id, shows its key, and leaves a log line; every error leaves in one shape."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from batchwork.clock import stopwatch
from batchwork.core.errors import JournalWriteError
from batchwork.server.config import ServerConfig, is_loopback
from batchwork.server.errors import ApiError
from batchwork.server.logs import log, log_defect, request_id
from batchwork.server.measures import Measures
from batchwork.server.protocol import CROWDED
from batchwork.server.tracing import traced_request

_OPEN = frozenset({"/health", "/ready"})  # whoever watches over the server has no key
_KNOWN = frozenset({"/api/v1/prompt", "/api/v1/prompts", "/health", "/ready", "/metrics", "/docs", "/openapi.json"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
CLIENT_LEFT = 499  # in the log alone: nobody is there to be answered


class Entrance:
    """The outermost part of the application."""

    def __init__(self, app: FastAPI, *, config: ServerConfig, measures: Measures) -> None:
        self._app = app
        self._routes = app.router
        self._config = config
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":  # there is nothing else here: a web socket is closed again
            await send({"type": "websocket.close", "code": 1000})
            return
        scope["app"] = self._app
        headers = Headers(scope=scope)
        own = headers.get("x-request-id", "")
        visit = _Visit(own if _ID.fullmatch(own) else secrets.token_hex(8), send)
        scope.setdefault("state", {})["visit"] = visit
        token = request_id.set(visit.id)
        elapsed = stopwatch()
        # Whoever invents addresses and methods must not make the numbers and the names of spans grow.
        route = scope["path"] if scope["path"] in _KNOWN else "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        try:
            with traced_request(method, route, visit.id):
                await self._through(scope, receive, visit, headers)
        finally:
            self._measures.http(route, method, visit.status, elapsed())
            if route not in _OPEN:
                log("request", route=route, method=method, status=visit.status, s=elapsed(), **visit.facts)
            request_id.reset(token)
            del scope["state"]["visit"]  # it leads back to the scope, and the collector would have to find that out

    async def _through(self, scope: Scope, receive: Receive, visit: _Visit, headers: Headers) -> None:
        try:
            visit.caller = self._check_key(scope["path"], headers)
            if scope["state"].get(CROWDED) and scope["path"] not in _OPEN:
                raise ApiError("too_busy", "there are too many connections; ask again in a moment", retry_after_s=1.0)
            await self._routes(scope, receive, visit.send)
        except HTTPException as error:  # what the router itself refuses
            await visit.refuse(_in_our_words(error))
        except Exception as error:  # the process edge: logged with its request, answered, and the server goes on
            await visit.refuse(told_to_callers(error))

    def _check_key(self, path: str, headers: Headers) -> int | None:
        """Which key the caller has; None where none is asked for.

        Raises:
            ApiError: it has none that opens the door.
        """
        if path in _OPEN:
            return None
        if not self._config.keys:
            # A page in a browser can reach loopback under a name of its own: only our own names are answered.
            host = headers.get("host", "")
            if not is_loopback(re.sub(r":\d*$", "", host)):
                raise ApiError("wrong_host", "without an API key the server answers to localhost and 127.0.0.1 only")
            return None
        shown = headers.get("x-api-key")
        if shown is None and (bearer := headers.get("authorization", "")).lower().startswith("bearer "):
            shown = bearer[7:].strip()
        if shown is None:
            raise ApiError("missing_api_key", "the header X-API-Key is missing")
        number = self._config.keys.number_of(shown)
        if number is None:
            raise ApiError("wrong_api_key", "the key in X-API-Key is not known")
        return number


class _Visit:
    """One request at the entrance: its id, what it came to, what the log says about it."""

    def __init__(self, own_id: str, send: Send) -> None:
        self.id = own_id
        self.status = CLIENT_LEFT
        self.started = False
        self.caller: int | None = None  # the number of its key
        self.facts: dict[str, Any] = {}
        self._send = send

    def note(self, facts: Mapping[str, Any]) -> None:
        """More for the log line."""
        self.facts |= facts

    async def send(self, message: Message) -> None:
        """Send on, with the request's id in the headers."""
        if message["type"] == "http.response.start":
            self.started = True
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self.id
            headers["Cache-Control"] = "no-store"
        await self._send(message)

    async def refuse(self, error: ApiError) -> None:
        """Answer with an error of the one shape, unless an answer has begun."""
        self.note({"error_code": error.code})
        if self.started:
            return
        body = error.body(self.id)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if error.retry_after_s is not None:
            headers.append((b"retry-after", str(int(error.retry_after_s) + 1).encode()))
        if error.allow is not None:
            headers.append((b"allow", error.allow.encode()))
        if error.status == 401:
            headers.append((b"www-authenticate", b"X-API-Key"))
        await self.send({"type": "http.response.start", "status": error.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def told_to_callers(error: Exception) -> ApiError:
    """What a caller is told about what went wrong; the log has the rest."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, JournalWriteError):
        log("storage failed", detail=str(error))
        return ApiError("storage_failed", "the day's book cannot be written, so nothing may be spent; the log says why")
    log_defect("defect", kind=type(error).__name__)
    return ApiError("internal_error", "a defect of the server; the request id finds it")


def _in_our_words(error: HTTPException) -> ApiError:
    if error.status_code != 405:
        return ApiError("not_found", "there is nothing at this address; /docs lists what there is")
    wrong = ApiError("method_not_allowed", "this address has another method")
    wrong.allow = (error.headers or {}).get("Allow")
    return wrong


def visit_of(scope: Scope) -> _Visit:
    """The visit of a request that came through the entrance."""
    visit = scope["state"]["visit"]
    assert isinstance(visit, _Visit)
    return visit
