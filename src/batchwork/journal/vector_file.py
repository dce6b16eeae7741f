"""The vectors of a journal of embeddings: in a file beside it, to which those of each pack are appended once.

SQLite would write them twice, into its log and from there into its file. An event has a reference in the place of its
vectors: where they stand, and their checksum. They are on the disk before the event is, so that no event refers to what
is not there. What a killed run has written beyond its last event stays, and nothing refers to it. A reference is known
by its length, which is none of float32 numbers: an event may as well have the vectors themselves.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from struct import Struct
from zlib import crc32

from msgspec.structs import replace

from batchwork.core.errors import JournalDamagedError, JournalWriteError
from batchwork.core.event import Event, Settled
from batchwork.core.outcome import Succeeded
from batchwork.journal.atomic import sync_folder
from batchwork.journal.companions import VECTORS, beside, open_beside

# What is written at once: for megabytes the kernel takes large blocks, which cost a virtual machine more.
_PIECE = 2**18
_REFERENCE = Struct("<QQIx")  # where, how many bytes, their checksum


def with_vectors(event: Event, exchange: Callable[[bytes], bytes]) -> Event:
    """An event with something else in the place of its vectors, if it has any."""
    if not isinstance(event, Settled) or not isinstance(event.outcome, Succeeded):
        return event
    outcome, reply = event.outcome, event.outcome.reply
    if reply.vectors is None:
        return event
    return replace(event, outcome=replace(outcome, reply=replace(reply, vectors=exchange(reply.vectors))))


def copy_vectors(journal: Path, to: Path) -> None:
    """Copy the vectors of a journal that has been copied: they stay where they are, and more may follow."""
    if (vectors := beside(journal, VECTORS)).exists():
        with vectors.open("rb") as source, os.fdopen(open_beside(to, VECTORS), "wb", 0) as target:
            shutil.copyfileobj(source, target, 2**20)
            os.fsync(target)


class VectorFile:
    """The vectors beside a journal that this process reads, or writes."""

    def __init__(self, journal: Path, *, writable: bool = False) -> None:
        self._path = beside(journal, VECTORS)
        self._descriptor: int | None = None
        self._queue: list[tuple[int, bytes]] = []  # what is not on the disk yet, and where it goes
        if writable:
            self._descriptor = open_beside(journal, VECTORS)
            self._end = os.fstat(self._descriptor).st_size
            sync_folder(self._path.parent)
        else:
            self._open()  # now: the journal may get another name while it is read

    def _open(self) -> None:
        with suppress(OSError):
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)

    def add(self, vectors: bytes) -> bytes:
        """Queue vectors; the reference to them."""
        self._queue.append((self._end, vectors))
        self._end += len(vectors)
        return _REFERENCE.pack(self._end - len(vectors), len(vectors), crc32(vectors))

    def sync(self) -> None:
        """Bring what is queued to the disk; what a disk refuses stays queued. More may be queued meanwhile."""
        assert self._descriptor is not None, "it is written"
        queued = self._queue[:]
        try:
            for at, vectors in queued:
                rest = memoryview(vectors)
                while rest:
                    rest = rest[os.pwrite(self._descriptor, rest[:_PIECE], at + len(vectors) - len(rest)) :]
            if queued:
                os.fdatasync(self._descriptor)
        except OSError as error:
            problem = f"cannot write {self._path} ({error.strerror}); make room there and run the same command again"
            raise JournalWriteError(problem) from error
        del self._queue[: len(queued)]

    def read(self, vectors: bytes) -> bytes:
        """The vectors behind a reference; vectors themselves as they are. A JournalDamagedError: they are gone."""
        if len(vectors) != _REFERENCE.size:
            return vectors
        at, length, crc = _REFERENCE.unpack(vectors)
        if self._descriptor is None:  # the first ones may have come since
            self._open()
        found = b"" if self._descriptor is None else os.pread(self._descriptor, length, at)
        if len(found) != length or crc32(found) != crc:
            raise JournalDamagedError(f"the vectors at {at:,} in {self._path.name} are gone: put that file back")
        return found

    def close(self) -> None:
        """Close the file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
