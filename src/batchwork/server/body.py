"""Read a request's body within bounds, and notice when its sender goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from batchwork.server.dispatcher import JSON, Exchange, Receive
from batchwork.server.errors import ApiError

_DISCARD = 8  # so many times the limit is read and thrown away, so that the sender can hear why


async def read_body(exchange: Exchange, limit: int, keep: Callable[[int], None]) -> bytes:
    """The body. `keep` gets the number of its bytes and may refuse them; the connections decide how slow it may be.

    Raises:
        ApiError: the body is not declared as JSON, too large, or never came to its end.
    """
    headers = exchange.headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise ApiError("unsupported_media_type", f"the body must be application/json, not {kind[:100] or 'unnamed'}")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise ApiError("unsupported_media_type", "a compressed body is not taken")
    chunks: list[bytes] = []
    size = 0
    more = True
    while more and size <= limit * _DISCARD:
        message = await exchange.receive()
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
        declared = headers.get("content-length", "")
        of = f"{declared} bytes" if declared.isdigit() else f"more than {size} bytes"
        raise ApiError("body_too_large", f"the body has {of}; at most {limit} are taken")
    return b"".join(chunks)


class DisconnectWatch:
    """Calls `on_gone` when the sender closes its connection while the block runs. Its body must be read already."""

    __slots__ = ("_on_gone", "_receive", "_watcher")

    def __init__(self, receive: Receive, on_gone: Callable[[], None]) -> None:
        self._receive = receive
        self._on_gone = on_gone

    async def __aenter__(self) -> None:
        self._watcher = asyncio.create_task(self._until_gone())

    async def __aexit__(self, *_: object) -> None:
        self._watcher.cancel()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._on_gone()
