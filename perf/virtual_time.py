"""An event loop with a time of its own: nobody waits, the clock jumps to whatever is due next."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    """Where the loop would wait for the next timer, time passes instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready now; a finite wait is jumped over, an endless one (another thread is at work) is real."""
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self.now += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose `time()` is the time its timers say has passed."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._jumping.now


def run_virtually(main: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What a coroutine returns, and how many virtual seconds it took."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main), loop.time()
    finally:
        loop.close()
