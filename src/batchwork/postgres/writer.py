"""The writer of a journal in a database: every group is one statement, which also renews the writer's own row.

Natural group commit is that of a journal in a file; only, a group is packed into arrays on the loop's thread, and a
thread of its own sends it. A connection that is lost while a group is under way says nothing about the group: the
writer's row, which has the number of its last event, decides whether it has landed. A group is never made anew before
that is known.
"""

import logging
import os
import socket
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import Any

import psycopg
from msgspec.structs import replace

from batchwork.clock import stopwatch
from batchwork.core.block import RUN, SharedInput
from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError, JournalError, JournalFencedError, JournalLockedError, JournalWriteError
from batchwork.core.event import BatchEvent, Ended, Settled
from batchwork.core.words import counted, sentence
from batchwork.journal import codec
from batchwork.journal.rows import STATUSES
from batchwork.journal.writer import Group, JournalWriter
from batchwork.postgres import schema
from batchwork.postgres.arrays import register
from batchwork.postgres.connection import (
    LOST,
    DatabaseAwayError,
    SyncConnection,
    away,
    connect_sync,
    in_our_words,
    persistently,
)
from batchwork.postgres.group import BLOB, packed_group, write_group
from batchwork.postgres.identities import DatabaseIdentities
from batchwork.postgres.late_answers import hand_in
from batchwork.postgres.reader import DatabaseReader
from batchwork.postgres.tickets import CHUNK_BITS
from batchwork.postgres.workers import HEARTBEAT_S, WORKER_BITS, join, leave, renew, show_life, wait_for_others

_GOODBYES, _GOODBYE_S = 40, 0.05
_BEGIN_S = 15.0  # for the first owner of a shared input, to begin its run
_log = logging.getLogger(__name__)
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 5.0
_MOMENT_S = 5.0  # for a database that is away when somebody cannot wait, as at the end of a run
# Plans of the group statement are made once, and find rows by their indexes whatever the tables looked like then.
_SETTINGS = ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", "enable_hashjoin = off", "jit = off")
_BULKY = 16_000_000  # bytes of shared parts, which then go ahead of their group one by one
_SETTLED = codec.KINDS[Settled]


class DatabaseWriter(JournalWriter):
    """A journal in a database that this process writes, from construction until `close`.

    The owner, who places the input, is alone; others join to work on what it has placed. Of a `shared_input` there are
    several owners: the first begins the run, and then lets the others in.
    """

    reader: DatabaseReader
    identities: DatabaseIdentities  # type: ignore[assignment]

    def __init__(
        self, dsn: Dsn, *, max_wait_s: float, is_owner: bool = True, shared_input: SharedInput | None = None
    ) -> None:
        self.dsn = dsn
        self._is_owner = is_owner
        self.is_alone = True  # as an owner
        self._max_wait_s = max_wait_s
        self._session: SyncConnection | None = None
        self._last_pid = 0  # of the session before, which may still be there
        self._closing, self._hurried, self._rest = threading.Event(), threading.Event(), threading.Event()
        self._packed: tuple[Any, ...] = ()
        self._bulky: list[tuple[bytes, bytes, int]] = []
        self.taken_in: list[int] = []  # late answers that the next group has taken in
        self._packed_late = 0
        self._batch_events: list[BatchEvent] = []
        self._begin_queue(dsn)
        self.name = f"{socket.gethostname()}:{os.getpid()}" if shared_input is None else shared_input.worker
        self.epoch = 1
        with in_our_words(dsn), ExitStack() as undo:
            session = undo.enter_context(closing(persistently(partial(self._join, shared_input))))
            self.reader = undo.enter_context(closing(DatabaseReader(dsn, pinned=True)))
            self.sums = self.reader.sums()
            self.sums.seq = self._sent = self.id << WORKER_BITS
            self._base = replace(self.sums, counts=dict(self.sums.counts))
            self.identities = DatabaseIdentities(self.reader.items)
            self.batches = self.reader.batch_book()
            self._riding_before = self.batches.reserved_nano
            self.batches.number_from(self.id << CHUNK_BITS)
            self._session = session
            undo.pop_all()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._heart = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._heart.start()

    def take_name(self, run_id: str) -> None:
        """Let the journal be known under this name at the provider."""
        assert self._session is not None
        with in_our_words(self.dsn):
            self._session.execute("UPDATE meta SET run_id = %s", (run_id,))

    # -- the session ----------------------------------------------------------------------------

    def _connect(self) -> SyncConnection:
        session = connect_sync(self.dsn, name="batchwork writer")
        try:
            schema.prepare(session, self.dsn)
            for setting in _SETTINGS:
                session.execute(f"SET {setting}".encode())
            register(session)
        except BaseException:
            session.close()
            raise
        self._last_pid = session.info.backend_pid
        return session

    def _join(self, shared_input: SharedInput | None) -> SyncConnection:
        """A session, with a row of this worker."""
        with ExitStack() as undo:
            session = undo.enter_context(closing(self._connect()))
            if shared_input is not None:
                self.is_alone = not self._shares(session, shared_input.run)
            elif self._is_owner:
                self._replace_owner(session)
            self.id = join(session, self.name, is_owner=self._is_owner, is_alone=self.is_alone)
            show_life(session, self.dsn.schema, self.id)
            undo.pop_all()
        return session

    def _lock(self, session: SyncConnection) -> None:
        """Be the only writer; a JournalLockedError names the other one."""
        key = schema.lock_key("writer", self.dsn.schema)
        for _ in range(_GOODBYES):  # one that has said goodbye holds its lock until the server has ended its session
            if session.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone() == (True,):
                return
            row = session.execute("SELECT name FROM worker WHERE state = 'live' ORDER BY id DESC LIMIT 1").fetchone()
            if row is not None:
                break
            self._closing.wait(_GOODBYE_S)
        who = "another process" if row is None else row[0]
        raise JournalLockedError(f"the journal {self.dsn} is being written by {who}; wait for it, or stop it")

    def _replace_owner(self, session: SyncConnection) -> None:
        """Be the owner. Whoever was it and did not say goodbye may come back meanwhile, and finds the lock free."""
        while True:
            self._lock(session)
            wait_s = wait_for_others(session)
            if not wait_s:
                return
            _log.warning("%s was left without a word: waiting %.0f s, so that nobody writes any more", self.dsn, wait_s)
            session.execute("SELECT pg_advisory_unlock(%s)", (schema.lock_key("writer", self.dsn.schema),))
            self._closing.wait(wait_s)

    def _shares(self, session: SyncConnection, run: str) -> bool:
        """Be one of the owners of a run that has begun, or else the owner who begins it; whether it has begun."""
        waited = stopwatch()
        with closing(DatabaseReader(self.dsn)) as reader:
            while True:
                if _goes_on(reader, run):
                    if self._lock_with(session, "pg_try_advisory_lock_shared") and _goes_on(reader, run):
                        return True
                    self._lock_with(session, "pg_advisory_unlock_shared")
                try:
                    self._replace_owner(session)
                    return False
                except JournalLockedError:  # by one who begins this run, or works on another
                    if waited() >= _BEGIN_S:
                        raise
                self._closing.wait(_GOODBYE_S)

    def let_others_in(self) -> None:
        """The run has begun: whoever has rows of the same input may place them."""
        if self.is_alone and self._session is not None:
            self.is_alone = False
            with in_our_words(self.dsn):
                self._lock_with(self._session, "pg_advisory_lock_shared")
                self._lock_with(self._session, "pg_advisory_unlock")

    def is_last(self) -> bool:
        """Give up the owners' lock; whether no other owner has it."""
        if self._session is None:
            return False
        with in_our_words(self.dsn):
            self._lock_with(self._session, "pg_advisory_unlock_shared")
            return self._lock_with(self._session, "pg_try_advisory_lock")

    def _lock_with(self, session: SyncConnection, function: str) -> bool:
        key = schema.lock_key("writer", self.dsn.schema)
        return session.execute(f"SELECT {function}(%s)".encode(), (key,)).fetchone() == (True,)

    def _restored(self) -> SyncConnection:
        """A session of this worker, after the last one was lost."""
        before = self._last_pid
        session = self._connect()
        try:
            self._marked(session)
            # Our former session may still hold its lock, where the server has not noticed that nobody is there.
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name ="
                " 'batchwork writer' AND usename = current_user",
                (before,),
            )
            session.execute("SET lock_timeout = '5s'")
            if self._is_owner:
                self._lock_with(session, "pg_advisory_lock" if self.is_alone else "pg_advisory_lock_shared")
            show_life(session, self.dsn.schema, self.id)
            session.execute("SET lock_timeout = 0")
        except BaseException:
            session.close()
            raise
        return session

    def _drop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(psycopg.Error):
                session.close()

    def _beat(self) -> None:
        """Renew the worker's row while it commits nothing: who waits for money or a provider is not dead."""
        while not self._closing.wait(HEARTBEAT_S):
            with suppress(RuntimeError):  # the journal is being closed
                self._thread.submit(self._renew)

    def _renew(self) -> None:
        """Say that this worker is alive; where its connection was lost meanwhile, over another one."""
        with suppress(DatabaseAwayError, ConfigError, JournalLockedError, *LOST):  # the next group tells
            if self._session is not None:
                try:
                    renew(self._session, self.id, self.epoch)
                    return
                except LOST:
                    self._drop()
            if not self._closing.is_set():
                self._session = self._restored()
                renew(self._session, self.id, self.epoch)

    def note_batch(self, event: BatchEvent) -> None:
        """Let the others see with the next group how a batch stands."""
        self._batch_events.append(event)

    # -- one group ------------------------------------------------------------------------------

    def _put_in(self) -> None:
        """Pack everything queued; the thread sends it."""
        group = Group(events=len(self.events), blobs=list(self.blobs), trim=self.trim)
        group.batch_events, self._batch_events = self._batch_events, []
        blobs = [(key, body, codec.blob_checksum(key, body)) for key, body in self.blobs.items()]
        self._bulky = blobs if sum(len(body) for _, body, _ in blobs) > _BULKY else []
        blobs = [] if self._bulky else blobs
        self._packed = packed_group(
            self._numbers(group.events),
            self.events,
            blobs,
            self.cache.changed.values(),
            group=group,
            taken_in=self.taken_in,
        )
        self._packed_late = len(self.taken_in)
        self.sums.noted = self.sums.items
        self.cache.write_changed()
        self._group = group
        self._last = self.events[-1][0] if self.events else self._sent

    def _numbers(self, events: int) -> list[int]:
        """The worker's row: who it is, how far it is, and what it has added to the journal's sums."""
        now, base = self.sums, self._base
        added = [now.counts[status] - base.counts[status] for status in STATUSES]
        money = (now.spent - base.spent, now.unconfirmed - base.unconfirmed, now.reserved - base.reserved)
        began = now.began if now.began != base.began else 0
        things = (now.items - base.items, now.batches - base.batches)
        riding = self.batches.reserved_nano - self._riding_before
        return [self.id, self.epoch, now.seq, began, *money, *things, events, *added, riding]

    def _start_commit(self) -> Future[None]:
        assert self._group is not None
        try:
            commit = self._thread.submit(self._send, self._packed, self._last, self._group)
        except RuntimeError:  # the interpreter ends and starts nothing more: it is sent from here
            commit = Future()
            try:
                self._send(self._packed, self._last, self._group)
            except JournalError as error:
                commit.set_exception(error)
            else:
                commit.set_result(None)
        self._group.commit = commit
        return commit

    def flush(self) -> None:
        """Write everything queued, now; a group whose fate is not known is seen to first.

        Whoever calls this holds up the event loop, so a database that is away gets only a moment to come back.
        """
        self._hurried.set()
        try:
            group = self._group
            if group is not None and group.commit is not None and group.commit.done() and group.commit.exception():
                self._start_commit()
            super().flush()
        finally:
            self._hurried.clear()

    def _finish_commit(self) -> None:
        group = self._group
        if group is not None and group.commit is not None and (error := group.commit.exception()) is not None:
            raise error  # it is kept as it is: whether it has landed, the database will tell
        if group is not None:
            del self.taken_in[: self._packed_late]
        super()._finish_commit()

    def _send(self, packed: tuple[Any, ...], last: int, group: Group) -> None:
        """Send one group, through lost connections, until it has landed."""
        waited, wait = stopwatch(), _FIRST_WAIT_S
        while True:
            try:
                if self._session is None:
                    self._session = self._restored()
                    if last > self._sent and self._marked(self._session) >= last:
                        break  # it has landed
                for blob in self._bulky:  # a statement has its limits; should the group never come, they do no harm
                    self._session.execute(BLOB, blob)
                self._execute(self._session, packed, group)
                break
            except psycopg.errors.DiskFull as error:
                raise JournalWriteError(
                    f"no space left for the journal {self.dsn} ({error.diag.message_primary}); free some at the"
                    " database and run the same command again"
                ) from None
            except (DatabaseAwayError, ConfigError, *LOST, psycopg.errors.ReadOnlySqlTransaction) as error:
                self._drop()
                if waited() >= (min(_MOMENT_S, self._max_wait_s) if self._hurried.is_set() else self._max_wait_s):
                    raise self._unwritten(error) from None
            except psycopg.Error as error:
                self._drop()
                raise JournalWriteError(
                    f"{self.dsn} cannot be written: {error.diag.message_primary or error}"
                ) from None
            (self._rest if self._hurried.is_set() else self._hurried).wait(wait)
            wait = min(wait * 2.0, _LONGEST_WAIT_S)
        self._sent = last

    def _execute(self, session: SyncConnection, packed: tuple[Any, ...], group: Group) -> None:
        if not write_group(session, packed, group, worker=self.id):
            raise self._fenced()

    def _marked(self, session: SyncConnection) -> int:
        """The last event of this worker that is there; a JournalFencedError when the worker was replaced."""
        told = "SELECT epoch, state, seq FROM worker WHERE id = %s AND name = %s"
        row = session.execute(told, (self.id, self.name)).fetchone()
        if row is None or row[:2] != (self.epoch, "live"):
            raise self._fenced()
        return int(row[2])

    def _fenced(self, left: str | None = None) -> JournalFencedError:
        return JournalFencedError(
            f"what this process was at work on in {self.dsn} was taken over by others while it was away from the"
            f" database; {left or f'{self._left()} not written'}"
        )

    def _unwritten(self, error: Exception) -> DatabaseAwayError:
        said = away(self.dsn, error) if isinstance(error, psycopg.Error) else error
        return DatabaseAwayError(f"{sentence(str(said))} {self._left()} not written.")

    def _left(self) -> str:
        settled = sum(event[2] == _SETTLED for event in list(self.events))
        return counted(settled, "answer is", "answers are")

    def close(self) -> None:
        """Write everything queued, say goodbye and let go."""
        self._closing.set()
        try:
            self.flush()
        except JournalFencedError:
            wait_s, me = min(_MOMENT_S, self._max_wait_s), (self.id, self.name)
            with in_our_words(self.dsn):
                answers = hand_in(self._connect, me, self.events, self.reader.items.under_way, wait_s=wait_s)
            late = f"{counted(answers or 0, 'answer was', 'answers were')} handed in late"
            raise self._fenced(None if answers is None else late) from None
        finally:
            self._thread.shutdown(wait=True)
            self.reader.close()
            if self._session is not None:
                with suppress(psycopg.Error):
                    leave(self._session, self.id, self.epoch)
            self._drop()


def _goes_on(reader: DatabaseReader, run: str) -> bool:
    """Whether the latest run of a journal is this one, and has not ended."""
    last = reader.last_run()
    return last is not None and last.settings.get(RUN) == run and not isinstance(reader.last_event(), Ended)
