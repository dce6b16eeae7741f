"""A way to a server that can be cut: every connection over it is reset, and new ones are refused for a while."""

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset


class CutNetwork:
    """The way, from a thread of its own."""

    def __init__(self, url: str) -> None:
        target = urlsplit(url)
        assert target.hostname is not None
        assert target.port is not None
        self._target = (target.hostname, target.port)
        self._path = target.path
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """Where the server is, over this way."""
        return f"http://127.0.0.1:{self._port}{self._path}"

    def cut(self, seconds: float) -> None:
        """Cut it; after so long it is there again."""
        asyncio.run_coroutine_threadsafe(self._cut(seconds), self._loop).result()

    async def _cut(self, seconds: float) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()
        self._loop.call_later(seconds, lambda: self._loop.create_task(self.open()))

    async def open(self) -> None:
        """Take connections, at the same port as before."""
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with suppress(OSError):
            their_reader, their_writer = await asyncio.open_connection(*self._target)
            self._writers.add(their_writer)
            await asyncio.gather(_pump(reader, their_writer), _pump(their_reader, writer))
            self._writers.discard(their_writer)
        self._writers.discard(writer)

    def run(self) -> None:
        """Until `stop`."""
        self._loop.run_until_complete(self.open())
        self._loop.run_forever()

    async def aclose(self) -> None:
        """Everything is given back."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._loop.call_soon(self._loop.stop)

    def stop(self, thread: threading.Thread) -> None:
        """End it."""
        asyncio.run_coroutine_threadsafe(self.aclose(), self._loop).result()
        thread.join()
        self._loop.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.close()


@contextmanager
def cut_network(url: str) -> Iterator[CutNetwork]:
    """A way to this address, for as long as the block lasts."""
    way = CutNetwork(url)
    thread = threading.Thread(target=way.run, name="cut-network", daemon=True)
    thread.start()
    while not way.url.startswith("http://127.0.0.1:") or ":0" in way.url:
        thread.join(0.01)
    try:
        yield way
    finally:
        way.stop(thread)
