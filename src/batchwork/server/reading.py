"""Read a request's body, within bounds; and notice when its sender goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.types import Receive

from batchwork.server.errors import ApiError

_DISCARD = 8  # so many times the limit is read and thrown away, so that the sender can hear why


async def read_body(request: Request, limit: int, keep: Callable[[int], None]) -> bytes:
    """The body; `keep` is told of its bytes and may refuse them. How slowly it may come is for the connections to say.

    Raises:
        ApiError: not JSON by its own word, too large, or it never came to its end.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError("unsupported_media_type", f"the body must be application/json, not {kind[:100] or 'unnamed'}")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ApiError("unsupported_media_type", "a compressed body is not taken")
    told = request.headers.get("content-length", "")
    chunks: list[bytes] = []
    size = 0
    more = True
    while more and size <= limit * _DISCARD:
        message = await request.receive()
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
        of = f"{told} bytes" if told.isdigit() else f"more than {size} bytes"
        raise ApiError("body_too_large", f"the body has {of}; at most {limit} are taken")
    return b"".join(chunks)


class watching:  # noqa: N801 -- it reads as a word in `async with watching(...)`
    """Call `on_gone` when the sender closes its connection while the block runs. Its body must be read already."""

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
