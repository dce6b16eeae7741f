"""The journal in a database: the same events, codec, placing and fold as in a file, over a writer of its own."""

from collections import Counter
from collections.abc import Callable, Sequence

from batchwork.core.dsn import Dsn
from batchwork.core.intake import InputRow
from batchwork.journal.sqlite import SqliteJournal
from batchwork.postgres.writer import DatabaseWriter

DEFAULT_MAX_WAIT_S = 900.0


class PostgresJournal(SqliteJournal):
    """A journal in a database that this process writes; construction opens it and takes the writer's lock."""

    foresees = 512

    _writer: DatabaseWriter

    def __init__(self, dsn: Dsn, *, utc: Callable[[], float], max_wait_s: float = DEFAULT_MAX_WAIT_S) -> None:
        self._write_with(DatabaseWriter(dsn, max_wait_s=max_wait_s), utc)

    def foresee(self, rows: Sequence[InputRow]) -> None:
        """Fetch what is known of the rows that come next, at once."""
        looked_up = Counter(row.fingerprint for row in rows if self._placer.looks_up(row.fingerprint))
        self._writer.identities.foresee(
            {
                fingerprint: (low := self._placer.claimed(fingerprint), low + count + 1)
                for fingerprint, count in looked_up.items()
            }
        )
