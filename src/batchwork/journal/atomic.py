"""Write a file so that it is never seen half-written: aside, onto the disk, then renamed into its place."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, body: bytes, *, sync: bool = True) -> None:
    """Put `body` at `path`; whoever reads it, also after a crash, finds the old content or the new one.

    Without `sync` a power failure (not a crash of the process) may leave the file empty: for what can be made again.

    Raises:
        OSError: the folder cannot be written, or there is no space.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            view = memoryview(body)
            while view:
                view = view[os.write(descriptor, view) :]
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    if sync:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The new name, too, is on the disk only once its folder is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
