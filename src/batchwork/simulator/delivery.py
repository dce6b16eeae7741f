"""Send an answer well or badly: whole, slowly, cut off, damaged, or not at all."""

import asyncio
import socket
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator.clock import SimClock
from batchwork.simulator.dice import generator

_SLOW_S = 0.5
_HANG_STEP_S = 0.05
_LONGEST_HANG_S = 120.0
_HUGE = "x" * 70_000  # ordinary clients read 8 to 64 kB of one header
_TOO_LARGE = (
    b"<html><head><title>413 Request Entity Too Large</title></head><body><center><h1>413</h1></center></body></html>"
)
_PAGE = b"<html><head><title>Simulated proxy</title></head><body><h1>Something went wrong</h1></body></html>"
_USAGE = ("usage", "usageMetadata")
UNHEARD = frozenset({"reset_after", "hang_after", "unreadable_after"})


def html_413(headers: Mapping[str, str]) -> web.Response:
    """The refusal of an edge proxy: not JSON."""
    return web.Response(body=_TOO_LARGE, status=413, headers={**headers, "Content-Type": "text/html"})


def with_huge_header(response: web.Response) -> web.Response:
    """The answer, behind a header that most clients refuse to read."""
    response.headers["x-simulated-padding"] = _HUGE
    return response


def reset(request: web.BaseRequest) -> web.Response:
    """Cut the connection without a word: the client sees a reset, not an end."""
    transport = request.transport
    if transport is not None:
        plug = transport.get_extra_info("socket")
        if plug is not None:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response()


async def unheard(request: web.BaseRequest, kind: str, headers: Mapping[str, str]) -> web.Response:
    """The end of a call whose work is done and whose answer nobody gets to read."""
    if kind == "unreadable_after":  # a 200 that is not JSON: a proxy's page in place of the answer
        return web.Response(body=_PAGE, headers={**headers, "Content-Type": "text/html"})
    if kind == "hang_after":  # silence until the client goes away
        for _ in range(round(_LONGEST_HANG_S / _HANG_STEP_S)):
            if request.transport is None or request.transport.is_closing():
                break
            await asyncio.sleep(_HANG_STEP_S)
    return reset(request)


async def send_halves(
    request: web.BaseRequest, body: bytes, headers: Mapping[str, str], clock: SimClock, *, both: bool
) -> web.StreamResponse:
    """Half of the answer, then the other after a pause; or the end of the connection."""
    response, half = web.StreamResponse(headers={**headers, "Content-Length": str(len(body))}), len(body) // 2
    with suppress(ConnectionResetError):
        await response.prepare(request)
        await response.write(body[:half])
        if both:
            await clock.sleep(_SLOW_S)
            await response.write(body[half:])
            await response.write_eof()
        elif request.transport is not None:
            request.transport.close()
    return response


async def send_lines(
    request: web.BaseRequest, lines: Iterable[bytes], headers: Mapping[str, str], clock: SimClock, pause_s: float = 0.0
) -> web.StreamResponse:
    """The whole answer line by line, or event by event: one write each, and a pause after it."""
    response = web.StreamResponse(headers=headers)
    with suppress(ConnectionResetError):  # a client that went away is not our trouble
        await response.prepare(request)
        for line in lines:
            await response.write(line)
            if pause_s:
                await clock.sleep(pause_s)
        await response.write_eof()
    return response


def damaged(body: dict[str, Any], kind: str | None) -> dict[str, Any]:
    """An answer object of either wire under a fault of its shape."""
    match kind:
        case "null" if "candidates" in body:
            return body | {"candidates": None}
        case "null" if "choices" in body:
            return body | {"choices": [choice | {"message": None} for choice in body["choices"]]}
        case "null" if "stopReason" in body:
            return body | {"output": {"message": None}}
        case "null":
            return body | {"output" if "output" in body else "content": None}
        case "no_usage":
            return {name: value for name, value in body.items() if name not in _USAGE}
        case "zero_usage":
            return body | {name: _zeros(body[name]) for name in _USAGE if name in body}
        case _:
            return body


def _zeros(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _zeros(child) for name, child in value.items()}
    return 0 if isinstance(value, int) else value


def low_counts(raw: bytes) -> bytes:
    """A batch object whose counts of what is done are a third too low."""
    batch = msgspec.json.decode(raw)
    if (counts := (batch.get("metadata") or {}).get("batchStats")) is not None:
        counts |= {name: str(2 * int(count) // 3) for name, count in counts.items() if name != "pendingRequestCount"}
        return msgspec.json.encode(batch)
    if "completed_requests" in batch:
        names = ("completed_requests", "succeeded_requests", "failed_requests")
        return msgspec.json.encode(batch | {name: 2 * batch[name] // 3 for name in names})
    counts = batch["request_counts"]
    counts |= {name: 2 * count // 3 for name, count in counts.items() if name not in ("processing", "total")}
    return msgspec.json.encode(batch)


def short(raw: bytes) -> bytes:
    """A download without a third of its lines; without its only one, when there is one alone."""
    lines = raw.splitlines(keepends=True)
    return b"".join(line for number, line in enumerate(lines) if number % 3 != 1 and len(lines) > 1)


def shuffled(raw: bytes, *names: object) -> bytes:
    """A download in another order; `names` seed the dice."""
    lines = raw.splitlines(keepends=True)
    generator(0, *names).shuffle(lines)
    return b"".join(lines)
