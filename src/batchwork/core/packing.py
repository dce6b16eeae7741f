"""Decide what goes into one provider batch: so many requests, so many bytes, whichever is reached first."""

from __future__ import annotations

from dataclasses import dataclass

_OF_THE_BYTES = 0.95  # providers count their own framing too


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """What one batch of a provider can hold."""

    max_requests: int
    max_bytes: int

    @property
    def room(self) -> int:
        """Bytes that may be used."""
        return int(self.max_bytes * _OF_THE_BYTES)

    def capped(self, most_items: int | None) -> BatchLimits:
        """The same, with at most so many requests."""
        if most_items is None:
            return self
        return BatchLimits(max_requests=min(self.max_requests, most_items), max_bytes=self.max_bytes)


class Load:
    """What has been packed into a batch so far."""

    __slots__ = ("_bytes", "_items", "_limits")

    def __init__(self, limits: BatchLimits) -> None:
        self._limits = limits
        self._items = 0
        self._bytes = 0

    def takes(self, size: int) -> bool:
        """Whether a request of so many bytes still fits."""
        return self._items < self._limits.max_requests and self._bytes + size <= self._limits.room

    def add(self, size: int) -> None:
        """Put one in."""
        self._items += 1
        self._bytes += size

    @property
    def is_full(self) -> bool:
        """No further request is let in, however small."""
        return self._items >= self._limits.max_requests
