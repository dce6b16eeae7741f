"""Gather items into batches: by count, by bytes and by money.

The only place where an item joins a batch. Its worst case is reserved as it boards; what does not fit the budget
waits while the reservations of other batches may still make room, and is deferred when they cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from batchwork.core.bounds import input_bound
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ledger import Ledger
from batchwork.core.packing import BatchLimits, Load
from batchwork.core.ports import BatchBackend
from batchwork.core.pricing import Price
from batchwork.core.ticket import Ticket, custom_id
from batchwork.engine.lanes import Lanes
from batchwork.engine.riders import Carriage, Rider


class Boarded(Enum):
    """What became of an item that wants to ride."""

    YES = "yes"
    FULL = "full"  # it did not fit into this batch any more
    NO_MONEY_NOW = "no money now"
    NO_MONEY = "no money"


class Platform:
    """The batch that is being filled."""

    def __init__(
        self,
        backend: BatchBackend,
        limits: BatchLimits,
        *,
        ledger: Ledger,
        price: Price | None,
        run_id: str,
        next_chunk: Callable[[], int],
        lanes: Lanes | None = None,
    ) -> None:
        self._backend = backend
        self._limits = limits
        self._ledger = ledger
        self._price = price
        self._run_id = run_id
        self._next_chunk = next_chunk
        self._lanes = lanes
        self._clear()

    def _clear(self) -> None:
        self._load = Load(self._limits)
        self._riders: dict[str, Rider] = {}
        self._lines: list[bytes] = []
        self._reserved = 0
        self._lane: int | None = None  # the job of those who have boarded
        self._chunk = self._next_chunk()

    @property
    def is_empty(self) -> bool:
        """Nobody has boarded."""
        return not self._riders

    @property
    def is_full(self) -> bool:
        """Nobody else may board."""
        return self._load.is_full

    def worst(self, rider: Rider) -> int:
        """The most this item can cost in a batch."""
        if self._price is None:
            return 0
        request = rider.request
        return self._price.worst(input_tokens=input_bound(request), output_tokens=request.output_bound)

    def board(self, rider: Rider) -> Boarded | Failure:
        """Let an item join; a failure when it can ride in no batch at all."""
        name = custom_id(self._run_id, self._chunk, rider.index, rider.request.key)
        try:
            line = self._backend.batch_line(name, rider.request)
        except BackendError as error:
            return error.failure
        if len(line) > self._limits.room:
            message = f"{len(line):,} bytes, more than a whole batch may have ({self._limits.room:,})"
            return Failure(kind=FailureKind.TOO_LONG, message=message)
        if not self._load.takes(len(line)) or name in self._riders or not self._is_of_lane(rider):
            return Boarded.FULL
        worst = self.worst(rider)
        if not self._ledger.reserve(worst):
            return Boarded.NO_MONEY_NOW if self._ledger.could_ever_fit(worst) else Boarded.NO_MONEY
        self._load.add(len(line))
        self._lane = self._lane_of(rider)
        self._riders[name] = rider
        self._lines.append(line)
        self._reserved += worst
        return Boarded.YES

    def _lane_of(self, rider: Rider) -> int | None:
        return None if self._lanes is None else self._lanes.of(rider.index)

    def _is_of_lane(self, rider: Rider) -> bool:
        return self.is_empty or self._lane == self._lane_of(rider)

    def depart(self, at: float) -> Carriage:
        """Close the batch and begin an empty one."""
        ticket = Ticket(
            chunk=self._chunk,
            items=tuple(rider.item for rider in self._riders.values()),
            custom_ids=tuple(self._riders),
            reserved_nano=self._reserved,
            intended_at=at,
        )
        carriage = Carriage(ticket, self._riders, self._lines)
        self._clear()
        return carriage
