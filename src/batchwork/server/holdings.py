"""What each caller holds of the server at a moment: requests under way, open prompts, bytes in memory.

Callers with different keys get shares (`core.shares`), so that one that takes all it can does not lock the others out.
With one key or none there is one caller, who may have everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from batchwork.core.shares import Shares
from batchwork.server.config import ServerConfig
from batchwork.server.errors import ApiError

_RETRY_S = 5.0


class Holding:
    """What one request holds, as long as it lasts."""

    def __init__(self, holdings: Holdings, caller: int | None) -> None:
        self.caller = caller
        self._holdings = holdings
        self._bytes = 0
        self._under_way = False

    def begin(self) -> None:
        """Count as a request under way: its body is there. Until then it is for the connections to let it go.

        Raises:
            ApiError: it is more than the caller's due.
        """
        if not self._holdings.requests.take(self.caller, 1):
            raise _too_busy("requests", self._holdings.requests)
        self._under_way = True

    def take_bytes(self, count: int) -> None:
        """Keep so many more bytes of its body.

        Raises:
            ApiError: that is more than its due.
        """
        if not self._holdings.bytes.take(self.caller, count):
            raise _too_busy("bytes of requests", self._holdings.bytes)
        self._bytes += count

    def add_bytes(self, count: int) -> None:
        """Keep so many more bytes of its answer, which is there already."""
        self._holdings.bytes.add(self.caller, count)
        self._bytes += count

    def give_back(self) -> None:
        """Keep nothing any more."""
        if self._bytes:
            self._holdings.bytes.give_back(self.caller, self._bytes)
            self._bytes = 0
        if self._under_way:
            self._holdings.requests.give_back(self.caller, 1)
            self._under_way = False


class Holdings:
    """What all callers hold."""

    def __init__(self, config: ServerConfig) -> None:
        divided = len(config.keys) > 1
        self.requests = Shares(config.connections.max_connections, divided=divided)
        self.prompts = Shares(config.max_open_prompts, divided=divided)
        self.bytes = Shares(config.max_open_bytes, divided=divided)

    @contextmanager
    def request(self, caller: int | None) -> Iterator[Holding]:
        """One more request, which holds nothing yet and gives back what it comes to hold."""
        holding = Holding(self, caller)
        try:
            yield holding
        finally:
            holding.give_back()

    def take_prompts(self, caller: int | None, count: int) -> None:
        """So many more prompts are open.

        Raises:
            ApiError: they are more than the caller's due.
        """
        if not self.prompts.take(caller, count):
            raise _too_busy("prompts", self.prompts)


def _too_busy(what: str, shares: Shares) -> ApiError:
    message = f"{shares.used} of {shares.total} {what} are open already, or as many of this key as are left for others"
    return ApiError("too_busy", message, retry_after_s=_RETRY_S)
