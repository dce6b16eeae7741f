"""Set an old journal aside under a new name: nothing of the user's is ever deleted."""

from __future__ import annotations

from pathlib import Path

from batchwork.core.errors import JournalWriteError
from batchwork.journal.lock import WriterLock

_PARTS = ("", "-wal", "-shm")


def set_aside(path: Path, *, mark: str = "old") -> Path | None:
    """Rename the journal to the first free `NAME.old-N`; None when there is none.

    Raises:
        JournalLockedError: another process is writing it.
    """
    if not path.exists():
        return None
    lock = WriterLock(path)
    try:
        number = 1
        while (aside := path.with_name(f"{path.name}.{mark}-{number}")).exists():
            number += 1
        for part in _PARTS:
            source = path.with_name(path.name + part)
            if source.exists():
                source.rename(aside.with_name(aside.name + part))
    except OSError as error:
        raise JournalWriteError(f"cannot set {path} aside: {error.strerror}") from error
    finally:
        lock.release()
    return aside
