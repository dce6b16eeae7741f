"""Replaces a damaged journal by a new one with everything that is whole in it, and keeps the damaged file.

Nothing is trusted but the events themselves: tables, indexes and totals are made anew.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from batchwork.core.errors import JournalError, JournalWriteError
from batchwork.journal.archive import move_aside
from batchwork.journal.companions import PRIVATE_FILE, WriterLock, mode_of, real, remove_with_parts
from batchwork.journal.connections import connect
from batchwork.journal.recovery.replay import Replay
from batchwork.journal.recovery.salvage import Salvage
from batchwork.journal.write_ahead_log import is_all_there_is


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What was saved, and where everything is now."""

    path: Path  # the new journal, under the old name
    kept: Path  # the damaged one
    items: int
    outcomes: int
    lost_events: int
    note: str


def recover(path: Path) -> Recovered:
    """Replace a damaged journal by a new one with everything that is whole in it; keep the damaged file beside it.

    A JournalError when there is nothing to recover; nothing was changed then.
    """
    path = real(path)
    if not path.is_file() and not is_all_there_is(path):
        raise JournalError(f"there is no journal at {path}")
    lock = WriterLock(path)
    new, scratch = (path.with_name(f"{path.name}.{what}") for what in ("recovered", "scratch"))
    try:
        path.touch(PRIVATE_FILE)  # where only its log is left
        remove_with_parts(new, scratch)  # left by a recovery that was cut off
        with closing(Salvage(scratch)) as salvage:
            if not salvage.gather(path):
                raise JournalError(
                    f"there is nothing in {path} that could be recovered; it was left as it is. --fresh (in Python"
                    " fresh=True) starts anew and keeps it under another name"
                )
            replay = Replay(salvage, new)
            replay.run()
            note = replay.summary()
        new.chmod(mode_of(path))
        kept = move_aside(path, name="damaged", instead=new)
        _carry_outputs(kept, path)
    except OSError as error:
        raise JournalWriteError(f"cannot recover {path}: {error.strerror}") from error
    finally:
        remove_with_parts(new, scratch)
        lock.release()
    return Recovered(
        path=path,
        kept=kept,
        items=replay.items,
        outcomes=replay.outcomes,
        lost_events=replay.lost_events,
        note=f"{note}; the damaged file is kept as {kept.name}",
    )


def _carry_outputs(old: Path, new: Path) -> None:
    """Tell the new journal of the files that the old one wrote, as far as that can be read."""
    try:
        with closing(sqlite3.connect(f"{old.absolute().as_uri()}?mode=ro", uri=True)) as damaged:
            written = damaged.execute("SELECT path, size, mtime_ns FROM output").fetchall()
        with closing(connect(new, writable=True)) as journal:
            journal.executemany("INSERT OR REPLACE INTO output VALUES (?,?,?)", written)
    except sqlite3.Error:
        return  # then the user is asked for --overwrite
