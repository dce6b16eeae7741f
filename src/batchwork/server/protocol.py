"""One connection, as the web server sees it: HTTP from there, places and patience from `connections`."""

import asyncio
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from batchwork.server.api import raw_response
from batchwork.server.connections import ByteRate, Connections, Stage

_READ_BYTES = 16 * 1024  # per turn and connection
_SMALL_CHUNKS = 4_000  # so many pieces a body may come in, and one more for every so many bytes:
_CHUNK_BYTES = 256
_THROWN_AWAY = 1 << 20  # bytes that are read after a refusal, so that the sender can hear it
CROWDED = "crowded"  # in a request's state: its connection is one too many


class _Parser(h11.Connection):
    """HTTP that refuses a body in crumbs: every piece costs as much as a thousand bytes."""

    pieces = 0
    size = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Data):
            self.pieces += 1
            self.size += len(event.data)
            if self.pieces > _SMALL_CHUNKS + self.size // _CHUNK_BYTES:
                raise h11.RemoteProtocolError("the body comes in too many small pieces")
        elif isinstance(event, h11.Request):
            self.pieces = self.size = 0
        return event


class GuardedProtocol(H11Protocol):
    """A connection that is looked after."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = _Parser(h11.SERVER)
        self.guard = connections
        self.stage = Stage.HEAD
        self.since = 0.0
        self.received = 0  # bytes since the stage began
        self.crowded = False
        self._late: list[bytes] = []
        self._sending: ByteRate | None = None
        self._reading: ByteRate | None = None

    def enter_stage(self, stage: Stage, now: float) -> None:
        """The next stage begins."""
        self.stage, self.since, self.received = stage, now, 0
        self._sending = ByteRate(now) if stage is Stage.BODY else None

    @property
    def unread(self) -> int:
        """Bytes that wait for the other side to read."""
        return self.transport.get_write_buffer_size()

    def reads_too_slowly(self, now: float) -> bool:
        """Whether the other side does not read what waits for it."""
        unread = self.unread
        if not unread:
            self._reading = None
            return False
        self._reading = self._reading or ByteRate(now, -unread)
        return self._reading.is_too_slow(now, -unread, self.guard.limits)

    def sends_too_slowly(self, now: float) -> bool:
        """Whether the body does not come, although somebody waits for it."""
        if self._sending is None or self.flow.read_paused:
            return False
        return self._sending.is_too_slow(now, self.received, self.guard.limits)

    def refuse(self, code: str, message: str) -> None:
        """End the connection: with an error, or at once when it has an answer that nobody reads."""
        if self.transport.is_closing():
            return
        begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if begun or self.unread or self.stage is Stage.LEAVING:
            self.transport.abort()
            return
        stage = self.stage
        if stage is not Stage.IDLE:
            self.transport.write(raw_response(code, message))
        self.guard.change(self, Stage.LEAVING)
        if stage is not Stage.BODY:  # whoever is still sending gets a moment to hear why
            self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):
            transport.max_size = _READ_BYTES
        if not self.guard.enter(self):
            self.stage = Stage.LEAVING
            transport.write(raw_response("too_busy", "there are too many connections; ask again in a moment"))
            transport.close()
        elif self.crowded:
            self.app_state = {**self.app_state, CROWDED: True}

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self.guard.leave(self)
        self._late.clear()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived; they are taken in when it is their turn."""
        if self._late or not self.guard.has_time():
            if not self._late:
                self.guard.put_off(self)
            self._late.append(data)
            self.transport.pause_reading()
        else:
            self._take_in(data)

    def take_in_late(self) -> None:
        """Take in what had to wait."""
        data = b"".join(self._late)
        self._late.clear()
        if data and not self.transport.is_closing():
            if not self.flow.read_paused:
                self.transport.resume_reading()
            self._take_in(data)

    def _take_in(self, data: bytes) -> None:
        self.received += len(data)
        if self.stage is Stage.LEAVING:
            if self.received > _THROWN_AWAY:
                self.transport.abort()
            return
        if self.stage is Stage.IDLE:
            self.guard.change(self, Stage.HEAD)
        super().data_received(data)
        self._look_at_stage()

    def on_response_complete(self) -> None:
        """An answer is written."""
        if self.cycle.more_body or self.crowded:
            # Nobody will read the rest of the body: the sender gets a moment to hear why, then it is over.
            self.server_state.total_requests += 1
            self.flow.resume_reading()
            self.guard.change(self, Stage.LEAVING)
            if not self.cycle.more_body:
                self.transport.close()
            return
        self.guard.change(self, Stage.IDLE)
        super().on_response_complete()
        self._look_at_stage()

    def _look_at_stage(self) -> None:
        if self.cycle is None or self.cycle.response_complete or self.stage is Stage.LEAVING:
            return
        stage = Stage.BODY if self.cycle.more_body else Stage.ANSWER
        if stage is not self.stage:
            self.guard.change(self, stage)

    def send_400_response(self, msg: str) -> None:
        """What has arrived is no HTTP."""
        self.refuse("invalid_http", msg)
