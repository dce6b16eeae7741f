"""A copy of a journal in a database: made in a schema of its own, which gets its name once it is whole."""

import os
from collections.abc import Callable
from contextlib import closing

from psycopg import sql

from batchwork.core.dsn import Dsn
from batchwork.journal.reader import JournalReader
from batchwork.journal.replayed import ReplayedJournal
from batchwork.postgres.connection import connect_sync, in_our_words
from batchwork.postgres.journal import DEFAULT_MAX_WAIT_S
from batchwork.postgres.reader import DatabaseReader
from batchwork.postgres.writer import DatabaseWriter


class _ReplayedDatabase(ReplayedJournal):
    def __init__(self, dsn: Dsn, run_id: str, utc: Callable[[], float]) -> None:
        writer = DatabaseWriter(dsn, max_wait_s=DEFAULT_MAX_WAIT_S)
        writer.take_name(run_id)
        self._write_with(writer, utc)
        self._follow(run_id)


class DatabaseCopy:
    """Where a copy is made in a database."""

    def __init__(self, to: Dsn) -> None:
        self._to = to
        self._aside = to.renamed(f"part-{os.getpid()}")

    def open(self, run_id: str, *, utc: Callable[[], float]) -> ReplayedJournal:
        """A new journal under a name of its own."""
        self.undo()
        return _ReplayedDatabase(self._aside, run_id, utc)

    def read(self) -> JournalReader:
        """The same, to be looked at."""
        return DatabaseReader(self._aside)

    def finish(self, reader: JournalReader) -> None:
        """Give it the name that was asked for."""
        del reader
        self._execute("ALTER SCHEMA {} RENAME TO {}", self._aside.schema, self._to.schema)

    def undo(self) -> None:
        """Leave nothing behind that is not finished."""
        self._execute("DROP SCHEMA IF EXISTS {} CASCADE", self._aside.schema)

    def _execute(self, statement: str, *names: str) -> None:
        with in_our_words(self._to), closing(connect_sync(self._to)) as session:
            session.execute("SET client_min_messages = warning")
            session.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
