"""Event loops whose seconds are short: a run's waits pass twenty times as fast, against a provider on real sockets."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Iterator
from contextlib import contextmanager

SPEED = 20.0


class _FastSelector(selectors.DefaultSelector):
    """Waits a fraction of what it is told."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout / SPEED if timeout is not None and timeout > 0 else timeout)


class FastLoop(asyncio.SelectorEventLoop):
    """A loop that counts so many seconds for each real one."""

    def __init__(self) -> None:
        super().__init__(_FastSelector())

    def time(self) -> float:
        return time.monotonic() * SPEED


class _FastPolicy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = FastLoop


@contextmanager
def fast_loops() -> Iterator[None]:
    """Loops that are made meanwhile are fast ones; whatever runs already keeps its time."""
    before = asyncio.get_event_loop_policy()
    asyncio.set_event_loop_policy(_FastPolicy())
    try:
        yield
    finally:
        asyncio.set_event_loop_policy(before)
