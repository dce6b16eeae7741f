"""The provider batches of a journal that are open: each has a row that says who follows it.

Whoever intends a batch follows it. When that process has ended, in whatever way, the run's owner adopts the batch, and
with it the blocks of that process: so an item is in the hands of one process at every instant, whether it rides or
waits to. What a process was granted for its batches stays with its own row until they are read.
"""

from collections.abc import Iterable

from batchwork.core.batch_book import BatchBook
from batchwork.core.event import BatchClosed, BatchEvent, BatchIntended, BatchReopened, BatchSubmitted
from batchwork.postgres.connection import SyncConnection

CHUNK_BITS = 20  # of the number of a batch; the worker that intended it stands above them
# `riding`: what a worker has set aside for items in batches, less what it has read for others. `reads`: its input has
# more. A batch that was taken over may be made late: then its maker leaves its id, unless it was given up as absent.
TICKET_TABLE = """
ALTER TABLE worker ADD COLUMN riding bigint NOT NULL DEFAULT 0, ADD COLUMN reads boolean NOT NULL DEFAULT false;
CREATE TABLE ticket (
  chunk bigint PRIMARY KEY, worker integer NOT NULL REFERENCES worker, is_submitted boolean NOT NULL DEFAULT false,
  batch_id text, is_absent boolean NOT NULL DEFAULT false);
"""
_STATEMENTS: dict[type, bytes] = {
    BatchIntended: b"INSERT INTO ticket (chunk, worker) VALUES (%(chunk)s, %(me)s)",
    BatchSubmitted: b"UPDATE ticket SET is_submitted = true WHERE chunk = %(chunk)s",
    BatchClosed: b"DELETE FROM ticket WHERE chunk = %(chunk)s",
    BatchReopened: b"INSERT INTO ticket VALUES (%(chunk)s, %(me)s, true) ON CONFLICT DO NOTHING",
}
_ADOPT = b"""
WITH moved AS (
  UPDATE ticket SET worker = %(me)s FROM worker AS w WHERE ticket.worker = w.id AND w.state <> 'live'
    AND EXISTS (SELECT FROM worker WHERE id = %(me)s AND state = 'live') RETURNING w.id)
UPDATE block SET worker = %(me)s, claims = claims + 1 WHERE worker IN (SELECT id FROM moved)
"""
# A batch of a journal that was written before there were such rows; nobody who is at work has made it.
_ADD = b"""
WITH added AS (
  INSERT INTO ticket (chunk, worker, is_submitted)
  SELECT u.chunk, %(me)s, u.is_submitted
  FROM unnest(%(chunks)s::bigint[], %(submitted)s::boolean[]) AS u (chunk, is_submitted)
  ON CONFLICT DO NOTHING RETURNING chunk)
UPDATE worker SET riding = riding + coalesce((
  SELECT sum(u.nano) FROM added
  JOIN unnest(%(chunks)s::bigint[], %(reserved)s::bigint[]) AS u (chunk, nano) USING (chunk)), 0)
WHERE id = (SELECT max(id) FROM worker WHERE state <> 'live')
"""
_ORPHANS = b"""
SELECT t.chunk, t.batch_id, CASE WHEN NOT t.is_submitted AND maker.state = 'dead'
  THEN extract(epoch FROM clock_timestamp() - maker.renewed_at)::float8 - %(lease_s)s END
FROM ticket AS t LEFT JOIN worker AS maker ON maker.id = t.chunk >> %(bits)s
WHERE t.worker = %(me)s AND t.chunk >> %(bits)s <> %(me)s AND NOT t.chunk = ANY(%(known)s) ORDER BY t.chunk
"""
_HAND_OVER = b"UPDATE ticket SET batch_id = %s WHERE chunk = %s AND NOT is_absent RETURNING chunk"
_GIVE_UP = b"UPDATE ticket SET is_absent = batch_id IS NULL WHERE chunk = %s AND worker = %s RETURNING batch_id"


def note_tickets(session: SyncConnection, events: Iterable[BatchEvent], *, worker: int) -> None:
    """Let the rows follow what has happened, in the transaction that records it."""
    for event in events:
        if (statement := _STATEMENTS.get(type(event))) is not None:
            session.execute(statement, {"chunk": event.chunk, "me": worker})


def adopt_all(session: SyncConnection, *, worker: int, book: BatchBook | None = None) -> None:
    """Take over what all who have ended have at the provider, with their blocks; where there is a `book`, also what
    it has of the time before there were rows.
    """
    if book is not None and (old := [ticket for ticket in book.open() if ticket.chunk >> CHUNK_BITS == 0]):
        values = {
            "me": worker,
            "chunks": [ticket.chunk for ticket in old],
            "submitted": [ticket.batch_id is not None for ticket in old],
            "reserved": [sum(ticket.worst_nano) for ticket in old],
        }
        session.execute(_ADD, values)
    session.execute(_ADOPT, {"me": worker})


def orphans_of(
    session: SyncConnection, *, worker: int, known: Iterable[int], lease_s: float
) -> list[tuple[int, str | None, float | None]]:
    """The batches of others that this worker follows and has not heard of: number, id, and, where it may have been
    about to make one, for how long the lease of its maker is over.
    """
    values = {"me": worker, "known": list(known), "bits": CHUNK_BITS, "lease_s": lease_s}
    return session.execute(_ORPHANS, values).fetchall()


def hand_over(session: SyncConnection, chunk: int, batch_id: str) -> bool:
    """Leave the id of a batch to whoever follows it now; False: nobody does any more."""
    return session.execute(_HAND_OVER, (batch_id, chunk)).fetchone() is not None


def give_up(session: SyncConnection, chunk: int, *, worker: int) -> str | None:
    """The id that somebody has left for a batch; None: nobody has, and nobody can from now on."""
    row = session.execute(_GIVE_UP, (chunk, worker)).fetchone()
    return None if row is None else row[0]
