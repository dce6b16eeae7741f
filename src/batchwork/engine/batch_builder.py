"""Builds batches out of items: by count, by bytes and by money.

The only place where an item joins a batch. Its worst case is reserved as it is added; what does not fit the budget
waits while the reservations of other batches may still make room, and is deferred when they cannot.
"""

from enum import Enum

from batchwork.core.batch_book import Ticket, custom_id
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import Load
from batchwork.engine.batch import BatchContext, SealedBatch
from batchwork.engine.life import Life


class Added(Enum):
    """What became of an item that is to join a batch."""

    YES = "yes"
    FULL = "full"  # it did not fit into this batch any more
    NO_MONEY_NOW = "no money now"
    NO_MONEY = "no money"


class BatchBuilder:
    """The batch that is being filled."""

    def __init__(self, context: BatchContext) -> None:
        self._context = context
        self._limits = context.backend.batch_limits.capped(context.parts.policy.batch.most_items)
        self._ledger = context.parts.gate.ledger
        self._worst = context.worst
        self._clear()

    def _clear(self) -> None:
        self._load = Load(self._limits)
        self._lives: dict[str, Life] = {}
        self._lines: list[bytes] = []
        self._reserved: list[int] = []
        self._job: int | None = None  # of those who were added
        self._chunk = self._context.parts.journal.batches.next_chunk()

    @property
    def is_empty(self) -> bool:
        """Nothing was added."""
        return not self._lives

    @property
    def size(self) -> int:
        """How many were added."""
        return len(self._lives)

    @property
    def is_full(self) -> bool:
        """Nothing else can be added."""
        return not self._load.left

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
        if self._ledger.is_limited and (reason := self._worst.unbounded(life.request)) is not None:
            return Failure(kind=FailureKind.BAD_INPUT, message=reason)
        name = custom_id(self._context.journal_id, self._chunk, life.index, life.request.key)
        try:
            line = self._context.backend.batch_line(name, life.request)
        except BackendError as error:
            return error.failure
        if len(line) > self._limits.room:
            message = f"{len(line):,} bytes, more than a whole batch may have ({self._limits.room:,})"
            return Failure(kind=FailureKind.TOO_LONG, message=message)
        slices = self._context.parts.slices
        job = None if slices is None else slices.of(life.index)
        if not self._load.takes(len(line)) or name in self._lives or not (self.is_empty or job == self._job):
            return Added.FULL
        worst = self.worst(life)
        if not self._ledger.reserve(worst):
            self._ledger.foresee(worst * self._load.left)
            return Added.NO_MONEY_NOW if self._ledger.could_ever_fit(worst) else Added.NO_MONEY
        self._load.add(len(line))
        self._job = job
        self._lives[name] = life
        self._lines.append(line)
        self._reserved.append(worst)
        return Added.YES

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
