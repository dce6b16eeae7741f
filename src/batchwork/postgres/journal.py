"""The journal in a database: the same events, codec, placing and fold as in a file, over a writer of its own.

Several processes may be at work on it: its owner reads the input and places it, others join and work on blocks of what
is placed. Each writes only about the items that it has.
"""

import asyncio
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TypeVar

from batchwork.core.batch_book import Ticket
from batchwork.core.block import Orphan, Sight, TakenBlock, Turn
from batchwork.core.dsn import Dsn
from batchwork.core.errors import DatabaseAwayError, JournalLockedError
from batchwork.core.event import (
    Admitted,
    Attempted,
    BatchSubmitted,
    Began,
    Ended,
    Event,
    Reopened,
    Settled,
)
from batchwork.core.intake import InputRow
from batchwork.core.late_answer import OPEN, LateAnswer, booking, facts_of
from batchwork.core.outcome import Status
from batchwork.core.ports import Standing
from batchwork.core.runstate import ItemState, lost_call
from batchwork.journal.rows import ItemRow
from batchwork.journal.sqlite import SqliteJournal
from batchwork.postgres import schema
from batchwork.postgres.blocks import DatabaseBlocks, other_input
from batchwork.postgres.connection import SyncConnection, connect_sync, in_our_words, persistently
from batchwork.postgres.reader import DatabaseItems, DatabaseReader
from batchwork.postgres.tickets import give_up, hand_over
from batchwork.postgres.writer import DatabaseWriter

T = TypeVar("T")
DEFAULT_MAX_WAIT_S = 900.0


class PostgresJournal(SqliteJournal):
    """A journal in a database of which this process is the owner; construction opens it and takes the owner's lock."""

    foresees = 512
    is_joined = is_shared = _follows = False
    begins = True
    in_batches = False  # the run goes through provider batches: an item is let go of long before it is settled

    _writer: DatabaseWriter
    _items: DatabaseItems
    _reader: DatabaseReader

    def __init__(
        self,
        dsn: Dsn,
        *,
        utc: Callable[[], float],
        max_wait_s: float = DEFAULT_MAX_WAIT_S,
        shares: bool = False,
        follows: bool = False,
        in_batches: bool = False,
    ) -> None:
        self.is_shared, self._follows, self.in_batches = shares, follows, in_batches
        self._open_with(DatabaseWriter(dsn, max_wait_s=max_wait_s), utc)

    def _open_with(self, writer: DatabaseWriter, utc: Callable[[], float]) -> None:
        self._write_with(writer, utc)
        self._dsn = writer.dsn
        self._blocks: DatabaseBlocks | None = None
        self._elsewhere: list[tuple[int, int]] = []  # places that others work on, since before this run began
        self._block_of: dict[int, int] = {}  # by item, of those that were taken and are not released
        self._open_in: Counter[int] = Counter()  # so many are, by block
        self._has_taken = False
        self._finished: list[int] = []
        self._left: set[int] = set()  # blocks with items that this process will not see through
        self._taken_in: set[int] = set()  # late answers, by number
        self._adopted: set[int] = set()  # items in batches that others have left

    def foresee(self, rows: Sequence[InputRow]) -> None:
        """Fetch what is known of the rows that come next, at once."""
        looked_up = Counter(row.fingerprint for row in rows if self._placer.looks_up(row.fingerprint))
        self._writer.identities.foresee(
            {
                fingerprint: (low := self._placer.claimed(fingerprint), low + count + 1)
                for fingerprint, count in looked_up.items()
            }
        )

    @property
    def worker(self) -> int:
        """The number of this process among those that ever worked on the journal."""
        return self._writer.id

    # -- beside others --------------------------------------------------------------------------

    def begin(self, began: Began) -> Standing:
        """Start a run. What others are at work on stays theirs, where this journal is shared."""
        blocks = self._blocks
        if blocks is None and (self.is_shared or self._items.has_blocks() or self.batches.open()):
            blocks = self._blocks = DatabaseBlocks(self._dsn, worker=self.worker, began=began)
        if blocks is not None:
            self._elsewhere = blocks.begin(self.batches)
        if self._elsewhere and not self.is_shared:
            raise JournalLockedError(
                f"other processes are at work on the journal {self._dsn}, or were a minute ago; wait for them, or stop"
                " them"
            )
        if self.is_shared:
            self.batches.let_go()  # those that are this process's to follow come as orphans
        standing = super().begin(began)
        if blocks is not None:
            blocks.began = self._sums.began
        if not (self.is_shared and self.in_batches):  # else they come after the batches that they are about
            for late in self._reader.late(self.worker):
                self.take_in(late)
        return replace(standing, spent_nano=self._sums.spent, unconfirmed_nano=self._sums.unconfirmed)

    def exchange(self, turn: Turn) -> Sight:
        """Tell the others and ask them; for a thread beside the loop."""
        assert self._blocks is not None
        return self._blocks.exchange(turn)

    def is_elsewhere(self, index: int, item: int = -1) -> bool:
        """Whether another process works on this place since before this run began, or the item is in a batch."""
        if item in self._adopted:
            return True
        at = bisect(self._elsewhere, (index, index)) - 1
        near = self._elsewhere[max(at, 0) : at + 2]
        return any(first <= index < stop for first, stop in near)

    def hold(self, block: TakenBlock) -> None:
        """Be the one who works on the items of a block; calls that its worker before us left open are booked."""
        self.release, self._has_taken = self._release_taken, True
        for state, _ in block.items:
            assert isinstance(state, ItemRow)
            self._cache.hold(state)
            self._block_of[state.item] = block.first
            if state.reserved_nano:
                self.record(lost_call(state))
            if self.in_batches:
                self._items.keep((state,))  # which others may have changed since its neighbours were read
                if state.status is Status.DEFERRED:
                    self.record(Reopened(item=state.item))  # so that only what is settled from now on is done
        for state in block.settled:
            assert isinstance(state, ItemRow)
            self._cache.hold(state)
            self.record(lost_call(state))
            self._cache.release(state.item)
        self._open_in[block.first] += len(block.items)
        if not block.items:
            self._finished.append(block.first)

    def _release_taken(self, item: int) -> None:
        row = self._rows.get(item)
        if self.in_batches and (row is None or row.status is Status.PENDING):
            self._cache.release(item)
            return
        block = self._block_of.pop(item, None)
        if block is not None:
            if row is not None and row.status is Status.PENDING:
                self._left.add(block)
            self._open_in[block] -= 1
            if not self._open_in[block]:
                del self._open_in[block]
                if block not in self._left:
                    self._finished.append(block)
        self._cache.release(item)

    def done_with(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The blocks that are finished since the last time, and those that are left with work in them."""
        finished, self._finished = tuple(self._finished), []
        left = tuple(block for block in self._left if block not in self._open_in)
        self._left.difference_update(left)
        return finished, left

    # -- provider batches -----------------------------------------------------------------------

    def adopt(self, orphan: Orphan) -> Ticket:
        """Follow a batch that another process has left; nobody else writes about its items from now on."""
        self._reader.refresh(moved=True)
        ticket = self.batches.adopt(orphan.chunk, orphan.told)
        self._adopted.update(ticket.items)
        if ticket.batch_id is None and orphan.batch_id is not None:
            self.record(BatchSubmitted(chunk=orphan.chunk, batch_id=orphan.batch_id))
        return self.batches.ticket(orphan.chunk)

    def reopen(self, item: int) -> ItemState:
        """Take a failed item up again, also one that had failed in a batch that was left."""
        self._adopted.discard(item)
        return super().reopen(item)

    async def confirm(self) -> None:
        """Return when a commit that begins now has landed: until then nobody has taken this worker over."""
        await self._writer.durable(confirms=True)

    async def hand_over(self, chunk: int, batch_id: str) -> bool:
        """Leave a batch that this process has made to whoever has taken it over; False: nobody wants it any more."""
        try:
            return await asyncio.to_thread(self._beside, partial(hand_over, chunk=chunk, batch_id=batch_id))
        except DatabaseAwayError:  # then it is found at the provider
            return True

    async def made_late(self, chunk: int) -> str | None:
        """What was left so for a batch that was taken over; None: nothing, and nobody can from now on."""
        return await asyncio.to_thread(self._beside, partial(give_up, chunk=chunk, worker=self.worker))

    def _beside(self, ask: Callable[[SyncConnection], T]) -> T:
        """What a question in a session of its own is answered."""

        def once() -> T:
            with closing(connect_sync(self._dsn, name="batchwork tickets")) as session:
                schema.use(session, self._dsn)
                return ask(session)

        with in_our_words(self._dsn):
            return persistently(once)

    # -- answers of those who were taken over ---------------------------------------------------

    def take_in(self, late: LateAnswer) -> None:
        """Record an answer that came late. From now on an item may have its outcome from elsewhere."""
        item = late.event.item
        row = self._rows.get(item) or self._items.now(item)
        facts = None if row is None or late.seq in self._taken_in else facts_of(late, row)
        if row is None or facts is None:
            return
        self.record = self._record_unless_settled  # type: ignore[method-assign]
        self._taken_in.add(late.seq)
        self._writer.taken_in.append(late.seq)
        was_held = row.held
        self._cache.hold(row)
        for fact in facts:
            type(self).record(self, fact)
        if not was_held:
            self._cache.release(item)

    def is_settled(self, item: int) -> bool:
        """Whether an item that is held here has its outcome."""
        row = self._rows.get(item)
        return row is not None and row.status not in OPEN

    def _record_unless_settled(self, event: Event) -> None:
        """Queue one fact; of a call to an item that has its outcome already, only what it cost."""
        if isinstance(event, Admitted | Attempted | Settled) and self.is_settled(event.item):
            if isinstance(event, Admitted) or not (event.charged_nano or self._rows[event.item].reserved_nano):
                return
            event = booking(event)
        type(self).record(self, event)

    def _open(self, row: ItemRow, index: int, intake: InputRow, digest: int) -> None:
        if (self._follows or self._elsewhere) and not (row.is_new and self.at(index) is None):
            if self._follows:
                raise other_input(self._dsn, index)
            raise JournalLockedError(
                f"other processes are at work on another input in the journal {self._dsn}; wait for them, or take"
                " another journal"
            )
        super()._open(row, index, intake, digest)

    def _trim(self, inputs: int | None) -> None:
        if self._follows and inputs is not None and self.at(inputs) is not None:
            raise other_input(self._dsn, inputs)
        super()._trim(inputs)

    def _open_calls(self) -> list[ItemRow]:
        if not self._sums.reserved and not self._has_taken:
            return []
        self.flush()
        return self._items.reserved_beside(self._writer.id)

    def close(self) -> None:
        """Write everything queued, say goodbye and let go."""
        try:
            super().close()
        finally:
            if self._blocks is not None:
                self._blocks.end()


class JoinedJournal(PostgresJournal):
    """A journal whose owner is another process: this one works on blocks that the owner offers."""

    is_joined = is_shared = True
    begins = False

    def __init__(
        self,
        dsn: Dsn,
        *,
        utc: Callable[[], float],
        max_wait_s: float = DEFAULT_MAX_WAIT_S,
        in_batches: bool = False,
    ) -> None:
        self.in_batches = in_batches
        self._open_with(DatabaseWriter(dsn, max_wait_s=max_wait_s, is_owner=False), utc)

    def begin(self, began: Began) -> Standing:
        """Nothing begins: the owner has begun."""
        self._blocks = DatabaseBlocks(self._dsn, worker=self.worker, began=began)
        self.batches.let_go()
        sums = self._sums
        return Standing(run_id=self.run_id, spent_nano=sums.spent, unconfirmed_nano=sums.unconfirmed, recovered=0)

    def record(self, event: Event) -> None:
        """Queue one fact; the end of the run is the owner's to tell."""
        if not isinstance(event, Ended):
            super().record(event)

    def _open_calls(self) -> list[ItemRow]:
        self.flush()
        return self._items.reserved_in_blocks(self._writer.id)
