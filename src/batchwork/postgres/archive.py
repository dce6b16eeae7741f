"""Sets a journal in a database aside under a new name, and notes which files it wrote."""

from contextlib import closing
from pathlib import Path

from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalLockedError
from batchwork.postgres import schema, workers
from batchwork.postgres.connection import connect_sync, in_our_words

_AT_WORK = (
    "SELECT name FROM worker WHERE state = 'live' AND NOT is_owner"
    " AND renewed_at > clock_timestamp() - %s * interval '1 s'"
)
_NOTE = (
    "INSERT INTO output (path, size, mtime_ns) VALUES (%s, %s, %s)"
    " ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, rowid = DEFAULT"
)


def set_aside(dsn: Dsn) -> Dsn | None:
    """Rename the journal to the first free `NAME.old-N`; None when there is none."""
    with in_our_words(dsn), closing(connect_sync(dsn)) as session:
        if not schema.is_there(session, dsn):
            return None
        key = schema.lock_key("writer", dsn.schema)
        if session.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone() != (True,):
            raise JournalLockedError(f"the journal {dsn} is being written by another process; wait for it, or stop it")
        schema.use(session, dsn)
        if (row := session.execute(_AT_WORK, (workers.LEASE_S,)).fetchone()) is not None:
            raise JournalLockedError(f"{row[0]} is at work on the journal {dsn}, or was a moment ago; wait for it")
        return dsn.renamed(schema.rename(session, dsn))


def remember_output(dsn: Dsn, out: Path, *, was: Path | None = None) -> None:
    """Note the file as this journal's own, as it is now; it `was` noted under another name until it took its place."""
    seen = out.stat()
    with in_our_words(dsn), closing(connect_sync(dsn)) as session:
        schema.use(session, dsn)
        session.execute(_NOTE, (str(out.resolve()), seen.st_size, seen.st_mtime_ns))
        if was is not None:
            session.execute("DELETE FROM output WHERE path = %s", (str(was.resolve()),))
