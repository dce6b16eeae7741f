"""Tell the simulated time: real seconds times a scale, plus whatever was stepped.

Batches, latencies, expiry and archives live on it, so that a day can pass in a second. Rate limits do not: a client
waits for them by its own watch, so they count real seconds (`real_s`).
"""

import asyncio
import time
from datetime import UTC, datetime
from email.utils import formatdate
from functools import lru_cache


class SimClock:
    """A clock that can run faster than the wall, can be stepped forward, and may be wrong by `offset_s`."""

    def __init__(self, scale: float = 1.0, offset_s: float = 0.0) -> None:
        self._scale = scale
        self.offset_s = offset_s
        self._born_unix_s = time.time() + offset_s
        self._born_s = time.monotonic()
        self._stepped_s = 0.0

    def now(self) -> float:
        """Simulated time, seconds since 1970."""
        return self._born_unix_s + (time.monotonic() - self._born_s) * self._scale + self._stepped_s

    def step(self, seconds: float) -> None:
        """Let `seconds` pass at once; sleepers are not woken."""
        self._stepped_s += seconds

    async def sleep(self, seconds: float) -> None:
        """Wait `seconds` of simulated time."""
        await asyncio.sleep(seconds / self._scale)


def real_s() -> float:
    """Real monotonic seconds: what a client's patience is measured in."""
    return time.monotonic()


@lru_cache(maxsize=1024)
def http_date(unix_s: int) -> str:
    """`Sun, 15 Nov 2026 06:25:32 GMT`: the form of the `Date` header."""
    return formatdate(unix_s, usegmt=True)


@lru_cache(maxsize=1024)
def rfc3339(unix_s: int) -> str:
    """`2026-11-15T06:25:32Z`."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_exact(unix_s: float) -> str:
    """`2026-11-15T06:25:32.123456Z`: the form of batch objects."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
