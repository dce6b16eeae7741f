"""How far a journal was, in a small file beside it: a journal that has lost its log is not taken for a new one.

After a kill nearly everything may live in SQLite's log; without it everything would be sent, and paid, again. So after
each commit the writer notes here which event was the last; a journal that ends before it has lost something.

The note is written after its commit is on the disk, and is not synced: it may be behind the journal, and is ahead only
of one that has lost something. A note of zeros, which a power failure may leave, says nothing. Whoever compares reads
the note first and the journal second, so that a writer who goes on meanwhile is never taken for a loss.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from batchwork.core.errors import JournalDamagedError
from batchwork.journal.companions import MARK, beside, open_beside

_LENGTH = 128  # always as long, so that one write in place replaces it whole
_TRIES = 5  # that a reader has to meet a note which is not just being written


class Mark(NamedTuple):
    """How far a journal is."""

    run_id: str
    seq: int  # of the last event
    spent_nano: int


class MarkFile:
    """The note of a journal that this process writes."""

    def __init__(self, journal: Path) -> None:
        self._descriptor = open_beside(journal, MARK)

    def write(self, mark: Mark) -> None:
        """Note how far the journal is. A disk that refuses leaves the older note, which is as true."""
        text = f"batchwork journal {mark.run_id} has {mark.seq} events and spent {mark.spent_nano} nanodollars "
        with suppress(OSError):
            os.pwrite(self._descriptor, f"{text}{crc32(text.encode()):08x}".ljust(_LENGTH - 1).encode() + b"\n", 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def read_mark(journal: Path) -> Mark | None:
    """The note beside a journal; None when it says nothing, a JournalDamagedError for something in its place."""
    path = beside(journal, MARK)
    for _ in range(_TRIES):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                body = file.read(_LENGTH)
        except OSError:  # not there, or not for us to read
            return None
        if not body.strip(b"\0"):
            return None
        if (mark := _parsed(body)) is not None:
            return mark
    raise JournalDamagedError(
        f"{path}, which says how far the journal {journal} was, is damaged. If the journal is whole, with its log"
        f" {journal.name}-wal where there was one, delete {path.name} to go on"
    )


def _parsed(body: bytes) -> Mark | None:
    try:
        text, check = body.decode("ascii").rstrip().rsplit(" ", 1)
        if crc32(f"{text} ".encode()) != int(check, 16):
            return None
        words = text.split(" ")
        return Mark(run_id=words[2], seq=int(words[4]), spent_nano=int(words[8]))
    except (ValueError, IndexError):
        return None
