"""Wait, or until the run closes, whichever comes first."""

from __future__ import annotations

import asyncio

from batchwork.core.ports import Clock


class Naps:
    """Everybody of a run who waits for time to pass; closing wakes them all, for good."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._naps: set[asyncio.Future[None]] = set()
        self._closing = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        """Nobody waits any more."""
        return self._closing.is_set()

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._naps)

    async def closed(self) -> None:
        """Return when it closes."""
        await self._closing.wait()

    async def take(self, seconds: float) -> None:
        """Wait so long, or less if it closes."""
        if self.is_closed:
            return
        nap: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._naps.add(nap)
        take_back = self._clock.call_later(seconds, lambda: None if nap.done() else nap.set_result(None))
        try:
            await nap
        finally:
            take_back()
            self._naps.discard(nap)

    def close(self) -> None:
        """Wake everybody."""
        self._closing.set()
        for nap in self._naps:
            if not nap.done():
                nap.set_result(None)
