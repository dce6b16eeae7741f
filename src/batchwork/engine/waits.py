"""Waits for time to pass, or until the run closes, whichever comes first."""

import asyncio

from batchwork.core.ports import Clock


class Waits:
    """Everybody of a run who waits for time to pass; closing wakes them all, for good."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: set[asyncio.Future[None]] = set()
        self.is_closed = False  # nobody waits any more

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def wait(self, seconds: float) -> None:
        """Wait so long, or less if it closes."""
        if self.is_closed:
            return
        due: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(due)
        stop_timer = self._clock.call_later(seconds, lambda: None if due.done() else due.set_result(None))
        try:
            await due
        finally:
            stop_timer()
            self._waiting.discard(due)

    def close(self) -> None:
        """Wake everybody."""
        self.is_closed = True
        for due in self._waiting:
            if not due.done():
                due.set_result(None)
