"""The blocks of a journal in a database: offered by its owner, taken by everybody, freed when their worker is dead.

Decides nothing about calls: a block says who may work on which places, and that is all. Every statement may be sent
again when its answer was lost: an offer that is there is not made twice, and what was taken unheard is told later.
"""

import logging
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg

from batchwork.core.batch_book import BatchBook
from batchwork.core.block import Orphan, Sight, TakenBlock, Turn
from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalFencedError, JournalLockedError
from batchwork.core.event import Began, Event
from batchwork.core.late_answer import OPEN
from batchwork.journal.rows import STATUSES
from batchwork.postgres import schema, workers
from batchwork.postgres.connection import (
    LOST,
    DatabaseAwayError,
    SyncConnection,
    connect_sync,
    in_our_words,
    persistently,
)
from batchwork.postgres.reader import DONE, DatabaseReader
from batchwork.postgres.tickets import adopt_all, orphans_of

_log = logging.getLogger(__name__)
_OTHER_LIMITS = (
    "the run began with other limits (--max-cost, --rpm, --account, ...) than this process has: give it the same, or"
    " start it again"
)
_FINISH = "DELETE FROM block WHERE worker = %(me)s AND first = ANY(%(firsts)s)"
_LEAVE = "UPDATE block SET worker = NULL WHERE worker = %(me)s AND first = ANY(%(firsts)s)"
OFFER = """
INSERT INTO block (first, stop, began) SELECT %(first)s, %(stop)s, %(began)s FROM worker
WHERE id = %(me)s AND state = 'live' FOR SHARE ON CONFLICT DO NOTHING
"""
_FREE = """
UPDATE block SET worker = NULL FROM worker AS w WHERE block.worker = w.id AND w.state <> 'live'
  AND NOT EXISTS (SELECT FROM ticket WHERE ticket.worker = w.id)
"""
_TAKE = """
UPDATE block AS b SET worker = %(me)s, claims = claims + 1
FROM (SELECT first FROM block WHERE worker IS NULL ORDER BY first LIMIT %(wants)s FOR UPDATE SKIP LOCKED) AS f
WHERE b.first = f.first AND EXISTS (SELECT FROM worker WHERE id = %(me)s AND state = 'live')
"""
_MINE = "SELECT first, stop, began FROM block WHERE worker = %(me)s AND NOT first = ANY(%(firsts)s) ORDER BY first"
# The owner is one that has shown a sign of life since this process came: another one's row may stand for a while.
_LOOK = f"""
SELECT (SELECT count(*) FROM block WHERE worker IS NULL), (SELECT count(*) FROM block WHERE worker <> %(me)s),
  count(*) FILTER (WHERE w.state = 'live' AND NOT w.is_owner), count(*) FILTER (WHERE w.state = 'live' AND w.is_owner),
  max(w.began) FILTER (WHERE w.state = 'live' AND w.is_owner AND w.renewed_at > me.joined_at), max(w.name) FILTER
  (WHERE w.state = 'live' AND w.is_owner), me.state = 'live', EXISTS (SELECT FROM late),
  extract(epoch FROM clock_timestamp())::float8, coalesce(sum(w.spent), 0)::bigint,
  coalesce(bool_or(w.reads AND w.state = 'live'), false),
  {DONE.replace("standing", "w.standing")}
FROM worker AS me LEFT JOIN worker AS w ON w.id <> me.id WHERE me.id = %(me)s GROUP BY me.id
"""
_BEGIN = "DELETE FROM block WHERE worker IS NULL OR worker IN (SELECT id FROM worker WHERE state <> 'live')"
_ELSEWHERE = "SELECT first, stop FROM block WHERE worker <> %(me)s ORDER BY first"
_END = "UPDATE block SET worker = NULL WHERE worker = %(me)s AND NOT EXISTS (SELECT FROM ticket WHERE worker = %(me)s)"
_READS = "UPDATE worker SET reads = %(reads)s WHERE id = %(me)s"


class DatabaseBlocks:
    """The blocks of one journal, as one worker sees them. Its methods wait for the database."""

    def __init__(self, dsn: Dsn, *, worker: int, began: Began) -> None:
        self._dsn = dsn
        self._me = worker
        self._ours = began  # what this process was told
        self.began = 0  # the event with which this process, as the owner, has begun
        self._checked: set[int] = set()
        self._known: set[int] = set()  # the blocks that this process was told it has
        self._known_batches: set[int] = set()  # of others, that it knows to follow
        self._reads = False  # as the others know
        self._session: SyncConnection | None = None
        self._heard: float | None = None  # when the database last answered, by its own clock
        self._steady_since = 0.0  # since then it was never silent for long
        self._reader: DatabaseReader | None = None

    def begin(self, book: BatchBook) -> list[tuple[int, int]]:
        """Be the owner of a run: what is free will be placed anew, what others have left at the provider is followed;
        the places that others work on now.
        """
        with in_our_words(self._dsn):
            return persistently(partial(self._begin, book))

    def _begin(self, book: BatchBook) -> list[tuple[int, int]]:
        if self._session is not None and self._session.closed:
            self._drop()
        with self._connected().transaction():
            workers.reap(self._connected(), self._dsn.schema, me=self._me, heard=None)
            self._execute(_BEGIN)
            adopt_all(self._connected(), worker=self._me, book=book)
            return [(first, stop) for first, stop in self._execute(_ELSEWHERE)]

    def exchange(self, turn: Turn) -> Sight:
        """Tell and ask. DatabaseAwayError: nobody answers now."""
        try:
            with in_our_words(self._dsn):
                return self._exchange(turn)
        except DatabaseAwayError:
            self._drop()
            raise

    def _exchange(self, turn: Turn) -> Sight:
        self._connected()
        if turn.finished:
            self._execute(_FINISH, firsts=list(turn.finished))
        if turn.left:
            self._execute(_LEAVE, firsts=list(turn.left))
        self._known.difference_update(turn.finished, turn.left)
        for first, stop in turn.offered:
            self._execute(OFFER, first=first, stop=stop, began=self.began)
        if self._heard is not None and self._heard - self._steady_since >= workers.LEASE_S:
            for name in workers.reap(self._connected(), self._dsn.schema, me=self._me, heard=self._heard):
                _log.warning("%s does not work any more: what it had begun is taken over", name)
        if turn.reads is not self._reads:
            self._execute(_READS, reads=turn.reads)
            self._reads = turn.reads
        if turn.adopts:
            adopt_all(self._connected(), worker=self._me)
        self._execute(_FREE)
        if turn.wants:
            self._execute(_TAKE, wants=turn.wants)
        mine = self._execute(_MINE, firsts=list(self._known))
        taken = tuple(self._block(first, stop, began, turn.first_row) for first, stop, began in mine)
        orphans = self._orphans() if turn.adopts else ()
        looked = self._execute(_LOOK)
        if not looked or not looked[0][6]:
            raise JournalFencedError(f"what this process was at work on in {self._dsn} was taken over by others")
        ((free, held, helpers, owners, began, owner, _, has_late, now, spent, is_read, *done),) = looked
        if began and began not in self._checked:
            self._check(self._reading().event(began), owner)
        self._hear(now)
        late = self._reading().late(self._me) if has_late else ()
        self._known.update(block.first for block in taken)  # now nothing more can keep the caller from hearing of it
        self._known_batches.update(orphan.chunk for orphan in orphans)
        return Sight(
            taken=taken,
            free=free,
            held=held,
            helpers=helpers,
            has_owner=owners > 0,
            done=dict(zip(STATUSES, map(int, done), strict=True)),
            spent_nano=spent,
            late=late,
            is_read=is_read,
            orphans=orphans,
        )

    def _orphans(self) -> tuple[Orphan, ...]:
        """The batches of others that this process follows from now on. Who has made them writes no more about them."""
        found = orphans_of(self._connected(), worker=self._me, known=self._known_batches, lease_s=workers.LEASE_S)
        told = self._reading().batch_book() if found else BatchBook()
        return tuple(
            Orphan(chunk=chunk, told=told, batch_id=batch_id, fenced_s=fenced_s) for chunk, batch_id, fenced_s in found
        )

    def _hear(self, now: float) -> None:
        """The database has answered: by its clock it is that late."""
        if self._heard is None or not 0.0 <= now - self._heard <= workers.longest_gap_s():
            self._steady_since = now
        self._heard = now

    def _reading(self) -> DatabaseReader:
        self._reader = self._reader or DatabaseReader(self._dsn)
        return self._reader

    def _block(self, first: int, stop: int, began: int, first_row: bytes | None) -> TakenBlock:
        reader = self._reading()
        if began not in self._checked:
            self._check(reader.event(began), "another process")
            if first_row is not None and [row.fingerprint for row in reader.items.rows_at(0, 1)] != [first_row]:
                raise other_input(self._dsn, 0)
            self._checked.add(began)
        there = reader.items.rows_at(first, stop)
        rows = [row for row in there if row.status in OPEN]
        reader.fetch_requests(rows)
        # A bad row of the input has no request: its owner sees to it.
        items = [(row, request) for row in rows if (request := reader.asked(row)) is not None]
        settled = [row for row in there if row.status not in OPEN and row.reserved_nano]
        return TakenBlock(first=first, items=items, settled=settled)

    def _check(self, event: Event | None, owner: str) -> None:
        """Refuse to answer for another model or input, or without the limits that the run has."""
        ours = self._ours
        if not isinstance(event, Began):
            return
        if event.input.is_alone:
            raise JournalLockedError(
                f"{owner} works alone on the journal {self._dsn} (a retry, a stream, an embed or a manager):"
                " wait for it, or stop it"
            )
        if event.model != ours.model:
            raise JournalLockedError(
                f"the run on {self._dsn} asks {event.model}, and this process {ours.model}: give it the same model, or"
                " take another journal"
            )
        if (mode := event.settings.get("mode", "live")) != ours.settings.get("mode", "live"):
            raise JournalLockedError(f"the run on {self._dsn} works in the mode {mode!r}: give this process the same")
        if _limits(event) != _limits(ours):
            raise JournalLockedError(f"{self._dsn}: {_OTHER_LIMITS}")
        totals = (event.input.total, ours.input.total)
        if None not in totals and totals[0] != totals[1]:
            raise JournalLockedError(
                f"{other_input(self._dsn)} (that one has {totals[0]:,} rows, and this process was given {totals[1]:,})"
            )

    def end(self) -> None:
        """Free what is not finished, and let go."""
        with suppress(DatabaseAwayError, *LOST):  # whoever reaps us does the same
            self._connected()
            self._execute(_END)
        self._drop()
        if self._reader is not None:
            self._reader.close()

    def _connected(self) -> SyncConnection:
        if self._session is None:
            session = connect_sync(self._dsn, name="batchwork blocks")
            try:
                schema.use(session, self._dsn)
            except BaseException:
                session.close()
                raise
            self._session, self._heard = session, None
        return self._session

    def _drop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(psycopg.Error):
                session.close()

    def _execute(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        assert self._session is not None
        cursor = self._session.execute(statement.encode(), {"me": self._me, **values})
        return cursor.fetchall() if cursor.description is not None else []


def _limits(began: Began) -> tuple[set[str], list[str]]:
    """What a run limits, and the accounts that it shares; how much is what whoever has begun it says."""
    settings, accounts = began.settings, began.settings.get("account") or ()
    stated = {name for name in ("rpm", "input_tpm", "output_tpm", "max_cost") if settings.get(name) is not None}
    return stated, [accounts] if isinstance(accounts, str) else sorted(accounts)


def other_input(dsn: Dsn, index: int | None = None) -> JournalLockedError:
    """The error of a process that has joined a run with another input than that has."""
    where = "" if index is None else f", by row {index + 1:,}"
    return JournalLockedError(
        f"this input is not that of the run on {dsn} which it has joined{where}: wait until that has ended and run it"
        " again, give the same input (`batchwork worker` needs none), or take another journal"
    )
