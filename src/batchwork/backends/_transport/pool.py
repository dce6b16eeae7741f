"""The transport of the hot path: POST over kept connections of our own, to servers that are reached directly.

Decides which connection carries a call: the one used last that is still good, a new one, or none before another call
has ended. A call that has no connection yet was never sent.
"""

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from aiohappyeyeballs import start_connection
from yarl import URL

from batchwork.backends._transport import ADDRESSES_S, CONNECT_S, KEEP_ALIVE_S, HttpAnswer, unconnected
from batchwork.backends._transport.connection import Connection

_NEXT_ADDRESS_S = 0.25  # after so long without success the next address is tried as well
_MOST_HEADS = 256


class Pool:
    """Connections to any number of servers, usually one."""

    def __init__(self, *, headers: Mapping[str, str], limit: int) -> None:
        """A pool without connections; `limit` is how many it may have to one server."""
        self._fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._limit = limit
        self._servers: dict[URL, _Server] = {}
        self._routes: dict[URL, tuple[_Server, bytes]] = {}

    async def post(self, url: URL, body: bytes) -> HttpAnswer:
        """Send one body, read one answer."""
        server, head = self._routes.get(url) or self._route(url)
        connection = server.pop_idle() or await server.take()
        try:
            return await connection.post(b"%b%d\r\n\r\n" % (head, len(body)), body)
        finally:
            server.give_back(connection)

    def _route(self, url: URL) -> tuple["_Server", bytes]:
        """Who is asked, and the head of the request up to its length."""
        origin = url.origin()
        if origin not in self._servers:
            self._servers[origin] = _Server(origin, limit=self._limit)
        if len(self._routes) >= _MOST_HEADS:
            self._routes.clear()
        head = (
            f"POST {url.raw_path_qs} HTTP/1.1\r\nhost: {url.host_port_subcomponent}\r\n{self._fields}content-length: "
        )
        self._routes[url] = route = (self._servers[origin], head.encode())
        return route

    async def aclose(self) -> None:
        """Give the connections back."""
        servers, self._servers = self._servers, {}
        self._routes.clear()
        for server in servers.values():
            await server.aclose()


class _Server:
    """The connections to one server, within one event loop."""

    def __init__(self, origin: URL, *, limit: int) -> None:
        assert origin.raw_host is not None
        assert origin.port is not None
        self._host, self._port = origin.raw_host, origin.port
        self._tls = _tls(ssl.get_default_verify_paths()) if origin.scheme == "https" else None
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._idle: list[Connection] = []  # the one used last stands last
        self._open: set[Connection] = set()
        self._opening = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lookup: asyncio.Task[list[Any]] | None = None
        self._lookup_until = 0.0
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed: asyncio.Future[None] | None = None

    # -- which connection -----------------------------------------------------------------------

    def pop_idle(self) -> Connection | None:
        """The connection that was used last, if it is still good."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and self._loop.time() - connection.idle_since <= KEEP_ALIVE_S:
                return connection
            connection.abort()
        return None

    async def take(self) -> Connection:
        """A connection that was kept, or a new one, as soon as there may be one more.

        Raises:
            Broken: none came about.
        """
        while self._opening + len(self._open) >= self._limit:
            await self._until_woken()
            if (connection := self.pop_idle()) is not None:
                return connection
        self._opening += 1
        try:
            return await self._connect()
        except BaseException as error:
            self._wake()
            if isinstance(error, OSError):
                self._lookup = None  # the name may have moved
                raise unconnected(self._host, self._port, error) from error
            raise
        finally:
            self._opening -= 1

    async def _until_woken(self) -> None:
        waiter = self._loop.create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except BaseException:
            if waiter.done() and not waiter.cancelled():  # it was this one's turn: let the next have it
                self._wake()
            raise

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next call, if it is fit for one."""
        if not connection.is_reusable or self._closed is not None:
            connection.abort()  # whoever waits is woken when it is gone
            return
        connection.idle_since = self._loop.time()
        self._idle.append(connection)
        if self._sweeper is None:
            self._sweeper = self._loop.call_later(KEEP_ALIVE_S, self._sweep)
        self._wake()

    def _wake(self) -> None:
        """Let the first in line look again."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _sweep(self) -> None:
        """End connections that nobody has needed for long."""
        self._sweeper = None
        old = self._loop.time() - KEEP_ALIVE_S
        while self._idle and self._idle[0].idle_since <= old:
            self._idle.pop(0).abort()
        if self._idle:
            self._sweeper = self._loop.call_at(self._idle[0].idle_since + KEEP_ALIVE_S, self._sweep)

    # -- connecting -----------------------------------------------------------------------------

    async def _connect(self) -> Connection:
        async with asyncio.timeout(CONNECT_S):
            addresses = await self._addresses()
            open_socket = await start_connection(
                addresses, happy_eyeballs_delay=_NEXT_ADDRESS_S, interleave=1, loop=self._loop
            )
            open_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # an answer may take minutes
            try:
                _, connection = await self._loop.create_connection(
                    lambda: Connection(self._loop, self._open, self._forget),
                    sock=open_socket,
                    ssl=self._tls,
                    server_hostname=None if self._tls is None else self._host.rstrip("."),
                )
            except BaseException:
                open_socket.close()
                raise
        return connection

    async def _addresses(self) -> list[Any]:
        """The addresses of the server; a hundred connections that open at once look them up once."""
        lookup = self._lookup
        if lookup is None or self._loop.time() > self._lookup_until or (lookup.done() and lookup.exception()):
            self._lookup = lookup = self._loop.create_task(self._look_up())
            self._lookup_until = self._loop.time() + ADDRESSES_S
        return await asyncio.shield(lookup)

    async def _look_up(self) -> list[Any]:
        try:  # an address needs no thread
            return socket.getaddrinfo(
                self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
            )
        except socket.gaierror:
            return await self._loop.getaddrinfo(
                self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
            )

    # -- ending ---------------------------------------------------------------------------------

    def _forget(self) -> None:
        """A connection is gone, and leaves its place to another."""
        self._wake()
        if self._closed is not None and not self._open and not self._closed.done():
            self._closed.set_result(None)

    async def aclose(self) -> None:
        """End every connection, and wait until the event loop has nothing of them any more."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._lookup is not None:
            self._lookup.cancel()
        self._closed = self._loop.create_future()
        for connection in self._open:
            connection.abort()
        if self._open:
            await self._closed


@lru_cache(maxsize=8)
def _tls(paths: ssl.DefaultVerifyPaths) -> ssl.SSLContext:
    """Our side of TLS, with the authorities that stand at these paths (SSL_CERT_FILE and SSL_CERT_DIR name others)."""
    del paths
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
