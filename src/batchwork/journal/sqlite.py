"""The durable journal: SQLite, append-only events, one writer with natural group commit.

Facts are queued by the event loop. Whatever has queued up while the last commit was on its way to the
disk goes into the next one. The rows are put in on the loop's thread (microseconds, into SQLite's
cache); only the commit, which waits for the disk, runs on a thread of its own, so that the two threads
never fight over every row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

from batchwork.clock import next_turn
from batchwork.core.errors import JournalError
from batchwork.core.event import Attempted, BatchEvent, Began, Ended, Event, ItemEvent, Opened, Reopened, Settled
from batchwork.core.failure import FailureKind
from batchwork.core.intake import InputRow
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry, Standing, Totals
from batchwork.core.request import Request
from batchwork.core.runstate import UNCHANGED, ItemState
from batchwork.journal import codec
from batchwork.journal.identities import Identities
from batchwork.journal.lock import WriterLock
from batchwork.journal.mark import Mark, MarkFile
from batchwork.journal.placing import Placer
from batchwork.journal.reading import JournalReader
from batchwork.journal.rows import Row, Sums, columns_digest
from batchwork.journal.tables import FAULTS, connect, translated
from batchwork.journal.writing import UPDATE_TOTAL, Group, QueuedEvent, answer, commit, put_in

_LIVE = frozenset({Status.PENDING, Status.DEFERRED})


class SqliteJournal:
    """A journal file that this process writes; construction opens it and takes the writer's lock."""

    def __init__(self, path: Path, *, utc: Callable[[], float]) -> None:
        self.path = path
        self.listener: Callable[[Event], None] | None = None
        self._utc = utc
        self._queue: list[QueuedEvent] = []
        self._blobs: codec.Blobs = {}
        self._rows: dict[int, Row] = {}  # items that are being worked on or not yet on disk
        self._dirty: dict[int, Row] = {}
        self._trim_from: int | None = None
        self._waiters: list[asyncio.Future[None]] = []
        self._commit_task: asyncio.Task[None] | None = None
        self._group: Group | None = None  # on its way to the disk
        self._writing: dict[int, Row] = {}  # the rows it carries
        self._broken: JournalError | None = None
        with ExitStack() as undo:
            self._lock = WriterLock(path)
            undo.callback(self._lock.release)
            self._writer = connect(path, writable=True)
            undo.callback(self._writer.close)
            self._reader = JournalReader(path, pinned=True)
            undo.callback(self._reader.close)
            self._mark = MarkFile(path)
            undo.callback(self._mark.close)
            self._load()
            undo.pop_all()
        self._is_first = not self._next_item
        self._placer = Placer(self)
        self._committer = ThreadPoolExecutor(1, thread_name_prefix="journal")

    def _load(self) -> None:
        sums = self._reader.sums()
        assert sums is not None, "connect makes them"
        self.run_id, self._seq, self._spent, self._unconfirmed, self._reserved = sums[:5]
        self._standing, self._began, self._next_item = sums.counts, sums.began, sums.items
        self._identities = Identities(self._reader, noted=sums.noted, items=sums.items)
        self.batches = self._reader.batch_book()
        self._batch_events = sums.batches
        self._mark.write(Mark(self.run_id, self._seq, self._spent))

    def begin(self, began: Began) -> Standing:
        """Start a run: what an earlier crash left open is booked at its worst case."""
        self.flush()  # the end of a run before this one frees places, which this one may take again
        self._reader.refresh(moved=True)
        open_calls = self._reader.reserved_rows() if self._reserved else []
        for row in open_calls:
            self._hold(row)
            lost = Attempted(
                item=row.item, kind=FailureKind.CONNECTION, charged_nano=row.reserved_nano, unconfirmed=True
            )
            self.record(lost)
            self.release(row.item)
        self.record(began)
        self._began = self._seq
        self._is_first = not self._next_item  # nobody stands anywhere yet
        self._placer = Placer(self, is_empty=self._is_first)
        return Standing(
            run_id=self.run_id,
            spent_nano=self._spent,
            unconfirmed_nano=self._unconfirmed,
            recovered=len(open_calls),
        )

    # -- which item a row is --------------------------------------------------------------------

    def at(self, index: int) -> Row | None:
        """The item at this place of the latest input."""
        row = self._reader.row_at(index)
        if row is None:
            return None
        row = self._rows.get(row.item, row)
        return row if row.index == index else None

    def find(self, fingerprint: bytes, occurrence: int) -> Row | None:
        """The item of this identity."""
        item = self._identities.find(fingerprint, occurrence)
        return None if item is None else self._rows.get(item) or self._reader.row(item)

    def place(self, index: int, intake: InputRow) -> ItemState:
        """The item that stands at `index`: one already known, or a new one, which is recorded."""
        known, occurrence = self._placer.identify(index, intake.fingerprint)
        digest = 0 if intake.columns is None else columns_digest(intake.columns)
        if known is None:
            row = Row(self._next_item, intake.fingerprint, occurrence)
            self._next_item += 1
            row.is_new = True
            self._identities.add(intake.fingerprint, occurrence, row.item)
            self._open(row, index, intake, digest)
            return row
        assert isinstance(known, Row)
        if known.index != index or known.columns_digest != digest:
            self._open(known, index, intake, digest)
        elif known.status in _LIVE:
            self._hold(known)
        return known

    def _open(self, row: Row, index: int, intake: InputRow, digest: int) -> None:
        holder = None if self._is_first else self.at(index)
        if holder is not None and holder.item != row.item:  # who stood here in an earlier input no longer does
            self._hold(holder)
            self._displace(holder)
            self.release(holder.item)
        self._hold(row)
        row.moved = True
        row.columns_digest = digest
        row.columns_seq = self._seq + 1
        if row.is_new and not row.request_seq:
            row.request_seq = row.columns_seq
        self.record(
            Opened(
                item=row.item,
                index=index,
                fingerprint=row.fingerprint,
                occurrence=row.occurrence,
                request=intake.request if row.request_seq == row.columns_seq else None,
                columns=intake.columns,
            )
        )

    def take(self, item: int) -> ItemState:
        """Hold an item that is known, so that facts about it can be recorded."""
        row = self._rows.get(item) or self._reader.row(item)
        if row is None:
            raise JournalError(f"{self.path} has no item {item}")
        self._hold(row)
        return row

    def request_of(self, item: int) -> Request:
        """What an item asks; it must be on disk, as everything in an intended batch is."""
        return self._reader.request_of(item)

    def reopen(self, item: int) -> ItemState:
        """Take a failed item up again."""
        row = self.take(item)
        self.record(Reopened(item=item))
        return row

    def _hold(self, row: Row) -> None:
        row.held = True
        self._rows[row.item] = row

    def release(self, item: int) -> None:
        """The engine is done with this item: once it is on disk, memory forgets it."""
        row = self._rows.get(item)
        if row is not None:
            row.held = False
            self._forget_if_written(row)

    def _forget_if_written(self, row: Row) -> None:
        if not row.held and row.item not in self._dirty and row.item not in self._writing and row.item in self._rows:
            del self._rows[row.item]

    # -- writing --------------------------------------------------------------------------------

    def record(self, event: Event) -> None:
        """Queue one fact."""
        self._seq = seq = self._seq + 1
        kind = codec.KINDS[type(event)]
        item = -1
        if isinstance(event, ItemEvent):
            item = event.item
            row = self._rows[item]
            before = None if row.index is None else row.status
            change = row.apply(event)
            if row.status is not before:  # an item that stands nowhere is not counted
                self._recount(before, None if row.index is None else row.status)
            if change is not UNCHANGED:
                self._spent += change[0]
                self._unconfirmed += change[1]
                self._reserved += change[2]
            row.note(kind, seq)
            if self.batches.rides and isinstance(event, (Settled, Attempted)):
                self.batches.answered(item)
            self._dirty[item] = row
        elif isinstance(event, Ended):
            self._trim(event.inputs)
        elif isinstance(event, BatchEvent):
            self.batches.apply(event)
            self._batch_events += 1
        body = codec.encode(event, self._blobs)
        self._queue.append((seq, self._utc(), kind, item, body, codec.checksum(seq, kind, item, body)))
        if self.listener is not None:
            self.listener(event)

    def _trim(self, inputs: int | None) -> None:
        """The input has ended: who stood beyond its end stands nowhere, in memory now and on disk with the event."""
        self._trim_from = inputs
        for row in self._rows.values():
            if inputs is not None and row.index is not None and row.index >= inputs:
                self._displace(row)

    def _displace(self, row: Row) -> None:
        self._standing[row.status] -= 1
        row.index = None
        row.moved = True
        self._dirty[row.item] = row

    def _recount(self, before: Status | None, after: Status | None) -> None:
        if before is not None:
            self._standing[before] -= 1
        if after is not None:
            self._standing[after] += 1

    async def durable(self) -> None:
        """Return when everything recorded so far is on disk."""
        if self._broken is not None:
            raise self._broken
        if not self._queue and self._group is None:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        if self._commit_task is None:
            self._commit_task = asyncio.create_task(self._commit_groups())
        await waiter

    async def _commit_groups(self) -> None:
        """Group after group, until nobody waits."""
        try:
            while self._waiters:
                await next_turn()  # the call that takes the place of one that has ended goes out before the writing
                waiters, self._waiters = self._waiters, []
                try:
                    self._put_in()
                    group, writing = self._group, self._start_commit()
                    landed = asyncio.wrap_future(writing)
                    await asyncio.wait([landed])
                    landed.exception()  # looked at below, where it is told to whoever waits
                    if self._group is group:
                        self._finish_commit()
                    elif (error := writing.exception()) is not None:  # a flush has come in between and taken it back
                        raise error
                except (*FAULTS, JournalError) as error:
                    self._broken = error if isinstance(error, JournalError) else translated(error, self.path)
                    answer(waiters + self._waiters, self._broken)
                    self._waiters = []
                else:
                    answer(waiters, None)
        finally:
            self._commit_task = None

    def _put_in(self) -> None:
        """Put everything queued into an open transaction."""
        group = put_in(self._writer, self._queue, self._blobs, self._dirty.values(), self._trim_from)
        group.noted = self._identities.note(self._writer, self._next_item)
        sums = Sums(
            run_id=self.run_id,
            seq=self._seq,
            spent=self._spent,
            unconfirmed=self._unconfirmed,
            reserved=self._reserved,
            standing=",".join(str(count - group.trimmed[status]) for status, count in self._standing.items()),
            began=self._began,
            items=self._next_item,
            batches=self._batch_events,
            noted=group.noted,
        )
        self._writer.execute(UPDATE_TOTAL, sums.sealed())
        self._writing, self._dirty = self._dirty, {}
        for row in self._writing.values():
            row.is_new = row.moved = False
        self._group = group

    def _start_commit(self) -> Future[None]:
        assert self._group is not None
        mark = Mark(self.run_id, self._seq, self._spent)
        self._group.commit = self._committer.submit(commit, self._writer, self._mark, mark)
        return self._group.commit

    def _finish_commit(self) -> None:
        """Take the group off the queue when its commit has succeeded, and back onto it when it has failed."""
        if (group := self._group) is None:
            return
        assert group.commit is not None
        error = group.commit.exception()
        self._group = None
        writing, self._writing = self._writing, {}
        if error is not None:
            for row in group.new:
                row.is_new = True
            for row in group.moved:
                row.moved = True
            self._dirty = writing | self._dirty
            raise error
        del self._queue[: group.events]
        for key in group.blobs:
            del self._blobs[key]
        for status, count in group.trimmed.items():
            self._standing[status] -= count
        if self._trim_from == group.trim:
            self._trim_from = None
        self._identities.noted(group.noted)
        self._reader.refresh(moved=bool(group.moved) or group.trim is not None)
        self._reader.follow(writing.values())
        for row in writing.values():
            self._forget_if_written(row)

    def flush(self) -> None:
        """Write everything queued, now, and wait for it here."""
        try:
            self._finish_commit()
            if self._queue or self._dirty:
                self._put_in()
                self._start_commit()
                self._finish_commit()
        except FAULTS as error:
            raise translated(error, self.path) from error

    def close(self) -> None:
        """Write what is queued and let go; a disk that was full gets one more chance here."""
        try:
            self.flush()
        finally:
            self._committer.shutdown(wait=True)
            self._reader.close()
            with suppress(*FAULTS):  # so that the file is all there is, also while others have it open
                self._writer.execute("PRAGMA busy_timeout = 500")
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()
            self._mark.close()
            self._lock.release()

    # -- reading --------------------------------------------------------------------------------

    def entries(
        self, start: int = 0, stop: int | None = None, *, statuses: frozenset[Status] | None = None, bodies: bool = True
    ) -> Iterator[Entry]:
        """Places in input order, what is queued included."""
        self.flush()
        return self._reader.entries(start, stop, statuses=statuses, bodies=bodies)

    def count(self) -> int:
        """How many places the latest input has."""
        self.flush()
        return self._reader.count()

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """How many of them, or of those below a place, stand where; counted afresh."""
        self.flush()
        return self._reader.counts(below=below)

    def totals(self) -> Totals:
        """The money, over all runs."""
        return Totals(spent_nano=self._spent, unconfirmed_nano=self._unconfirmed)
