"""Reads the records of an SQLite file page by page, without SQLite: what is whole is found even where the rest is not.

It knows the documented file format: leaf and interior pages of tables and indexes, overflow chains, and the frames of a
write-ahead log. It promises nothing about what it yields: the caller checks every record by its own checksum.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from batchwork.journal.companions import LOG, beside
from batchwork.journal.connections import MAGIC, PAGE_SIZES
from batchwork.journal.write_ahead_log import frames

_POSSIBLE_SIZES = frozenset(1 << power for power in range(9, 16))
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x0A, 0x02
_LONGEST_CHAIN = 1 << 18  # a gigabyte of overflow pages: beyond that the chain is a loop
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def page_sizes(path: Path) -> tuple[int, ...]:
    """How large the pages of a file are, as its header says; each that it may be, where that is damaged."""
    with path.open("rb") as file:
        header = file.read(18)
    size = int.from_bytes(header[16:], "big")
    return (size,) if header.startswith(MAGIC) and size in _POSSIBLE_SIZES else PAGE_SIZES


class PageFile:
    """The pages of a file, those of its write-ahead log laid over them."""

    def __init__(self, path: Path, page_size: int) -> None:
        self._main: BinaryIO = path.open("rb")
        self.page_size = page_size
        self.count = path.stat().st_size // self.page_size
        log = beside(path, LOG)
        self._log: BinaryIO | None = log.open("rb") if log.exists() else None
        self._laid_over: dict[int, int] = {}  # where a page stands in the log
        if self._log is not None:
            found = frames(self._log, self.page_size)
            self._laid_over = {frame.page: frame.at for frame in found if 0 < frame.page < 1 << 31}

    def close(self) -> None:
        """Close the files."""
        self._main.close()
        if self._log is not None:
            self._log.close()

    def _page(self, number: int, *, in_log: bool = True) -> bytes:
        """One page, as the log has it if it does, or as the file itself has it."""
        file, at = self._main, (number - 1) * self.page_size
        if in_log and self._log is not None and number in self._laid_over:
            file, at = self._log, self._laid_over[number]
        file.seek(at)
        return file.read(self.page_size)

    def records(self) -> Iterator[tuple[int, list[Any]]]:
        """Row id (0 in an index) and values of everything that looks like a record."""
        for number in sorted(set(range(1, self.count + 1)) | set(self._laid_over)):
            yield from self._records_of(number, self._page(number))
            if number in self._laid_over and number <= self.count:
                yield from self._records_of(number, self._page(number, in_log=False))

    def _records_of(self, number: int, page: bytes) -> Iterator[tuple[int, list[Any]]]:
        start = 100 if number == 1 else 0
        kind = page[start] if len(page) == self.page_size else 0
        if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
            return
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        pointers = start + (12 if kind == _INDEX_INTERIOR else 8)
        for n in range(min(cells, self.page_size // 4)):
            at = int.from_bytes(page[pointers + 2 * n : pointers + 2 * n + 2], "big")
            try:
                yield self._cell(page, at + (4 if kind == _INDEX_INTERIOR else 0), is_table=kind == _TABLE_LEAF)
            except (IndexError, ValueError, struct.error):
                continue  # not a record, or no longer one

    def _cell(self, page: bytes, at: int, *, is_table: bool) -> tuple[int, list[Any]]:
        size, at = _varint(page, at)
        row_id = 0
        if is_table:
            row_id, at = _varint(page, at)
        usable = self.page_size
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return row_id, _values(page[at : at + size])
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        payload = bytearray(page[at : at + local])
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        for _ in range(_LONGEST_CHAIN):
            if len(payload) >= size:
                break
            overflow = self._page(following) if following else b""
            if len(overflow) < self.page_size:
                raise ValueError("the chain is broken")
            following = int.from_bytes(overflow[:4], "big")
            payload += overflow[4:usable]
        return row_id, _values(bytes(payload[:size]))


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        byte = data[at + n]
        if n == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    raise ValueError("not a number")


def _values(payload: bytes) -> list[Any]:
    """The values of a record."""
    size, at = _varint(payload, 0)
    kinds = []
    while at < size:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Any] = []
    for kind in kinds:
        length = 0
        if kind in (0, 8, 9):
            values.append(None if kind == 0 else kind - 8)
        elif kind == 7:
            length = 8
            values.append(struct.unpack_from(">d", payload, at)[0])
        elif kind in _INTEGER_BYTES:
            length = _INTEGER_BYTES[kind]
            values.append(int.from_bytes(payload[at : at + length], "big", signed=True))
        else:
            length = (kind - 12) // 2
            piece = payload[at : at + length]
            if len(piece) != length:
                raise ValueError("cut off")
            values.append(piece if kind % 2 == 0 else piece.decode())
        at += length
    return values
