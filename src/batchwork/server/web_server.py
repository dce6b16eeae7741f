"""Run the server until a signal ends it: SIGTERM or Ctrl-C.

First signal: new requests are refused, those under way go on for the grace time. After it what is not sent yet is given
up, and calls in flight get a little longer. Second signal: calls in flight are cut off, and their callers told.
"""

import asyncio
import gc
import resource
import socket
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType

import uvicorn

from batchwork._bridge import run_sync
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.core.money import show
from batchwork.server.app import Application
from batchwork.server.config import RESERVED, ServerConfig
from batchwork.server.logs import log
from batchwork.server.protocol import GuardedProtocol

_LOOK_EVERY_S = 0.02
_LAST_S = 5.0  # for calls in flight after the grace time
_LAST_ANSWERS_S = 0.5  # for their answers to be read
_ACCEPTED_PER_TURN = 32
_BACKLOG = 2048
_FEWEST = 16
_SPARE_FILES = 128  # open files that are neither callers nor calls


class Server(uvicorn.Server):
    """A web server that ends in two steps."""

    def __init__(self, application: Application, *, on_started: Callable[[str], None] | None = None) -> None:
        config = uvicorn.Config(
            application.asgi,
            log_config=None,
            access_log=False,
            server_header=False,
            http=partial(GuardedProtocol, application.connections),  # type: ignore[arg-type]
            ws="none",
            timeout_keep_alive=application.config.connections.idle_s,  # type: ignore[arg-type]
            timeout_graceful_shutdown=1,
            lifespan="off",
            backlog=_ACCEPTED_PER_TURN,
        )
        super().__init__(config)
        self.application = application
        self._on_started = on_started
        self._clock = SystemClock()
        self._ending: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say where."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_BACKLOG)  # the loop goes on accepting few at a time; the system keeps many
        self.application.connections.start()
        if self.started and sockets and self._on_started is not None:
            host, port = sockets[0].getsockname()[:2]
            self._on_started(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came."""
        del sig, frame
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.end)

    def end(self) -> None:
        """First time: finish what is under way. Second time: leave it, and say so. Third time: leave at once."""
        if self._leaving is not None:
            self.force_exit = self.should_exit = True
        elif self._ending is not None:
            self._leaving = asyncio.create_task(self._leave())
        else:
            self._ending = asyncio.create_task(self._finish())

    async def _leave(self) -> None:
        """Cut off what is in flight; who waits for it hears that, if it reads at once."""
        for _ in range(2):  # nothing more is sent, and what is in flight is left
            self.application.admission.end()
        await self._wait_while(self._is_busy, self._clock.now() + _LAST_ANSWERS_S)
        self.force_exit = self.should_exit = True

    def _is_busy(self) -> int:
        return self.application.admission.under_way + self.application.connections.answering

    async def _finish(self) -> None:
        admission = self.application.admission
        admission.is_closed = True
        log("closing", under_way=admission.under_way, grace_s=self.application.config.grace_s)
        until = self._clock.now() + self.application.config.grace_s
        try:
            await self._wait_while(lambda: admission.under_way, until)
            if admission.under_way:
                log("grace over", under_way=admission.under_way)
                for _ in range(2):  # first nothing more is sent, then what is in flight is left
                    admission.end()
                    await self._wait_while(lambda: admission.under_way, self._clock.now() + _LAST_S)
                until = self._clock.now() + _LAST_ANSWERS_S
            await self._wait_while(lambda: self.application.connections.answering, until)
        finally:
            self.application.connections.stop()
            self.should_exit = True

    async def _wait_while(self, busy: Callable[[], int], until: float) -> None:
        while busy() and self._clock.now() < until:
            await self._clock.sleep(_LOOK_EVERY_S)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises ConfigError where the address cannot be had."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # `::` is every address, of IPv4 as well
        listening = socket.create_server(address, family=family, backlog=_BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror or error}") from error
    # An answer's head and body are two packets. Connections inherit this; without it 40 ms can lie between them.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def serve(config: ServerConfig, say: Callable[[str], None]) -> None:
    """Serve until a signal comes. Raises ConfigError and JournalError where something cannot be used."""
    config = _fitted(config)
    application = Application(config)
    server = Server(application, on_started=lambda address: _announce(application, address, say))

    async def run() -> None:
        with listen(config.host, config.port) as listening:
            async with application.open():
                settle_memory()
                await server.serve([listening])

    run_sync(run, interrupt=server.end)
    log("ended")


def settle_memory() -> None:
    """Spare the process long collections; for a process that does nothing else than serve.

    What is there now stays: the collector need not walk through it again and again. It waits for a quarter more than it
    found the last time; the second collection finds next to nothing, so that the later ones are small and frequent.
    """
    gc.collect()
    gc.freeze()
    gc.collect()


def _fitted(config: ServerConfig) -> ServerConfig:
    """The settings with as many connections as the system gives the process files for."""
    limits = config.connections
    others = config.max_in_flight + RESERVED + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.max_connections + others
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return config
    fitting = max(_FEWEST, soft - others)
    log("fewer connections", max_connections=fitting, wanted=limits.max_connections, files=soft)
    return replace(config, connections=replace(limits, max_connections=fitting))


def _announce(application: Application, address: str, say: Callable[[str], None]) -> None:
    config = application.config
    say(f"batchwork serves {', '.join(config.served)} on {address} (documentation at /docs)")
    if not config.keys:
        say("no API key is configured: listening on loopback only; `batchwork serve --new-key` makes one")
    for served in application.admission.service.models.values():
        if served.backend.traits.notice:
            say(served.backend.traits.notice)
    ledger = application.admission.service.ledger
    if ledger.ceiling is not None:
        say(f"{show(ledger.spent)} of today's {show(ledger.ceiling)} is spent, remembered in {config.budget_file}")
    log("started", address=address, keys=len(config.keys))
