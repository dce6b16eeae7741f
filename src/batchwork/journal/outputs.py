"""The output files that a journal wrote: those, and only those, may be replaced without a question.

A file in the journal's own folder is known by its way from there, so that both can be moved together.
"""

from contextlib import closing
from pathlib import Path

from batchwork.journal.companions import WriterLock
from batchwork.journal.connections import FAULTS, connect, translated
from batchwork.journal.reader import JournalReader


def known_as(out: Path, journal: Path) -> str:
    """What a journal calls a file."""
    path, home = out.resolve(), journal.parent.resolve()
    return str(path.relative_to(home) if path.is_relative_to(home) else path)


def remember_output(journal: Path, out: Path) -> None:
    """Note the file as this journal's own, as it is now."""
    seen = out.stat()
    lock = WriterLock(journal)
    try:
        with closing(connect(journal, writable=True)) as connection:
            sql = "INSERT OR REPLACE INTO output VALUES (?,?,?)"
            connection.execute(sql, (known_as(out, journal), seen.st_size, seen.st_mtime_ns))
    except FAULTS as error:
        raise translated(error, journal) from error
    finally:
        lock.release()


def is_ours(journal: Path, out: Path) -> bool:
    """Whether `out` is just as this journal wrote it."""
    if not journal.exists():
        return False
    seen = out.stat()
    with closing(JournalReader(journal)) as reader:
        written = [(path.resolve(), size, mtime_ns) for path, size, mtime_ns in reader.outputs()]
    return (out.resolve(), seen.st_size, seen.st_mtime_ns) in written
