"""The blocks of a journal in a database: offered by its owner, taken by everybody, freed when their worker is dead.

Decides nothing about calls: a block says who may work on which places, and that is all. Every statement may be sent
again when its answer was lost: an offer that is there is not made twice, and what was taken unheard is told later.
"""

import logging
from contextlib import suppress
from typing import Any

import psycopg

from batchwork.clock import stopwatch
from batchwork.core.block import Sight, TakenBlock, Turn
from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalLockedError
from batchwork.core.event import Began, Event
from batchwork.core.outcome import Status
from batchwork.postgres import schema, workers
from batchwork.postgres.connection import LOST, DatabaseAwayError, SyncConnection, connect_sync, in_our_words
from batchwork.postgres.reader import DatabaseReader

_log = logging.getLogger(__name__)
_PATIENCE = 2.0  # leases
TO_DO = frozenset({Status.PENDING, Status.DEFERRED})
_FINISH = "DELETE FROM block WHERE worker = %(me)s AND first = ANY(%(firsts)s)"
_LEAVE = "UPDATE block SET worker = NULL WHERE worker = %(me)s AND first = ANY(%(firsts)s)"
OFFER = "INSERT INTO block (first, stop, began) VALUES (%(first)s, %(stop)s, %(began)s) ON CONFLICT DO NOTHING"
_FREE = """
UPDATE block SET worker = NULL FROM worker AS w WHERE block.worker = w.id AND w.state <> 'live'
"""
_TAKE = """
UPDATE block AS b SET worker = %(me)s, claims = claims + 1
FROM (SELECT first FROM block WHERE worker IS NULL ORDER BY first LIMIT %(wants)s FOR UPDATE SKIP LOCKED) AS f
WHERE b.first = f.first AND EXISTS (SELECT FROM worker WHERE id = %(me)s AND state = 'live')
"""
_MINE = "SELECT first, stop, began FROM block WHERE worker = %(me)s AND NOT first = ANY(%(firsts)s) ORDER BY first"
_LOOK = """
SELECT (SELECT count(*) FROM block WHERE worker IS NULL), (SELECT count(*) FROM block WHERE worker <> %(me)s),
  count(*) FILTER (WHERE NOT is_owner), count(*) FILTER (WHERE is_owner)
FROM worker WHERE state = 'live' AND id <> %(me)s
"""
_BEGIN = "DELETE FROM block WHERE worker IS NULL"
_ELSEWHERE = "SELECT first, stop FROM block WHERE worker <> %(me)s ORDER BY first"
_END = "UPDATE block SET worker = NULL WHERE worker = %(me)s"


class DatabaseBlocks:
    """The blocks of one journal, as one worker sees them. Its methods wait for the database."""

    def __init__(self, dsn: Dsn, *, worker: int, began: Began) -> None:
        self._dsn = dsn
        self._me = worker
        self._ours = began  # what this process was told
        self.began = 0  # the event with which this process, as the owner, has begun
        self._checked: set[int] = set()
        self._known: set[int] = set()  # the blocks that this process was told it has
        self._session: SyncConnection | None = None
        self._connected_s = stopwatch()
        self._reader: DatabaseReader | None = None

    def begin(self) -> list[tuple[int, int]]:
        """Be the owner of a run: what is free will be placed anew; the places that others work on now."""
        with in_our_words(self._dsn), self._connected().transaction():
            workers.reap(self._connected(), self._dsn.schema, me=self._me, patience=_PATIENCE)
            self._execute(_FREE)
            self._execute(_BEGIN)
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
        if self._connected_s() >= workers.LEASE_S:
            for name in workers.reap(self._connected(), self._dsn.schema, me=self._me):
                _log.warning("%s does not work any more: what it had begun is taken over", name)
        self._execute(_FREE)
        if turn.wants:
            self._execute(_TAKE, wants=turn.wants)
        taken = tuple(self._block(*row) for row in self._execute(_MINE, firsts=list(self._known)))
        ((free, held, helpers, owners),) = self._execute(_LOOK)
        self._known.update(block.first for block in taken)  # now that nothing can be lost on the way
        return Sight(taken=taken, free=free, held=held, helpers=helpers, has_owner=owners > 0)

    def _block(self, first: int, stop: int, began: int) -> TakenBlock:
        reader = self._reader = self._reader or DatabaseReader(self._dsn)
        if began not in self._checked:
            self._check(began, reader.event(began))
        rows = [row for row in reader.items.rows_at(first, stop) if row.status in TO_DO]
        reader.fetch_requests(rows)
        # A bad row of the input has no request: its owner sees to it.
        items = [(row, request) for row in rows if (request := reader.asked(row)) is not None]
        return TakenBlock(first=first, items=items)

    def _check(self, began: int, event: Event | None) -> None:
        """Refuse to answer for another model, or without the ceiling that the run has."""
        ours = self._ours
        if isinstance(event, Began) and event.model != ours.model:
            raise JournalLockedError(
                f"the run on {self._dsn} asks {event.model}, and this process {ours.model}: give it the same model, or"
                " take another journal"
            )
        if isinstance(event, Began) and (event.max_cost_nano is None) != (ours.max_cost_nano is None):
            raise JournalLockedError(
                f"the run on {self._dsn} began with another limit than this process knew: run the same command again"
            )
        self._checked.add(began)

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
            self._session, self._connected_s = session, stopwatch()
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
