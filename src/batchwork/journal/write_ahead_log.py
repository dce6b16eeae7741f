"""Notices that a write-ahead log which a killed process left behind has been damaged since.

SQLite reads such a log up to the first frame that contradicts its checksum and takes the rest for a write that was
never finished. After a power cut that is right for the last write. But every finished write was synced to the disk
before the next one began, so a finished write that is followed by another and cannot be read is a loss.
"""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from batchwork.journal.companions import INDEX, LOG, beside

_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}
# In the index that SQLite keeps of the log: whether it is made, the last frame that it takes for whole, and the last
# one that has been brought into the file.
_IS_MADE_AT, _LAST_FRAME_AT, _WRITTEN_OUT_AT = 12, 16, 96


class Frame(NamedTuple):
    """One page in the log."""

    number: int  # from 0
    page: int
    at: int  # where its body stands in the log
    ends_write: bool


def lost_writes(path: Path, page_bytes: int) -> int:
    """How many finished writes in the log cannot be read, but for a last one; asked after SQLite has read it."""
    try:
        with beside(path, LOG).open("rb") as log:
            header = log.read(_HEADER)
            if len(header) < _HEADER:
                return 0
            salt = header[16:24] if _is_whole(header) else None
            found = list(frames(log, page_bytes, start=_last_whole(path) if salt is not None else 0, salt=salt))
            read = _last_whole(path)  # asked again: a writer may have gone on meanwhile, or begun a new round
            log.seek(0)
            if log.read(_HEADER) != header:
                return 0
    except OSError:
        return 0
    beyond = [frame for frame in found if frame.ends_write and (salt is None or frame.number >= read)]
    return len(beyond) - 1 if beyond and beyond[-1] == found[-1] else len(beyond)


def frames(log: BinaryIO, page_size: int, *, start: int = 0, salt: bytes | None = None) -> Iterator[Frame]:
    """The frames of one round of the log from number `start` on; without `salt` the round of the first of them."""
    number = start
    while True:
        at = _HEADER + number * (_FRAME_HEADER + page_size)
        log.seek(at)
        header = log.read(_FRAME_HEADER)
        if len(header) < _FRAME_HEADER:
            return
        salt = salt if salt is not None else header[8:16]  # a damaged header: whatever the frames say
        if header[8:16] == salt:
            page = int.from_bytes(header[:4], "big")
            yield Frame(number, page, at + _FRAME_HEADER, ends_write=header[4:8] != bytes(4))
        number += 1


def is_all_there_is(path: Path) -> bool:
    """Whether the log holds what the file of this journal never had, asked where that file is gone or empty."""
    try:
        if not beside(path, LOG).stat().st_size:
            return False
        index = beside(path, INDEX).read_bytes()[: _WRITTEN_OUT_AT + 4]
    except FileNotFoundError:
        return beside(path, LOG).exists()
    last, written = (int.from_bytes(index[at : at + 4], sys.byteorder) for at in (_LAST_FRAME_AT, _WRITTEN_OUT_AT))
    return len(index) < _WRITTEN_OUT_AT + 4 or not index[_IS_MADE_AT] or written < last


def _last_whole(path: Path) -> int:
    try:
        with beside(path, INDEX).open("rb") as index:
            return int.from_bytes(index.read(_LAST_FRAME_AT + 4)[_LAST_FRAME_AT:], sys.byteorder)
    except OSError:
        return 1 << 31  # nobody has opened it: nothing can be said


def _is_whole(header: bytes) -> bool:
    order = _MAGIC.get(int.from_bytes(header[:4], "big"))
    if order is None:
        return False
    first = second = 0
    words = struct.unpack(f"{order}6I", header[:24])
    for x, y in zip(words[::2], words[1::2], strict=True):
        first = (first + x + second) & 0xFFFFFFFF
        second = (second + y + first) & 0xFFFFFFFF
    return header[24:32] == struct.pack(">2I", first, second)
