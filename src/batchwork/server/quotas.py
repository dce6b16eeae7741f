"""How much of the server each caller holds: requests under way, open prompts, bytes in memory.

Callers with different keys get shares (`core.shares`), so that one that takes all it can does not lock the others out.
With one key or none there is one caller, who may have everything.
"""

from __future__ import annotations

from batchwork.core.shares import Shares
from batchwork.server.api import ApiError
from batchwork.server.config import ServerConfig

_RETRY_S = 5.0


class Quotas:
    """What all callers hold."""

    def __init__(self, config: ServerConfig) -> None:
        divided = len(config.keys) > 1
        self.requests = Shares(config.connections.max_connections, divided=divided)
        self.prompts = Shares(config.max_open_prompts, divided=divided)
        self.bytes = Shares(config.max_open_bytes, divided=divided)

    def take_prompts(self, caller: int | None, count: int) -> None:
        """Count so many more open prompts. Raises ApiError where they are more than the caller's share."""
        _take(self.prompts, "prompts", caller, count)


class Lease:
    """What one request holds, as long as the block runs."""

    def __init__(self, quotas: Quotas, caller: int | None) -> None:
        self.caller = caller
        self._quotas = quotas
        self._bytes = 0
        self._requests = 0

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bytes:
            self._quotas.bytes.give_back(self.caller, self._bytes)
        if self._requests:
            self._quotas.requests.give_back(self.caller, self._requests)

    def begin(self) -> None:
        """Count as a request under way, with its body read. Raises ApiError where the share is used up."""
        _take(self._quotas.requests, "requests", self.caller, 1)
        self._requests = 1

    def take_bytes(self, count: int) -> None:
        """Keep so many more bytes of its body. Raises ApiError where they are more than the caller's share."""
        _take(self._quotas.bytes, "bytes of requests", self.caller, count)
        self._bytes += count

    def add_bytes(self, count: int) -> None:
        """Keep so many more bytes of its answer, which is there already."""
        self._quotas.bytes.add(self.caller, count)
        self._bytes += count


def _take(shares: Shares, what: str, caller: int | None, count: int) -> None:
    if not shares.take(caller, count):
        used = f"{shares.used} of {shares.total} {what} are open already"
        raise ApiError("too_busy", f"{used}, or as many of this key as are left for others", retry_after_s=_RETRY_S)
