"""Write a file so that it is never seen half-written: aside, onto the disk, then renamed into its place."""

import os
from contextlib import suppress
from pathlib import Path

from batchwork.journal.companions import PRIVATE_FILE, mode_of


def write_atomically(path: Path, body: bytes, *, sync: bool = True, mode: int = PRIVATE_FILE) -> None:
    """Put `body` at `path`; whoever reads it, also after a crash, finds the old content or the new one.

    A new file has `mode`, less what the umask takes; one that was there keeps its own. Without `sync` a power failure
    (not a crash of the process) may leave the file empty: for what can be made again.
    """
    folder, name = os.path.split(path)  # plain strings: one such file is written for every item of a run
    aside = os.path.join(folder, f".{name}.{os.getpid()}.part")  # noqa: PTH118
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(aside, flags, mode)
        try:
            if os.access(path, os.F_OK):  # asked first: mostly it is a new file, and an exception costs more
                with suppress(FileNotFoundError):
                    os.fchmod(descriptor, mode_of(path))
            view = memoryview(body)
            while view:
                view = view[os.write(descriptor, view) :]
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(aside, path)  # noqa: PTH105
    except OSError:
        Path(aside).unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """The new name, too, is on the disk only once its folder is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
