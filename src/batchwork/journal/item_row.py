"""The row of an item: its state in memory, its values on disk, and the checksum that ties them together."""

import struct
from hashlib import blake2b
from typing import Any, Self
from zlib import crc32

from batchwork.core.errors import JournalDamagedError
from batchwork.core.outcome import Status
from batchwork.core.runstate import ItemState
from batchwork.journal import codec

COLUMNS = (
    "id, fingerprint, occurrence, idx, status, reserved, paid, attempts, columns, request_seq, columns_seq,"
    " settled_seq, crc"
)
STATUSES = tuple(Status)  # the place of a status here is its number on disk
_CODES = {status: code for code, status in enumerate(STATUSES)}
_pack = struct.Struct("<11q").pack


class ItemRow(ItemState, gc=False, eq=False):
    """An item's state, and where its parts stand in the file. Its fields are the columns, in their order."""

    columns_digest: int = 0
    request_seq: int = 0
    columns_seq: int = 0
    settled_seq: int = 0  # the latest outcome
    held: bool = False  # the engine is at work on it
    is_new: bool = False  # not on disk yet
    moved: bool = False  # more than its standing has changed

    def values(self) -> tuple[Any, ...]:
        """The row as it goes to disk."""
        values = (
            self.item,
            self.fingerprint,
            self.occurrence,
            self.index,
            _CODES[self.status],
            self.reserved_nano,
            self.paid_nano,
            self.attempts,
            self.columns_digest,
            self.request_seq,
            self.columns_seq,
            self.settled_seq,
        )
        return (*values, _checksum(values))

    @classmethod
    def stored(cls, values: tuple[Any, ...]) -> Self:
        """The row as it came from disk; a JournalDamagedError when it contradicts its checksum."""
        try:
            whole = _checksum(values) == values[12]
        except (TypeError, struct.error):  # not even the types are right
            whole = False
        if not whole:
            raise JournalDamagedError(f"the row of item {values[0]} is damaged")
        item, fingerprint, occurrence, index, code, *rest = values[:12]
        return cls(item, fingerprint, occurrence, index, STATUSES[code], *rest)


class RowCache:
    """The rows in memory, by item: those at work and those not yet on disk. The others are forgotten."""

    def __init__(self) -> None:
        self.rows: dict[int, ItemRow] = {}
        self.changed: dict[int, ItemRow] = {}  # to be written with the next group
        self._writing: dict[int, ItemRow] = {}  # on their way to the disk

    def hold(self, row: ItemRow) -> None:
        """Keep a row until it is released."""
        row.held = True
        self.rows[row.item] = row

    def release(self, item: int) -> None:
        """Let go of a row; memory forgets it once it is on disk."""
        row = self.rows.get(item)
        if row is not None:
            row.held = False
            if item not in self.changed and item not in self._writing:
                del self.rows[item]

    def write_changed(self) -> None:
        """The changed rows are on their way to the disk."""
        self._writing, self.changed = self.changed, {}
        for row in self._writing.values():
            row.is_new = row.moved = False

    def take_back(self, new: list[ItemRow], moved: list[ItemRow]) -> None:
        """The rows did not reach the disk: they are to be written again."""
        for row in new:
            row.is_new = True
        for row in moved:
            row.moved = True
        self.changed = self._writing | self.changed
        self._writing = {}

    def written(self) -> list[ItemRow]:
        """The rows have reached the disk: forget those that nobody needs; all of them."""
        written, self._writing = list(self._writing.values()), {}
        for row in written:
            if not row.held and row.item not in self.changed:
                self.rows.pop(row.item, None)
        return written


def columns_digest(columns: dict[str, Any] | None) -> int:
    """A hash of the input columns that fits into one SQLite integer; 0 without columns."""
    if columns is None:
        return 0
    packed = codec.encode_columns(columns)
    return int.from_bytes(blake2b(packed, digest_size=8).digest(), "big", signed=True)


def _checksum(values: tuple[Any, ...]) -> int:
    """The checksum of a row's values, its place included."""
    place = -1 if values[3] is None else values[3]
    return crc32(_pack(values[0], values[2], place, *values[4:12]), crc32(values[1]))
