"""A read-only connection to a journal file that sees one committed state at a time.

A read transaction is kept open between look-ups: a snapshot per commit is cheaper than one per look-up. As long as it
is open it keeps SQLite's log from shrinking.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from batchwork.core.errors import JournalDamagedError
from batchwork.journal.connections import FAULTS, connect, damaged, translated
from batchwork.journal.sums import SELECT, Sums


class ReadConnection:
    """What was committed at the first read, until `refresh`."""

    def __init__(self, path: Path, *, pinned: bool) -> None:
        self.path = path
        self._pinned = pinned
        self._connection = connect(path, writable=False)
        self._reading = False

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def refresh(self) -> None:
        """See what has been committed since."""
        if self._reading:
            self._connection.execute("ROLLBACK")
            self._reading = False

    def let_go(self) -> None:
        """See it at the next read, unless this connection is pinned to what it sees."""
        if not self._pinned:
            self.refresh()

    def _execute(self, sql: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        if not self._reading:
            self._connection.execute("BEGIN")
            self._reading = True
        return self._connection.execute(sql, values)

    def one(self, sql: str, values: tuple[Any, ...] = ()) -> Any | None:
        """The first row of a query."""
        try:
            return self._execute(sql, values).fetchone()
        except FAULTS as error:
            raise translated(error, self.path) from error

    def each(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[Any]:
        """The rows of a query, one by one."""
        try:
            yield from self._execute(sql, values)
        except FAULTS as error:
            raise translated(error, self.path) from error

    def all(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """All rows of a query."""
        return list(self.each(sql, values))

    def sums(self) -> Sums:
        """What it all adds up to; zeros in a file that is still empty."""
        values = self.one(SELECT)
        (last,) = self.one("SELECT coalesce(max(seq), 0) FROM event") or (0,)
        if values is None and last:
            raise self.damaged("its totals are missing")
        try:
            sums = Sums(run_id="") if values is None else Sums.stored(values)
        except JournalDamagedError as error:
            raise self.damaged(error) from error
        if sums.seq != last:
            raise self.damaged(f"it ends at event {last}, but {sums.seq} were written")
        return sums

    def damaged(self, what: object) -> JournalDamagedError:
        """The error for a file that contradicts itself."""
        return damaged(self.path, str(what))
