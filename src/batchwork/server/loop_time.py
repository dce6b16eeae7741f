"""Decide how much of one turn of the event loop work may take, so that everybody else gets theirs.

Whatever many callers can cause at once asks here first: bytes that have arrived, prompts that are prepared, answers
that are finished. A turn has time for some milliseconds of it. Who comes later waits in line, and one of those who
wait goes on per turn, for one slice.
"""

import asyncio
from collections import deque

from batchwork.clock import SystemClock

_TURN_S = 0.008
_SLICE_S = 0.004
_FREE_S = 0.0003  # what nobody has to wait for


class LoopTime:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self.clock = SystemClock()
        self._began: float | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    def is_left(self) -> bool:
        """Whether this turn has time for more work."""
        now = self.clock.now()
        if self._began is None:
            self._began = now
            asyncio.get_running_loop().call_soon(self._end_turn)
        return now - self._began < _TURN_S

    async def wait(self) -> None:
        """Wait for a turn that has time."""
        if not self._waiting and self.is_left():
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        self.is_left()
        await mine

    def _end_turn(self) -> None:
        self._began = None
        while self._waiting:
            first = self._waiting.popleft()
            if not first.done():
                first.set_result(None)
                break
        if self._waiting:
            self.is_left()


class TimeSlices:
    """The working time of one task, in slices: `await next()` stands between two pieces of work."""

    def __init__(self, loop_time: LoopTime) -> None:
        self._loop_time = loop_time
        self._until = loop_time.clock.now() + _FREE_S

    async def next(self) -> None:
        """Go on, when the slice is over in a later turn."""
        if self._loop_time.clock.now() < self._until:
            return
        await self._loop_time.wait()
        self._until = self._loop_time.clock.now() + _SLICE_S
