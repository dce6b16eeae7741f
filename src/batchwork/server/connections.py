"""Decide which connections stay: how many there are, how long each may take to ask, to send and to read.

Whoever is too slow is dropped. When all places are taken, the least useful connection makes room: a half-sent head, an
idle connection, an answer that is not read, a slow body. What is being answered to a reader stays.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from batchwork.clock import SystemClock
from batchwork.server.config import RESERVED, ConnectionLimits
from batchwork.server.loop_time import LoopTime

if TYPE_CHECKING:
    from batchwork.server.protocol import GuardedProtocol

_LOOK_EVERY_S = 0.25
_YOUNG_S = 0.5  # so long a connection has to begin its request before others are better uses of its place
_COMPARED = 16  # of the oldest bodies the slowest is let go


class Stage(Enum):
    """What a connection is about."""

    HEAD = "head"  # a request's head is awaited, or on its way
    IDLE = "idle"  # its last answer is sent, and it is kept for another request
    BODY = "body"
    ANSWER = "answer"
    LEAVING = "leaving"  # it is refused or closed; what it still sends is thrown away


@dataclass(slots=True)
class ByteRate:
    """Whether bytes go by at the least rate, looked at in windows."""

    _since: float
    _bytes: int = 0

    def is_too_slow(self, now: float, count: int, limits: ConnectionLimits) -> bool:
        """Whether fewer bytes than the least went by in a whole window; `count` is the running total."""
        elapsed = now - self._since
        if elapsed < limits.slow_s:
            return False
        if count - self._bytes < limits.least_bytes_per_s * elapsed:
            return True
        self._since, self._bytes = now, count
        return False


class Connections:
    """Every connection of one server."""

    def __init__(self, limits: ConnectionLimits, loop_time: LoopTime, *, on_dropped: Callable[[str], None]) -> None:
        self.limits = limits
        self._loop_time = loop_time
        self._on_dropped = on_dropped
        self._clock = SystemClock()
        self._stages: dict[Stage, dict[GuardedProtocol, None]] = {stage: {} for stage in Stage}
        self._unread: dict[GuardedProtocol, float] = {}  # those with an answer that waits to be read, and since when
        self._arrived: deque[GuardedProtocol] = deque()
        self._stop_looking: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return sum(map(len, self._stages.values()))

    def start(self) -> None:
        """Begin to look after the connections."""
        self._stop_looking = self._clock.call_later(_LOOK_EVERY_S, self._look)

    def stop(self) -> None:
        """Let every connection go, whatever it is about."""
        self._stop_looking()
        for protocols in self._stages.values():
            for protocol in tuple(protocols):
                protocol.transport.abort()

    @property
    def answering(self) -> int:
        """Connections with an answer on its way."""
        done = (*self._stages[Stage.IDLE], *self._stages[Stage.LEAVING])
        return len(self._stages[Stage.ANSWER]) + sum(one.unread > 0 for one in done)

    def enter(self, protocol: GuardedProtocol) -> bool:
        """Whether there is a place for a new connection; above the limit it may ask for little."""
        now = self._clock.now()
        crowded = len(self) >= self.limits.max_connections
        if crowded and (useless := self._least_useful(now)) is not None:
            self._on_dropped("made room")
            useless.refuse("too_busy", "the connection made room for others; ask again")
            crowded = False
        if crowded and len(self) >= self.limits.max_connections + RESERVED:
            self._on_dropped("too many")
            return False
        protocol.crowded = crowded
        self._stages[Stage.HEAD][protocol] = None
        protocol.enter_stage(Stage.HEAD, now)
        return True

    def change(self, protocol: GuardedProtocol, stage: Stage) -> None:
        """A connection has come to its next stage."""
        if protocol in self._stages[protocol.stage]:
            del self._stages[protocol.stage][protocol]
            self._stages[stage][protocol] = None
            protocol.enter_stage(stage, self._clock.now())

    def leave(self, protocol: GuardedProtocol) -> None:
        """A connection is closed."""
        self._stages[protocol.stage].pop(protocol, None)
        self._unread.pop(protocol, None)

    def _least_useful(self, now: float) -> GuardedProtocol | None:
        """Whose place is best given to another; what is young has not had its chance yet."""
        for leaving in self._stages[Stage.LEAVING]:
            if not leaving.transport.is_closing():
                return leaving
        head = next(iter(self._stages[Stage.HEAD]), None)
        if head is not None and now - head.since > _YOUNG_S:
            return head
        for idle in self._stages[Stage.IDLE]:
            return idle
        unread = next(iter(self._unread), None)
        if unread is not None and now - self._unread[unread] > _YOUNG_S:
            return unread
        bodies = islice(self._stages[Stage.BODY], _COMPARED)
        return min(bodies, key=lambda one: one.received / (now - one.since + 1.0), default=head)

    def _look(self) -> None:
        self._stop_looking = self._clock.call_later(_LOOK_EVERY_S, self._look)
        now = self._clock.now()
        for protocols in self._stages.values():
            for protocol in tuple(protocols):
                self._look_at(protocol, now)

    def _look_at(self, protocol: GuardedProtocol, now: float) -> None:
        limits = self.limits
        if not protocol.unread:
            self._unread.pop(protocol, None)
        else:
            self._unread.setdefault(protocol, now)
        if protocol.reads_too_slowly(now):
            self._on_dropped("slow reader")
            protocol.transport.abort()
        elif protocol.stage is Stage.HEAD and now - protocol.since > limits.head_s:
            self._on_dropped("slow head")
            protocol.refuse("request_timeout", f"the request's head did not arrive within {limits.head_s:g} s")
        elif protocol.stage is Stage.BODY and protocol.sends_too_slowly(now):
            self._on_dropped("slow body")
            least = f"{limits.least_bytes_per_s} bytes per second"
            protocol.refuse("request_timeout", f"the body came more slowly than {least} for {limits.slow_s:g} s")
        elif protocol.stage is Stage.LEAVING and now - protocol.since > limits.linger_s:
            protocol.transport.abort()

    def has_time(self) -> bool:
        """Whether what has arrived may be taken in during this turn of the loop."""
        return not self._arrived and self._loop_time.is_left()

    def put_off(self, protocol: GuardedProtocol) -> None:
        """Something has arrived that has to wait for a later turn."""
        if not self._arrived:
            asyncio.get_running_loop().call_soon(self._catch_up)
        self._arrived.append(protocol)

    def _catch_up(self) -> None:
        while self._arrived and self._loop_time.is_left():
            self._arrived.popleft().take_in_late()
        if self._arrived:
            asyncio.get_running_loop().call_soon(self._catch_up)
