"""The files beside a journal: their names, who may read them, and the lock that admits one writer.

What is made here is for its owner alone: a file 0600, a folder 0700. What is there already keeps its mode. The lock and
the mark have the journal's own mode, as the log has: whoever may write the one may write the other. A link is followed
to the journal itself, so that a journal has one lock under all its names. A link in the place of a companion is not
followed, since somebody else may have put it there.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from batchwork.core.errors import JournalLockedError, JournalWriteError

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
LOG, INDEX, LOCK, MARK, VECTORS = "-wal", "-shm", ".lock", ".mark", ".vectors"
PARTS = (VECTORS, "", LOG, INDEX, MARK)  # the mark last: without it nobody knows that another part is missing


def real(journal: Path) -> Path:
    """The journal itself, where `journal` is a link to it."""
    return Path(os.path.realpath(journal))


def beside(journal: Path, part: str) -> Path:
    """The companion of this kind."""
    path = real(journal)
    return path.with_name(path.name + part)


def open_beside(journal: Path, part: str) -> int:
    """Open the companion of this kind for writing, made if it is not there; a JournalWriteError if it cannot be."""
    path = beside(journal, part)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
    except OSError as error:
        raise JournalWriteError(f"cannot write beside the journal: {path}: {error.strerror}") from error
    with suppress(FileNotFoundError, PermissionError):  # no journal yet; or the companion is another user's
        os.fchmod(descriptor, mode_of(journal))
    return descriptor


def remove_with_parts(*journals: Path) -> None:
    """Delete journals of our own making that nobody needs."""
    for journal in journals:
        for part in PARTS:
            beside(journal, part).unlink(missing_ok=True)


def size_of(journal: Path) -> int:
    """The bytes of a journal, its vectors included."""
    return sum(path.stat().st_size for path in (journal, beside(journal, VECTORS)) if path.exists())


def mode_of(path: Path) -> int:
    """Who may read and write this file."""
    return path.stat().st_mode & 0o666


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def writer_of(journal: Path) -> str | None:
    """The process that is writing a journal; None where there is none.

    The lock is tried only where the process that had it last may live: whoever held it for an instant on a dead run
    could turn a new one away.
    """
    try:
        descriptor = os.open(beside(journal, LOCK), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    process = _holder(descriptor)
    try:
        with suppress(ValueError, PermissionError):  # a number that cannot be read, a process of somebody else's
            os.kill(int(process), 0)
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except ProcessLookupError:
        return None
    except OSError:
        return process
    finally:
        os.close(descriptor)
    return None


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"


class WriterLock:
    """The right to write a journal, from construction until `release`; it dies with the process."""

    def __init__(self, journal: Path) -> None:
        self._path = beside(journal, LOCK)
        while True:
            self._descriptor = open_beside(journal, LOCK)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = _holder(self._descriptor)
                os.close(self._descriptor)
                raise JournalLockedError(
                    f"{journal} is in use by process {holder}; wait for it to end, or use another journal"
                ) from None
            if self._is_current():
                break
            os.close(self._descriptor)  # its last holder removed the file between our open and our lock
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))  # noqa: PTH116
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let go."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
