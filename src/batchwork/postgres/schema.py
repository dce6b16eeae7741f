"""The schema of a journal: made, recognised, brought to this version, set aside.

A journal is a schema, as elsewhere it is a file. Everything stands in it: no extension, no right beyond that to make a
schema is needed, and DROP SCHEMA deletes a journal without a trace.
"""

import uuid
from hashlib import blake2b
from pathlib import Path

import psycopg
from psycopg import sql

from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError, JournalError
from batchwork.postgres.connection import SyncConnection
from batchwork.postgres.rate_leases import RATE_TABLE
from batchwork.postgres.tickets import TICKET_TABLE

_TABLES = Path(__file__).with_name("tables.sql").read_text("utf-8")
MIGRATIONS: tuple[str, ...] = (TICKET_TABLE,)  # the first brings format 1 to 2, and so on; a new journal has all
_FIRST_FORMAT = 1


def lock_key(purpose: str, schema: str) -> int:
    """The number of an advisory lock, which is the database's, for a purpose of one journal."""
    return int.from_bytes(blake2b(f"batchwork {purpose} {schema}".encode(), digest_size=8).digest(), "big", signed=True)


def is_there(connection: SyncConnection, dsn: Dsn) -> bool:
    """Whether the database has this journal; a ConfigError when something else has its name."""
    named = _has_schema(connection, dsn)
    if named is None:
        return False
    known = "SELECT count(*) FROM pg_class WHERE relnamespace = %s AND relname IN ('meta', 'worker', 'event', 'item')"
    found = connection.execute(known, named).fetchone()
    if found == (4,):
        return True
    if connection.execute("SELECT 1 FROM pg_class WHERE relnamespace = %s LIMIT 1", named).fetchone() is None:
        return False  # an empty schema that somebody has made for us
    raise ConfigError(f"the schema {dsn.schema} in {dsn} is no journal of batchwork: take another ?journal=NAME")


def _has_schema(connection: SyncConnection, dsn: Dsn) -> tuple[int] | None:
    """The number of the schema, if there is one."""
    row = connection.execute("SELECT oid FROM pg_namespace WHERE nspname = %s", (dsn.schema,)).fetchone()
    return None if row is None else (row[0],)


def use(connection: SyncConnection, dsn: Dsn) -> None:
    """Let a connection find the tables of a journal by their names alone; a JournalError when there is none."""
    if not is_there(connection, dsn):
        raise JournalError(f"there is no journal {dsn.journal!r} in {dsn}")
    _set_path(connection, dsn)
    _check_format(connection, dsn)


def prepare(connection: SyncConnection, dsn: Dsn) -> None:
    """The same for a writer: the journal is made when there is none, and brought to this version."""
    try:
        # Two who come at once must not both make it; whoever is second finds it made.
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("schema", dsn.schema),))
            if not is_there(connection, dsn):
                if not _has_schema(connection, dsn):
                    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(dsn.schema)))
                _set_path(connection, dsn)
                connection.execute("".join((_TABLES, RATE_TABLE, *MIGRATIONS)).encode())
                values = (_FIRST_FORMAT + len(MIGRATIONS), uuid.uuid4().hex[:12])
                connection.execute("INSERT INTO meta (one, format, run_id) VALUES (1, %s, %s)", values)
            else:
                _set_path(connection, dsn)
                _migrate(connection, dsn)
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigError(
            f"the user of {dsn} may not make or write the schema {dsn.schema} ({error.diag.message_primary}); let its"
            f' owner say: CREATE SCHEMA "{dsn.schema}" AUTHORIZATION that_user'
        ) from None
    _set_path(connection, dsn)


def _set_path(connection: SyncConnection, dsn: Dsn) -> None:
    connection.execute(sql.SQL("SET search_path = {}, pg_catalog").format(sql.Identifier(dsn.schema)))


def _migrate(connection: SyncConnection, dsn: Dsn) -> None:
    """Bring an older journal to this version, while nobody works on it."""
    behind = _check_format(connection, dsn)
    if not behind:
        return
    live = connection.execute("SELECT name FROM worker WHERE state = 'live'").fetchone()
    if live is not None:
        raise JournalError(
            f"{dsn} is of an older format, and {live[0]} of an older batchwork may be at work on it: end it there first"
        )
    for step in MIGRATIONS[-behind:]:
        connection.execute(step.encode())
    connection.execute("UPDATE meta SET format = %s", (_FIRST_FORMAT + len(MIGRATIONS),))


def _check_format(connection: SyncConnection, dsn: Dsn) -> int:
    """By how many formats a journal is behind; a JournalError when it is ahead."""
    row = connection.execute("SELECT format FROM meta").fetchone()
    if row is None:
        raise JournalError(f"the journal {dsn} is damaged: its format is gone; restore it from a dump of the database")
    ours = _FIRST_FORMAT + len(MIGRATIONS)
    if row[0] > ours:
        raise JournalError(
            f"{dsn} was written by a newer batchwork (journal format {row[0]}, this one knows {ours}); upgrade"
        )
    return int(ours - row[0])


def rename(connection: SyncConnection, dsn: Dsn) -> str:
    """Give a journal the first free name `NAME.old-N`; that name."""
    number = 1
    while connection.execute(
        "SELECT 1 FROM pg_namespace WHERE nspname = %s", (f"{dsn.schema}.old-{number}",)
    ).fetchone():
        number += 1
    aside = f"{dsn.schema}.old-{number}"
    connection.execute(
        sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(sql.Identifier(dsn.schema), sql.Identifier(aside))
    )
    return f"{dsn.journal}.old-{number}"
