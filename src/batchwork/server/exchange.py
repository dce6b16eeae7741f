"""One HTTP request and its response, in plain ASGI: a web framework would have nothing left to do here."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from batchwork.server.api import API, ApiError, Headers
from batchwork.server.protocol import CROWDED

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
_DISCARD = 8  # so many times the limit is read and thrown away, so that the sender can hear why
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

    async def body(self, limit: int, keep: Callable[[int], None]) -> bytes:
        """Read the body. `keep` gets the number of its bytes, and may refuse them.

        Raises ApiError where it is not declared as JSON, too large, or does not come to its end.
        """
        self._must_be(JSON, f": send the header Content-Type: {JSON}")
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise ApiError("unsupported_media_type", "a compressed body is not taken")
        return await self._whole(limit, keep)

    async def form(self, limit: int) -> bytes:
        """Read what a browser's form sends.

        Raises ApiError where it is declared as something else, too large, or does not come to its end.
        """
        self._must_be(FORM)
        return await self._whole(limit, lambda _: None)

    def _must_be(self, wanted: str, remedy: str = "") -> None:
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != wanted:
            raise ApiError(
                "unsupported_media_type", f"the body must be {wanted}, not {kind[:100] or 'unnamed'}{remedy}"
            )

    async def _whole(self, limit: int, keep: Callable[[int], None]) -> bytes:
        chunks: list[bytes] = []
        size = 0
        more = True
        while more and size <= limit * _DISCARD:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ApiError("request_timeout", "the sender went away, or was too slow")
            more = message.get("more_body", False)
            chunk = message.get("body", b"")
            size += len(chunk)
            if size <= limit:
                keep(len(chunk))
                chunks.append(chunk)
            else:
                chunks.clear()
        if size > limit:
            declared = self.headers.get("content-length", "")
            of = f"{int(declared):,}" if declared.isdigit() else f"{'more than ' * more}{size:,}"
            raise ApiError("body_too_large", f"the body has {of} bytes; at most {limit:,} are taken")
        return b"".join(chunks)

    async def respond(self, body: bytes, content_type: str = JSON, *, status: int = 200, headers: Headers = ()) -> None:
        """Send a whole response at once."""
        await self.start(content_type, status=status, headers=[(b"content-length", b"%d" % len(body)), *headers])
        await self.send(body, more=False)

    async def start(self, content_type: str, *, status: int = 200, headers: Headers = ()) -> None:
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
        if not self.started:
            await self.respond(error.body(self.id), status=error.status, headers=error.headers)

    def cut_off(self, code: str) -> None:
        """End without a response, or in the middle of one: the log says why, and that it was not the sender."""
        self.log_fields["error_code"] = code
        if not self.started:
            self.status = API.errors[code][0]

    def watch_disconnect(self, on_gone: Callable[[], None]) -> asyncio.Task[None]:
        """Call `on_gone` when the sender closes its connection, until cancelled. Its body must be read already."""

        async def watch() -> None:
            while (await self.receive())["type"] != "http.disconnect":
                pass
            on_gone()

        return asyncio.create_task(watch())
