"""The files beside a journal: their names, and who may read them.

What is made here is for its owner alone: a file 0600, a folder 0700, whatever the umask allows. What is there already
keeps its mode. The lock and the mark of a journal have the journal's own mode, as SQLite gives it to the log: whoever
may write the one may write the other. A link is followed to the journal itself, so that one journal has one lock
under all its names; a link in the place of a companion is not followed, since somebody else may have put it there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
LOG, INDEX, LOCK, MARK = "-wal", "-shm", ".lock", ".mark"
PARTS = ("", LOG, INDEX, MARK)  # of a journal; the mark last: without it nobody knows that another part is missing


def real(journal: Path) -> Path:
    """The journal itself, where `journal` is a link to it."""
    return Path(os.path.realpath(journal))


def beside(journal: Path, part: str) -> Path:
    """The companion of this kind."""
    path = real(journal)
    return path.with_name(path.name + part)


def open_beside(journal: Path, part: str) -> int:
    """Open the companion of this kind for writing, made if it is not there.

    Raises:
        OSError: it cannot be written.
    """
    descriptor = os.open(beside(journal, part), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
    with suppress(FileNotFoundError, PermissionError):  # no journal yet; or the companion is another user's
        os.fchmod(descriptor, mode_of(journal))
    return descriptor


def remove_with_parts(*journals: Path) -> None:
    """Delete journals of our own making that nobody needs."""
    for journal in journals:
        for part in PARTS:
            beside(journal, part).unlink(missing_ok=True)


def mode_of(path: Path) -> int:
    """Who may read and write this file.

    Raises:
        OSError: it is not there.
    """
    return path.stat().st_mode & 0o666


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing.

    Raises:
        OSError: it cannot be made.
    """
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
