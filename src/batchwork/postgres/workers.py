"""Decides who is at work on a journal: one row per worker is its heartbeat, its fence and the mark of its last commit.

One worker at a time is the owner, who reads the input. Each worker's session holds a lock of its own: whoever is killed
loses it at once, and counts as dead after a short grace; whoever is stopped keeps it, and its lease decides. All times
are the database's own.
"""

from batchwork.postgres import schema
from batchwork.postgres.connection import SyncConnection

WORKER_BITS = 36  # of the number of an event; the worker stands above them
HEARTBEAT_S = 1.0  # well below the grace: a lost connection is noticed, and another one opened, before that is over
LEASE_S = 30.0
GRACE_S = 3.0  # since its last renewal, for a worker whose session is gone: it may be opening another
_PATIENCE, _LONG_PATIENCE = 2.0, 20.0  # leases, of a newcomer: for a worker whose session is gone, and for any other

_JOIN = "INSERT INTO worker (name, is_owner) VALUES (%s, %s) RETURNING id"
_REPLACE = "UPDATE worker SET state = 'dead', epoch = epoch + 1 WHERE state = 'live' AND is_owner"
_REPLACE_NAMESAKE = _REPLACE + " AND name = %s"
_RENEW = "UPDATE worker SET renewed_at = clock_timestamp() WHERE id = %s AND epoch = %s AND state = 'live'"
_LEAVE = "UPDATE worker SET state = 'done', renewed_at = clock_timestamp() WHERE id = %s AND epoch = %s"
# A database that was away makes every worker look dead: all get one lease to come back.
_WAIT = """
SELECT coalesce(max(greatest(
  extract(epoch FROM renewed_at - clock_timestamp()) + %s,
  CASE WHEN renewed_at < pg_postmaster_start_time()
    THEN extract(epoch FROM pg_postmaster_start_time() - clock_timestamp()) + %s ELSE 0 END)), 0)
FROM worker WHERE state = 'live' AND is_owner
"""
_REAP = """
UPDATE worker SET state = 'dead', epoch = epoch + 1 WHERE id IN (
  SELECT id FROM worker AS w WHERE state = 'live' AND id <> %(me)s
    AND pg_postmaster_start_time() < clock_timestamp() - %(up_s)s * interval '1 s'
    AND clock_timestamp() < coalesce(to_timestamp(%(heard)s::float8), 'infinity') + %(gap_s)s * interval '1 s'
    AND (renewed_at < clock_timestamp() - %(lease_s)s * interval '1 s'
      OR renewed_at < clock_timestamp() - %(grace_s)s * interval '1 s' AND NOT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND objid = w.id::oid
          AND classid = %(lock)s::bigint::oid
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))
  FOR UPDATE SKIP LOCKED)
RETURNING id, name
"""
# A process that is stopped keeps its session, and with it the locks by which others would take its place.
_END_SESSIONS = """
SELECT pg_terminate_backend(a.pid) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = %s::bigint::oid AND l.objid = ANY(%s::bigint[]::oid[])
  AND l.database = a.datid AND a.datname = current_database() AND a.usename = current_user
"""


def wait_for_others(session: SyncConnection) -> float:
    """Seconds until an owner that has not said goodbye, and holds no lock, counts as dead."""
    (wait_s,) = session.execute(_WAIT, (GRACE_S, LEASE_S)).fetchone() or (0,)
    return max(0.0, float(wait_s))


def join(session: SyncConnection, name: str, *, is_owner: bool, is_alone: bool = True) -> int:
    """Get a row of one's own; its number.

    An owner is that instead of whoever was it before; one that is not alone, only instead of whoever had its name.
    """
    with session.transaction():
        if is_owner and is_alone:
            session.execute(_REPLACE)
        elif is_owner:
            session.execute(_REPLACE_NAMESAKE, (name,))
        row = session.execute(_JOIN, (name, is_owner)).fetchone()
    assert row is not None
    return int(row[0])


def show_life(session: SyncConnection, schema_name: str, worker: int) -> None:
    """Let the session hold the worker's lock: when it is gone, the others see that."""
    session.execute("SELECT pg_advisory_lock(%s, %s)", (_lock_of(schema_name), worker))


def _lock_of(schema_name: str) -> int:
    return schema.lock_key("workers", schema_name) & 0x7FFFFFFF


def renew(session: SyncConnection, worker: int, epoch: int) -> None:
    """Say that the worker is alive."""
    session.execute(_RENEW, (worker, epoch))


def leave(session: SyncConnection, worker: int, epoch: int) -> None:
    """Say goodbye: nobody need wait for this worker."""
    session.execute(_LEAVE, (worker, epoch))


def longest_gap_s() -> float:
    """Between two answers of the database: after a longer one it, or whoever asks, was away, and others look dead."""
    return LEASE_S / 2.0


def reap(session: SyncConnection, schema_name: str, *, me: int, heard: float | None) -> list[str]:
    """Fence off the dead among the others; their names. `heard` is when the database last answered, by its own clock.

    None: the caller has just come, and cannot tell who lost the database with it. It has more patience.
    """
    is_new = heard is None
    values = {
        "me": me,
        "up_s": LEASE_S,
        "heard": heard,
        "gap_s": longest_gap_s(),
        "lease_s": LEASE_S * (_LONG_PATIENCE if is_new else 1.0),
        "grace_s": LEASE_S * _PATIENCE if is_new else GRACE_S,
        "lock": _lock_of(schema_name),
    }
    dead = session.execute(_REAP, values).fetchall()
    if dead:
        session.execute(_END_SESSIONS, (values["lock"], [row[0] for row in dead]))
    return [row[1] for row in dead]
