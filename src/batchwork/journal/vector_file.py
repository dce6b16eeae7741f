"""The vectors of a journal of embeddings: in a file beside it, to which those of each pack are appended once.

SQLite would write them twice, into its log and from there into its file. An event has a reference in the place of its
vectors: where they stand, and their checksum. They are on the disk before the event is, so that no event refers to what
is not there. What a killed run has written beyond its last event stays, and nothing refers to it. A reference is known
by its length, which is none of float32 numbers: an event may as well have the vectors themselves.
"""

import os
from collections.abc import Callable
from pathlib import Path
from struct import Struct
from typing import TypeVar
from zlib import crc32

from msgspec.structs import replace

from batchwork.core.errors import JournalDamagedError, JournalWriteError
from batchwork.core.event import Event, Settled
from batchwork.core.outcome import Succeeded
from batchwork.journal.atomic import sync_folder
from batchwork.journal.companions import VECTORS, beside, open_beside

_REFERENCE = Struct("<QQIx")  # where, how many bytes, their checksum
E = TypeVar("E", bound=Event)


def with_vectors(event: E, exchange: Callable[[bytes], bytes]) -> E:
    """An event with something else in the place of its vectors, if it has any."""
    if not isinstance(event, Settled) or not isinstance(event.outcome, Succeeded):
        return event
    outcome, reply = event.outcome, event.outcome.reply
    if reply.vectors is None:
        return event
    return replace(event, outcome=replace(outcome, reply=replace(reply, vectors=exchange(reply.vectors))))


class VectorFile:
    """The vectors of a journal that this process writes."""

    def __init__(self, journal: Path) -> None:
        self._path = beside(journal, VECTORS)
        self._descriptor = open_beside(journal, VECTORS)
        self._end = os.fstat(self._descriptor).st_size
        self._queue: list[tuple[int, bytes]] = []  # what is not on the disk yet, and where it goes
        sync_folder(self._path.parent)

    def add(self, vectors: bytes) -> bytes:
        """Queue vectors; the reference to them."""
        self._queue.append((self._end, vectors))
        reference = _REFERENCE.pack(self._end, len(vectors), crc32(vectors))
        self._end += len(vectors)
        return reference

    def sync(self) -> None:
        """Bring what is queued to the disk; what a disk refuses stays queued. More may be queued meanwhile."""
        queued = self._queue[:]
        try:
            for at, vectors in queued:
                rest = memoryview(vectors)
                while rest:
                    rest = rest[os.pwrite(self._descriptor, rest, at + len(vectors) - len(rest)) :]
            if queued:
                os.fdatasync(self._descriptor)
        except OSError as error:
            problem = f"cannot write {self._path} ({error.strerror}); make room there and run the same command again"
            raise JournalWriteError(problem) from error
        del self._queue[: len(queued)]

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class VectorReader:
    """The vectors of a journal, wherever they stand."""

    def __init__(self, journal: Path) -> None:
        self._path = beside(journal, VECTORS)
        self._descriptor = self._open()  # now: the journal may get another name while it is read

    def _open(self) -> int | None:
        try:
            return os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None

    def read(self, vectors: bytes) -> bytes:
        """The vectors behind a reference; vectors themselves as they are. A JournalDamagedError: they are gone."""
        if len(vectors) != _REFERENCE.size:
            return vectors
        at, length, crc = _REFERENCE.unpack(vectors)
        if self._descriptor is None:
            self._descriptor = self._open()
        found = b"" if self._descriptor is None else os.pread(self._descriptor, length, at)
        if len(found) != length or crc32(found) != crc:
            what = "is not there" if self._descriptor is None else f"has lost what stood at {at:,}"
            raise JournalDamagedError(f"{self._path.name}, which has its vectors, {what}: put it back if you can")
        return found

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
