"""An HTTP server on loopback, in the test's own event loop, that does with each request exactly what it is told to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import trustme
from yarl import URL

from batchwork.backends._transport import Broken, HttpAnswer, Transport

HEADERS = {"content-type": "application/json", "accept-encoding": "identity", "x-key": "k"}
# Where aiohttp does otherwise.
OUR_OWN = pytest.mark.parametrize("kind", ["pool-asyncio", "pool-uvloop"], indirect=True)


@dataclass
class Received:
    """One request."""

    head: bytes
    body: bytes
    connection: int  # which one it came over, from 0

    @property
    def fields(self) -> dict[str, str]:
        lines = self.head.decode().split("\r\n")[1:]
        return dict(line.split(": ", 1) for line in lines)


class Line:
    """The server's end of a connection, for one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, received: Received) -> None:
        self.reader, self.writer, self.received = reader, writer, received

    async def say(self, *pieces: bytes) -> None:
        """Send bytes, each piece in a turn of its own."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(0.005 if len(pieces) > 1 else 0)

    async def hang_up(self) -> None:
        """Close it in order."""
        self.writer.close()

    async def reset(self) -> None:
        """Close it as a crash does."""
        self.writer.transport.abort()


Script = Callable[[Line], Awaitable[None]]


def answer(body: bytes = b"{}", status: str = "200 OK", **fields: str) -> bytes:
    """A plain answer."""
    lines = {"content-length": str(len(body)), **{name.replace("_", "-"): value for name, value in fields.items()}}
    return (
        f"HTTP/1.1 {status}\r\n{''.join(f'{k}: {v}{chr(13)}{chr(10)}' for k, v in lines.items())}\r\n".encode() + body
    )


def says(*pieces: bytes, then: str = "") -> Script:
    """A script that sends these bytes, and then `hang_up`s or `reset`s."""

    async def script(line: Line) -> None:
        await line.say(*pieces)
        if then:
            await getattr(line, then)()

    return script


@dataclass
class ScriptedServer:
    """Serves until it is left."""

    script: Script
    tls: ssl.SSLContext | None = None
    read_body: bool = True
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    ended: list[int] = field(default_factory=list)  # connections that the client has ended
    scripts_over: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[Any] = field(default_factory=set)

    async def __aenter__(self) -> ScriptedServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = URL(f"{'https' if self.tls else 'http'}://localhost:{self.port}/v1/x?a=b%20c")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number, self.connections = self.connections, self.connections + 1
        self._tasks.add(asyncio.current_task())
        try:
            while not writer.transport.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = await reader.readexactly(length) if self.read_body else b""
                self.requests.append(Received(head, body, number))
                self.scripts_over.clear()
                await self.script(Line(reader, writer, self.requests[-1]))
                self.scripts_over.set()
        except (asyncio.IncompleteReadError, OSError):
            self.ended.append(number)
        except asyncio.CancelledError:
            pass  # the end of the test
        finally:
            writer.transport.abort()


def authority() -> tuple[trustme.CA, ssl.SSLContext]:
    """An authority of our own, and a server's side of TLS that it vouches for as localhost."""
    made, context = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.issue_cert("localhost").configure_cert(context)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return made, context


@asynccontextmanager
async def open_transport(make: Callable[[int], Transport], limit: int = 4) -> AsyncIterator[Transport]:
    """A transport that is closed again."""
    transport = make(limit)
    try:
        yield transport
    finally:
        await transport.aclose()


async def outcome(transport: Transport, url: URL, body: bytes = b"{}") -> HttpAnswer | Broken:
    """What comes of a post."""
    try:
        return await transport.post(url, body)
    except Broken as broken:
        return broken
