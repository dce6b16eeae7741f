"""Builds batches out of items: by count, by bytes and by money.

The only place where an item joins a batch. Its worst case is reserved as it is added; what does not fit the budget
waits while the reservations of other batches may still make room, and is deferred when they cannot.
"""

from collections.abc import Callable
from enum import Enum

from batchwork.core.batch_book import Ticket, custom_id
from batchwork.core.bounds import WorstCase
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ledger import Ledger
from batchwork.core.packing import BatchLimits, Load
from batchwork.core.ports import BatchBackend
from batchwork.engine.batch import SealedBatch
from batchwork.engine.life import Life
from batchwork.engine.slices import Slices


class Added(Enum):
    """What became of an item that is to join a batch."""

    YES = "yes"
    FULL = "full"  # it did not fit into this batch any more
    NO_MONEY_NOW = "no money now"
    NO_MONEY = "no money"


class BatchBuilder:
    """The batch that is being filled."""

    def __init__(
        self,
        backend: BatchBackend,
        limits: BatchLimits,
        *,
        ledger: Ledger,
        worst: WorstCase,
        run_id: str,
        next_chunk: Callable[[], int],
        slices: Slices | None = None,
    ) -> None:
        self._backend = backend
        self._limits = limits
        self._ledger = ledger
        self._worst = worst
        self._run_id = run_id
        self._next_chunk = next_chunk
        self._slices = slices
        self._clear()

    def _clear(self) -> None:
        self._load = Load(self._limits)
        self._lives: dict[str, Life] = {}
        self._lines: list[bytes] = []
        self._reserved: list[int] = []
        self._job: int | None = None  # of those who were added
        self._chunk = self._next_chunk()

    @property
    def is_empty(self) -> bool:
        """Nothing was added."""
        return not self._lives

    @property
    def is_full(self) -> bool:
        """Nothing else can be added."""
        return self._load.is_full

    def worst(self, life: Life) -> int:
        """The most this item can cost in a batch."""
        return self._worst.nano(life.request)

    def shrink(self, most_items: int) -> None:
        """Put at most so many items into the batches to come: the provider found a larger one too large."""
        self._limits = self._limits.capped(max(1, most_items))
        if self.is_empty:
            self._load = Load(self._limits)

    def add(self, life: Life) -> Added | Failure:
        """Let an item join; a failure when no batch can hold it."""
        if self._ledger.ceiling is not None and (reason := self._worst.unbounded(life.request)) is not None:
            return Failure(kind=FailureKind.BAD_INPUT, message=reason)
        name = custom_id(self._run_id, self._chunk, life.index, life.request.key)
        try:
            line = self._backend.batch_line(name, life.request)
        except BackendError as error:
            return error.failure
        if len(line) > self._limits.room:
            message = f"{len(line):,} bytes, more than a whole batch may have ({self._limits.room:,})"
            return Failure(kind=FailureKind.TOO_LONG, message=message)
        if not self._load.takes(len(line)) or name in self._lives or not self._is_of_same_job(life):
            return Added.FULL
        worst = self.worst(life)
        if not self._ledger.reserve(worst):
            return Added.NO_MONEY_NOW if self._ledger.could_ever_fit(worst) else Added.NO_MONEY
        self._load.add(len(line))
        self._job = self._job_of(life)
        self._lives[name] = life
        self._lines.append(line)
        self._reserved.append(worst)
        return Added.YES

    def _job_of(self, life: Life) -> int | None:
        return None if self._slices is None else self._slices.of(life.index)

    def _is_of_same_job(self, life: Life) -> bool:
        return self.is_empty or self._job == self._job_of(life)

    def seal(self, *, at: float) -> SealedBatch:
        """Close the batch and begin an empty one."""
        ticket = Ticket(
            chunk=self._chunk,
            items=tuple(life.item for life in self._lives.values()),
            custom_ids=tuple(self._lives),
            reserved_nano=sum(self._reserved),
            at=at,
            worst_nano=tuple(self._reserved),
        )
        batch = SealedBatch(ticket, self._lives, self._lines)
        self._clear()
        return batch
