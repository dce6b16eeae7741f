"""Decide what goes into one provider batch: so many requests, so many bytes, whichever is reached first."""

from dataclasses import dataclass, replace
from typing import Self

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

    def capped(self, most_items: int | None) -> Self:
        """The same, with at most so many requests."""
        return self if most_items is None else replace(self, max_requests=min(self.max_requests, most_items))


class Load:
    """What has been packed into a batch so far."""

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
    def left(self) -> int:
        """How many further requests are let in, if they are small."""
        return self._limits.max_requests - self._items
