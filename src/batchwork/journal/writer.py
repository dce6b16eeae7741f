"""The writer of a journal file: natural group commit.

Facts are queued by the event loop. Whatever has queued up while the last commit was on its way to the disk goes into
the next one, which starts no sooner than `_APART_S` after the last. The rows are put in on the loop's thread
(microseconds, into SQLite's cache); only the commit, which waits for the disk, runs on a thread of its own, so that the
two threads never fight over every row.
"""

import asyncio
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from batchwork.clock import SystemClock, next_turn
from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import JournalError
from batchwork.core.event import BatchEvent
from batchwork.core.outcome import Status
from batchwork.journal import codec
from batchwork.journal.companions import WriterLock
from batchwork.journal.connections import FAULTS, PAGE_BYTES, connect, translated
from batchwork.journal.mark import Mark, MarkFile
from batchwork.journal.reader import JournalReader
from batchwork.journal.rows import ITEM_COLUMNS, UPDATE_SUMS, ItemRow, RowCache
from batchwork.journal.tables import Identities
from batchwork.journal.vector_file import VectorFile

# Between the starts of two commits. Each costs as much as sending a request; answers that come one by one would each
# have one. Whoever waits does not notice: a model takes a hundred times as long.
_APART_S = 0.005
_CLOCK = SystemClock()

_INSERT_EVENT = "INSERT INTO event VALUES (?,?,?,?,?,?)"
_INSERT_BLOB = "INSERT OR IGNORE INTO blob VALUES (?,?,?)"
_INSERT_ITEM = "INSERT INTO item VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
# An update that leaves the place alone does not touch its index.
_UPDATE_ITEM = "UPDATE item SET status=?, reserved=?, paid=?, attempts=?, settled_seq=?, crc=? WHERE id=?"
# The numbers are the places in `ItemRow.values`, so that one tuple serves both.
_MOVE_ITEM = (
    "UPDATE item SET idx=?4, status=?5, reserved=?6, paid=?7, attempts=?8, columns=?9, columns_seq=?11,"
    " settled_seq=?12, crc=?13 WHERE id=?1"
)
_TRIM_ITEM = "UPDATE item SET idx=NULL, crc=? WHERE id=?"
_SELECT_BEYOND = f"SELECT {ITEM_COLUMNS} FROM item WHERE idx >= ? LIMIT 1000"  # noqa: S608


@dataclass(slots=True, kw_only=True)
class Group:
    """What one commit carries, so that it can be taken back when the commit fails."""

    events: int
    blobs: list[bytes]
    trim: int | None
    batch_events: list[BatchEvent] = field(default_factory=list)  # of which others must know at once
    new: list[ItemRow] = field(default_factory=list)
    moved: list[ItemRow] = field(default_factory=list)
    trimmed: Counter[Status] = field(default_factory=Counter)
    commit: Future[None] | None = None


class JournalWriter:
    """A journal file that this process writes, from construction until `close`; what is queued for it."""

    vectors: VectorFile | None = None  # where they are apart from their events

    def __init__(self, path: Path, *, page_bytes: int = PAGE_BYTES, vectors_apart: bool = False) -> None:
        self._begin_queue(path)
        with ExitStack() as undo:
            undo.callback(WriterLock(path).release)
            self._connection = undo.enter_context(closing(connect(path, writable=True, page_bytes=page_bytes)))
            self.reader = undo.enter_context(closing(JournalReader(path, pinned=True)))
            self._mark_file = undo.enter_context(closing(MarkFile(path)))
            if vectors_apart:
                self.reader.check_vectors()
                self.vectors = undo.enter_context(closing(VectorFile(path, writable=True)))
            self.sums = self.reader.sums()
            self.identities = Identities(self.reader.items, noted=self.sums.noted, items=self.sums.items)
            self.batches = self.reader.batch_book()
            self._mark_file.write(self.sums.mark)
            self._files = undo.pop_all()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    def _begin_queue(self, path: JournalAddress) -> None:
        self.path = path
        self.events: list[tuple[int, float, int, int, bytearray, int]] = []  # rows of the table of events
        self.blobs: codec.Blobs = {}
        self.trim: int | None = None  # places from here on are taken away
        self.cache = RowCache()
        self._waiters: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._next_at = 0.0  # when the next commit may start, on the loop's clock
        self._group: Group | None = None  # on its way to the disk
        self._broken: JournalError | None = None

    async def durable(self, *, confirms: bool = False) -> None:
        """Return when everything queued so far is on disk; `confirms` waits for a commit though nothing is queued."""
        if self._broken is not None:
            raise self._broken
        if not self.events and self._group is None and not confirms:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        if self._task is None:
            self._schedule()
        await waiter

    def note_batch(self, event: BatchEvent) -> None:
        """Nothing to do: nobody else follows the batches of a file."""

    def flush(self) -> None:
        """Write everything queued, now, and wait for it here."""
        try:
            self._finish_commit()
            if self.events or self.cache.changed:
                self._put_in()
                self._start_commit()
                self._finish_commit()
        except FAULTS as error:
            raise translated(error, self.path) from error

    def close(self) -> None:
        """Write everything queued and let go; a disk that was full gets one more chance here."""
        with self._files:
            try:
                self.flush()
            finally:
                self._thread.shutdown(wait=True)
                self.reader.close()  # whoever reads keeps the log from being emptied
                with suppress(*FAULTS):  # so that the file is all there is, also while others have it open
                    self._connection.execute("PRAGMA busy_timeout = 500")
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _schedule(self) -> None:
        """Start the next commit: at once, or when it is far enough from the last."""
        wait_s = min(self._next_at - _CLOCK.now(), _APART_S)  # another loop, whose clock differs, may have had the last
        self._task = asyncio.create_task(self._commit_group() if wait_s <= 0 else self._pause(wait_s))

    async def _pause(self, seconds: float) -> None:
        try:
            await _CLOCK.sleep(seconds)
        finally:
            self._task = None
        self._task = asyncio.create_task(self._commit_group())

    async def _commit_group(self) -> None:
        """Commit one group, and see that another follows while somebody waits."""
        try:
            await next_turn()  # the call that takes the place of one that has ended goes out before the writing
            self._next_at = _CLOCK.now() + _APART_S
            waiters, self._waiters = self._waiters, []
            try:
                self._put_in()
                group, commit = self._group, self._start_commit()
                await _ended(commit)
                if self._group is group:
                    self._finish_commit()
                elif (error := commit.exception()) is not None:  # a flush has come in between and taken it back
                    raise error
            except (*FAULTS, JournalError) as error:
                self._broken = error if isinstance(error, JournalError) else translated(error, self.path)
                waiters += self._waiters
                self._waiters = []
            except Exception as error:  # a defect: handed to those who wait, who would else wait for ever
                for waiter in (*waiters, *self._waiters):
                    if not waiter.done():
                        waiter.set_exception(error)
                self._waiters = []
                return
            self._answer(waiters)
        finally:
            self._task = None
        if self._waiters:
            self._schedule()

    def _answer(self, waiters: list[asyncio.Future[None]]) -> None:
        """Tell those who wait for a commit how it ended."""
        for waiter in waiters:
            if waiter.done():
                continue
            if self._broken is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(self._broken)

    # -- one group ------------------------------------------------------------------------------

    def _put_in(self) -> None:
        """Put everything queued into a transaction that is left open."""
        connection = self._connection
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_INSERT_EVENT, self.events)
        if self.blobs:
            blobs = ((key, body, codec.blob_checksum(key, body)) for key, body in self.blobs.items())
            connection.executemany(_INSERT_BLOB, blobs)
        group = Group(events=len(self.events), blobs=list(self.blobs), trim=self.trim)
        self._put_in_rows(group)
        if self.trim is not None:
            self._put_in_trim(group, self.trim)
        self.sums.noted = self.identities.note(connection, self.sums.items)
        connection.execute(UPDATE_SUMS, self.sums.values(without=group.trimmed))
        self.cache.write_changed()
        self._group = group

    def _put_in_rows(self, group: Group) -> None:
        changed = []
        for row in self.cache.changed.values():
            if row.is_new:
                group.new.append(row)
            elif row.moved:
                group.moved.append(row)
            else:
                changed.append(row)
        if group.moved:
            self._connection.executemany(_MOVE_ITEM, map(ItemRow.values, group.moved))
        self._connection.executemany(_INSERT_ITEM, map(ItemRow.values, group.new))
        self._connection.executemany(_UPDATE_ITEM, map(ItemRow.standing, changed))

    def _put_in_trim(self, group: Group, inputs: int) -> None:
        """The input has become shorter: take the places beyond its end away."""
        while page := [
            ItemRow.stored(values) for values in self._connection.execute(_SELECT_BEYOND, (inputs,)).fetchall()
        ]:
            for row in page:
                row.index = None
            self._connection.executemany(_TRIM_ITEM, [(row.values()[-1], row.item) for row in page])
            group.trimmed.update(row.status for row in page)

    def _start_commit(self) -> Future[None]:
        assert self._group is not None
        try:
            commit = self._thread.submit(self._commit, self.sums.mark)
        except RuntimeError:  # the interpreter ends and starts nothing more: it is written here
            commit = Future()
            try:
                self._commit(self.sums.mark)
            except (*FAULTS, JournalError) as error:
                commit.set_exception(error)
            else:
                commit.set_result(None)
        self._group.commit = commit
        return commit

    def _commit(self, mark: Mark) -> None:
        """Finish the open transaction, and then, when it is on the disk, note how far the journal is."""
        if self.vectors is not None:
            self.vectors.sync()
        self._connection.execute("COMMIT")
        self._mark_file.write(mark)

    def _finish_commit(self) -> None:
        """Take the group off the queue when its commit has succeeded, and back onto it when it has failed."""
        if (group := self._group) is None:
            return
        assert group.commit is not None
        error = group.commit.exception()
        self._group = None
        if error is not None:
            self.cache.take_back(group.new, group.moved)
            raise error
        del self.events[: group.events]
        for key in group.blobs:
            del self.blobs[key]
        for status, count in group.trimmed.items():
            self.sums.counts[status] -= count
        if self.trim == group.trim:
            self.trim = None
        self.identities.noted(self.sums.noted)
        self.reader.refresh(moved=bool(group.moved) or group.trim is not None)
        self.reader.items.follow(self.cache.written())


async def _ended(commit: Future[None]) -> None:
    """Return when a commit has ended, well or not. asyncio's own bridge to a thread costs twice as much."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ended.done():
            ended.set_result(None)

    def wake_from_thread(_: Future[None]) -> None:
        with suppress(RuntimeError):  # nobody waits in a loop that is closed
            loop.call_soon_threadsafe(wake)

    commit.add_done_callback(wake_from_thread)
    await ended
