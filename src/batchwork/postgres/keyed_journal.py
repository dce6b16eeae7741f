"""The journal of a shared input: several processes place the rows that come to them, and work on all that is placed.

Decides which item a row is where nobody sees the order of an input: its identity alone tells. What is placed stands in
the order in which it came. Whoever places rows offers them in blocks, which all take; whoever meets a row that another
one has placed waits for that one's answer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import count

import msgspec

from batchwork.core.block import BLOCK_ITEMS, SharedInput, Sight, Turn
from batchwork.core.dsn import Dsn
from batchwork.core.errors import InputError
from batchwork.core.event import Began, Ended, Event, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import KEY_BYTES, KeyedRow
from batchwork.core.late_answer import OPEN
from batchwork.core.outcome import Failed, Status
from batchwork.core.ports import Entry, Standing
from batchwork.journal.rows import STATUSES, ItemRow, columns_digest
from batchwork.postgres import schema
from batchwork.postgres.blocks import OFFER, DatabaseBlocks
from batchwork.postgres.connection import SyncConnection, connect_sync, in_our_words
from batchwork.postgres.journal import PostgresJournal
from batchwork.postgres.reader import IN_A_BLOCK, DatabaseReader
from batchwork.postgres.writer import DatabaseWriter

# Who places rows and is stopped in the middle of it must not keep the others from doing the same for ever.
_ALONE = b"SET idle_session_timeout = '15s'"
_PLACED = b"SELECT coalesce(sum(items), 0)::bigint FROM worker"
_RESERVE = b"UPDATE worker SET items = items + %s WHERE id = %s"
_TO_DO = [STATUSES.index(status) for status in OPEN]
_NOT_OFFERED = (
    f"SELECT idx FROM item WHERE id = ANY(%s) AND status = ANY(%s) AND NOT {IN_A_BLOCK} ORDER BY idx".encode()
)
_SINCE = b"SELECT e.seq FROM event e JOIN event b ON b.seq = %s AND e.place > b.place WHERE e.seq = ANY(%s) LIMIT 1"
_PLACES = b"SELECT coalesce(max(idx) + 1, 0) FROM item"


class KeyedJournal(PostgresJournal):
    """A journal in which this process places rows of a shared input, beside others that do the same."""

    is_joined = is_shared = True

    def __init__(self, dsn: Dsn, shared_input: SharedInput, *, utc: Callable[[], float], max_wait_s: float) -> None:
        self._open_with(DatabaseWriter(dsn, max_wait_s=max_wait_s, shared_input=shared_input), utc)
        self.begins = self._writer.is_alone  # the others take the run's limits as they are
        self._placing, self._looking = asyncio.Lock(), asyncio.Lock()
        self._watch: DatabaseReader | None = None
        self._is_ending = False

    def begin(self, began: Began) -> Standing:
        """Begin the run, or be one more in it."""
        if self._writer.is_alone:
            standing = super().begin(began)
            self.flush()
            self._writer.let_others_in()
        else:
            sums = self._sums
            self._blocks = DatabaseBlocks(self._dsn, worker=self.worker, began=began)
            self._blocks.began = sums.began
            standing = Standing(
                run_id=self.run_id, spent_nano=sums.spent, unconfirmed_nano=sums.unconfirmed, recovered=0
            )
        self._elsewhere, self._is_first = [], True  # no row ever comes to the place of another one
        return standing

    def record(self, event: Event) -> None:
        """Queue one fact; the end of the run is told by whoever leaves last."""
        if isinstance(event, Ended):
            if not self._writer.is_last():
                return
            event = msgspec.structs.replace(event, figures=None)  # they are those of this process alone
            if event.stopped is None:
                with closing(self._connected()) as session:
                    ((places,),) = session.execute(_PLACES).fetchall()
                event = msgspec.structs.replace(event, inputs=places)
        super().record(event)

    def exchange(self, turn: Turn) -> Sight:
        """Tell the others and ask them; there is more to come until `end_input`."""
        return replace(super().exchange(turn), has_owner=not self._is_ending)

    def end_input(self) -> None:
        """Nothing is placed here any more."""
        self._is_ending = True

    # -- rows -----------------------------------------------------------------------------------

    async def place_all(self, rows: Sequence[KeyedRow]) -> list[int]:
        """The item of each row. Whoever is new is placed, whoever is to be done and in no block is offered.

        Raises:
            InputError: a key stands for two different requests.
            DatabaseAwayError: nobody answers now; the same may be asked again.
        """
        async with self._placing:
            session = await asyncio.to_thread(self._connected)
            try:
                async with self._looking:
                    known, places = await asyncio.to_thread(self._looked_up, session, rows)
                items = self._opened(rows, known, places)
                await self.durable()
                await asyncio.to_thread(self._offer, session, items)
            finally:
                await asyncio.to_thread(session.close)  # and with it goes the lock
        return items

    def _connected(self) -> SyncConnection:
        with in_our_words(self._dsn), ExitStack() as undo:
            session = undo.enter_context(closing(connect_sync(self._dsn, name="batchwork rows")))
            schema.use(session, self._dsn)
            session.execute(_ALONE)
            session.execute("SELECT pg_advisory_lock(%s)", (schema.lock_key("rows", self._dsn.schema),))
            undo.pop_all()
        return session

    def _looked_up(
        self, session: SyncConnection, rows: Sequence[KeyedRow]
    ) -> tuple[dict[bytes, ItemRow], dict[bytes, int]]:
        """The rows that the journal knows, and the places of those that have none yet."""
        reader = self._watch = self._watch or DatabaseReader(self._dsn)
        known = {row.fingerprint: row for row in reader.items.alike(row.alike for row in rows)}
        standing = {fingerprint for fingerprint, row in known.items() if row.index is not None}
        unplaced = dict.fromkeys(row.fingerprint for row in rows if row.fingerprint not in standing)
        with in_our_words(self._dsn):
            self._refuse_ambiguous(session, rows, known)
            ((first,),) = session.execute(_PLACED).fetchall()
            session.execute(_RESERVE, (len(unplaced), self.worker))  # theirs, should the lock be lost
        return known, dict(zip(unplaced, count(first)))

    def _refuse_ambiguous(
        self, session: SyncConnection, rows: Sequence[KeyedRow], known: Mapping[bytes, ItemRow]
    ) -> None:
        """An InputError where a key of this run stands for two different requests."""
        assert self._blocks is not None
        of_key: dict[bytes, list[bytes]] = {}
        for fingerprint in known:
            of_key.setdefault(fingerprint[:KEY_BYTES], []).append(fingerprint)
        here: dict[bytes, bytes] = {}
        for row in rows:
            if row.key is None:
                continue
            own = row.fingerprint[:KEY_BYTES]
            others = [known[other].request_seq for other in of_key.get(own, ()) if other != row.fingerprint]
            # What an earlier run asked under this key does not count: the table may have changed since.
            if here.setdefault(own, row.fingerprint) != row.fingerprint or (
                others and session.execute(_SINCE, (self._blocks.began, others)).fetchone()
            ):
                raise InputError(
                    f"the key {row.key} stands for two different requests: give every row a key of its own; if the data"
                    " has changed since this dataset was made, make it anew"
                )

    def _opened(self, rows: Sequence[KeyedRow], known: dict[bytes, ItemRow], places: dict[bytes, int]) -> list[int]:
        """The item of each row; those that stand nowhere are placed."""
        self._sums.items += len(places)
        for row in rows:
            if (place := places.pop(row.fingerprint, None)) is None:
                continue
            state = known.get(row.fingerprint)
            if state is None:
                state = known[row.fingerprint] = ItemRow(place, row.fingerprint, 0)
                state.is_new = True
            # else: it stood in an input that was replaced by another one
            self._open(state, place, row, columns_digest(row.columns))
            if row.request is None and state.status is Status.PENDING:
                failure = Failure(kind=FailureKind.BAD_INPUT, message=row.problem or "not a request")
                self.record(Settled(item=state.item, outcome=Failed(index=place, failure=failure)))
            self._cache.release(state.item)
        return [known[row.fingerprint].item for row in rows]

    def _offer(self, session: SyncConnection, items: list[int]) -> None:
        """Offer those of the items that are to be done and in no block: in stretches of places."""
        assert self._blocks is not None
        with in_our_words(self._dsn):
            first = stop = -1
            for (place,) in (*session.execute(_NOT_OFFERED, (items, _TO_DO)).fetchall(), (None,)):
                if place == stop and stop - first < BLOCK_ITEMS:
                    stop += 1
                    continue
                if stop > first:
                    values = {"first": first, "stop": stop, "began": self._blocks.began, "me": self.worker}
                    session.execute(OFFER.encode(), values)
                if place is not None:
                    first, stop = place, place + 1

    async def settled(self, items: list[int]) -> list[Entry] | None:
        """These items, once nobody has anything to do about them in this run; None: not yet."""
        async with self._looking:
            return await asyncio.to_thread(self._settled, items)

    def _settled(self, items: list[int]) -> list[Entry] | None:
        reader = self._watch = self._watch or DatabaseReader(self._dsn)
        return None if reader.items.has_open(items) else reader.entries_of(items)

    def close(self) -> None:
        """Write everything queued, say goodbye and let go."""
        try:
            super().close()
        finally:
            if self._watch is not None:
                self._watch.close()
