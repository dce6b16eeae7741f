"""Send an answer well or badly: whole, slowly, cut off, or not at all."""

import socket
import struct
from collections.abc import Iterable, Mapping

from aiohttp import web

from batchwork.simulator.clock import SimClock

_SLOW_S = 0.5
_JSON = {"Content-Type": "application/json"}
TOO_LARGE = (
    b"<html><head><title>413 Request Entity Too Large</title></head><body><center><h1>413</h1></center></body></html>"
)


def json_response(body: bytes, status: int = 200, headers: Mapping[str, str] = _JSON) -> web.Response:
    """A whole JSON answer; `headers` must name the content type."""
    return web.Response(body=body, status=status, headers=headers)


def html_413(headers: Mapping[str, str]) -> web.Response:
    """What an edge proxy says: not JSON."""
    return web.Response(body=TOO_LARGE, status=413, headers={**headers, "Content-Type": "text/html"})


def reset(request: web.BaseRequest) -> web.Response:
    """Cut the connection without a word: the client sees a reset, not an end."""
    transport = request.transport
    if transport is not None:
        plug = transport.get_extra_info("socket")
        if plug is not None:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response()


async def send_slowly(
    request: web.BaseRequest, body: bytes, headers: Mapping[str, str], clock: SimClock
) -> web.StreamResponse:
    """The whole answer, with a pause in the middle of the body."""
    response = web.StreamResponse(headers={**headers, "Content-Length": str(len(body))})
    await response.prepare(request)
    half = len(body) // 2
    await response.write(body[:half])
    await clock.sleep(_SLOW_S)
    await response.write(body[half:])
    await response.write_eof()
    return response


async def send_truncated(request: web.BaseRequest, body: bytes, headers: Mapping[str, str]) -> web.StreamResponse:
    """Half of the answer, then the end of the connection."""
    response = web.StreamResponse(headers={**headers, "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


async def send_events(
    request: web.BaseRequest, events: Iterable[bytes], headers: Mapping[str, str]
) -> web.StreamResponse:
    """Server-sent events, one write each."""
    response = web.StreamResponse(headers={**headers, "Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    for event in events:
        await response.write(event)
    await response.write_eof()
    return response
