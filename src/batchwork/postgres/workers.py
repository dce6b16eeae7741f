"""Decides who is at work on a journal: one row per worker is its heartbeat, its fence and the mark of its last commit.

All times are the database's own.
"""

from batchwork.postgres.connection import SyncConnection

WORKER_BITS = 36  # of the number of an event; the worker stands above them
HEARTBEAT_S = 5.0
LEASE_S = 30.0
GRACE_S = 3.0  # since its last renewal, for a worker whose session is gone: it may be opening another

_JOIN = "INSERT INTO worker (name, seq) VALUES (%s, 0) RETURNING id"
_REPLACE = "UPDATE worker SET state = 'dead', epoch = epoch + 1 WHERE state = 'live'"
_RENEW = "UPDATE worker SET renewed_at = clock_timestamp() WHERE id = %s AND epoch = %s AND state = 'live'"
_LEAVE = "UPDATE worker SET state = 'done', renewed_at = clock_timestamp() WHERE id = %s AND epoch = %s"
# A database that was away makes every worker look dead: all get one lease to come back.
_WAIT = """
SELECT coalesce(max(greatest(
  extract(epoch FROM renewed_at - clock_timestamp()) + %s,
  CASE WHEN renewed_at < pg_postmaster_start_time()
    THEN extract(epoch FROM pg_postmaster_start_time() - clock_timestamp()) + %s ELSE 0 END)), 0)
FROM worker WHERE state = 'live'
"""


def wait_for_others(session: SyncConnection) -> float:
    """Seconds until those who have not said goodbye, and hold no lock, count as dead."""
    (wait_s,) = session.execute(_WAIT, (GRACE_S, LEASE_S)).fetchone() or (0,)
    return max(0.0, float(wait_s))


def join(session: SyncConnection, name: str) -> int:
    """Take over from whoever was there, and get a row of one's own; its number."""
    with session.transaction():
        session.execute(_REPLACE)
        row = session.execute(_JOIN, (name,)).fetchone()
    assert row is not None
    return int(row[0])


def renew(session: SyncConnection, worker: int, epoch: int) -> None:
    """Say that the worker is alive."""
    session.execute(_RENEW, (worker, epoch))


def leave(session: SyncConnection, worker: int, epoch: int) -> None:
    """Say goodbye: nobody need wait for this worker."""
    session.execute(_LEAVE, (worker, epoch))
