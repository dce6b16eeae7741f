"""The output files that a journal wrote: those, and only those, may be replaced without a question.

A file in the journal's own folder is known by its way from there, so that both can be moved together. A file is noted
before it takes its place, under the name it has until then: whenever a process is killed, what stands there is known.
"""

import os
import re
import secrets
from contextlib import closing
from pathlib import Path

from batchwork.journal.companions import WriterLock
from batchwork.journal.connections import FAULTS, connect, translated

_NEW = re.compile(r"\.(.+)\.batchwork-[0-9a-f]{8}")


def new_output(out: Path) -> Path:
    """A name for a file until it takes the place of `out`; of a link, of what it points to."""
    target = Path(os.path.realpath(out))
    return target.with_name(f".{target.stem}.batchwork-{secrets.token_hex(4)}{target.suffix}")


def final_output(path: Path) -> Path:
    """The name of a file once it has taken its place."""
    is_new = _NEW.fullmatch(path.stem)
    return path if is_new is None else path.with_name(is_new[1] + path.suffix)


def known_as(out: Path, journal: Path) -> str:
    """What a journal calls a file."""
    path, home = out.resolve(), journal.parent.resolve()
    return str(path.relative_to(home) if path.is_relative_to(home) else path)


def remember_output(journal: Path, out: Path, *, was: Path | None = None) -> None:
    """Note the file as this journal's own, as it is now; it `was` noted under another name until it took its place."""
    seen = out.stat()
    lock = WriterLock(journal)
    try:
        with closing(connect(journal, writable=True)) as connection:
            sql = "INSERT OR REPLACE INTO output VALUES (?,?,?)"
            connection.execute(sql, (known_as(out, journal), seen.st_size, seen.st_mtime_ns))
            if was is not None:
                connection.execute("DELETE FROM output WHERE path = ?", (known_as(was, journal),))
    except FAULTS as error:
        raise translated(error, journal) from error
    finally:
        lock.release()
