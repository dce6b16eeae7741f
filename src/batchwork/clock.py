"""The only use of time and sleep."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any


class SystemClock:
    """The event loop's clock for durations, the machine's for records."""

    def now(self) -> float:
        """Monotonic seconds of the running loop, so that a loop with its own time brings it everywhere."""
        return asyncio.get_running_loop().time()

    def utc(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> Coroutine[Any, Any, None]:
        """Wait."""
        return asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after so many seconds; the function returned takes that back."""
        return asyncio.get_running_loop().call_later(seconds, callback).cancel


class LoopClock(SystemClock):
    """The same for the loop that runs when it is made, and for no other: a call less each time somebody asks."""

    def __init__(self) -> None:
        self.now = asyncio.get_running_loop().time  # type: ignore[method-assign]
        self.utc = time.time  # type: ignore[method-assign]


async def next_turn() -> None:
    """Let whatever is ready go first."""
    await asyncio.sleep(0)


def stopwatch() -> Callable[[], float]:
    """A function that tells the seconds since this call, outside any event loop."""
    started = time.monotonic()
    return lambda: time.monotonic() - started
