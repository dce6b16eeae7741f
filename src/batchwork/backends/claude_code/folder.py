"""Where the `claude` program runs: an empty folder, and beside it the system prompts of the calls under way.

A system prompt goes by file, because arguments can be read by everybody on the machine in the list of processes. The
folder and the files are their owner's alone. A file goes when its call ends, the folder with the backend;
what a killed process left behind goes when the next one starts, which knows it by a lock that nobody holds any more.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "batchwork-claude-"
_LOCK = "lock"


class Folder:
    """An empty folder to run in, so that nothing lying about is read; and a place beside it for system prompts."""

    def __init__(self) -> None:
        _remove_left_behind()
        self._home = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self._home / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.empty = self._home / "empty"
        self.empty.mkdir(mode=0o700)

    @contextmanager
    def file_of(self, text: str) -> Iterator[Path]:
        """A file that holds this text as long as the call lasts."""
        descriptor, name = tempfile.mkstemp(dir=self._home)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        try:
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    def remove(self) -> None:
        """Clean up."""
        shutil.rmtree(self._home, ignore_errors=True)
        os.close(self._lock)


def _remove_left_behind() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # somebody else's, in use, or gone meanwhile
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
