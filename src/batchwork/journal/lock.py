"""One writer per journal: a kernel lock on a file beside it, which names its holder and dies with it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from batchwork.core.errors import JournalLockedError, JournalWriteError
from batchwork.journal.companions import LOCK, beside, open_beside


class WriterLock:
    """Held from construction until `release`; the kernel lets go of it when the process is killed."""

    def __init__(self, journal: Path) -> None:
        self._path = beside(journal, LOCK)
        while True:
            try:
                self._descriptor = open_beside(journal, LOCK)
            except OSError as error:
                raise JournalWriteError(f"cannot write beside the journal: {self._path}: {error.strerror}") from error
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
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
