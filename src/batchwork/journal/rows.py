"""The rows of items and the one row of their sums: the state in memory, the values on disk, and their checksum."""

import struct
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Self
from zlib import crc32

import msgspec

from batchwork.core.errors import JournalDamagedError
from batchwork.core.outcome import Status
from batchwork.core.runstate import ItemState
from batchwork.journal import codec
from batchwork.journal.mark import Mark

ITEM_COLUMNS = (
    "id, fingerprint, occurrence, idx, status, reserved, paid, attempts, columns, request_seq, columns_seq,"
    " settled_seq, crc"
)
SUM_COLUMNS = ("run_id", "seq", "spent", "unconfirmed", "reserved", "standing", "began", "items", "batches", "noted")
SELECT_SUMS = f"SELECT {', '.join(SUM_COLUMNS)}, crc FROM total"  # noqa: S608
UPDATE_SUMS = f"UPDATE total SET {', '.join(f'{column}=?' for column in SUM_COLUMNS)}, crc=?"  # noqa: S608
STATUSES = tuple(Status)  # the place of a status here is its number on disk
_CODES = {status: code for code, status in enumerate(STATUSES)}
MOST_EVENTS = 3  # that tell of one item: what was asked, where it stands now, its outcome
_NONE: Mapping[Status, int] = {}
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
            bytearray(self.fingerprint),  # which SQLite's driver takes as it is; bytes cost it a search for an adapter
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

    def standing(self) -> tuple[int, ...]:
        """What changes of a row that keeps its place: its standing, with the checksum of all of it, and its number."""
        code, place = _CODES[self.status], -1 if self.index is None else self.index
        packed = _pack(
            self.item,
            self.occurrence,
            place,
            code,
            self.reserved_nano,
            self.paid_nano,
            self.attempts,
            self.columns_digest,
            self.request_seq,
            self.columns_seq,
            self.settled_seq,
        )
        crc = crc32(packed, crc32(self.fingerprint))
        return code, self.reserved_nano, self.paid_nano, self.attempts, self.settled_seq, crc, self.item

    def events(self, *, asked: bool) -> tuple[int, ...]:
        """The numbers of the events that tell its outcome, if it has one, and what was `asked`."""
        settled = (self.settled_seq,) if self.settled_seq else ()
        if not asked:
            return settled
        return (
            (*settled, self.columns_seq)
            if self.columns_seq == self.request_seq
            else (*settled, self.columns_seq, self.request_seq)
        )

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


class Sums(msgspec.Struct, gc=False):
    """What the whole journal adds up to. Its fields are the columns, in their order."""

    run_id: str
    seq: int = 0  # the last event
    spent: int = 0
    unconfirmed: int = 0
    reserved: int = 0
    counts: dict[Status, int] = msgspec.field(default_factory=lambda: dict.fromkeys(STATUSES, 0))  # of the latest input
    began: int = 0  # the event that started the latest run
    items: int = 0  # ever opened
    batches: int = 0  # events of provider batches
    noted: int = 0  # items below this ordinal stand in the table of identities

    @property
    def places(self) -> int:
        """How many places the latest input has."""
        return sum(self.counts.values())

    @property
    def mark(self) -> Mark:
        """How far the journal is."""
        return Mark(self.run_id, self.seq, self.spent)

    def values(self, *, without: Mapping[Status, int] = _NONE) -> tuple[Any, ...]:
        """The row as it goes to disk, `without` the places that are taken away together with it."""
        values = list(msgspec.structs.astuple(self))
        values[5] = ",".join(str(count - without.get(status, 0)) for status, count in self.counts.items())
        return (*values, crc32(repr(tuple(values)).encode()))

    @classmethod
    def stored(cls, values: tuple[Any, ...]) -> Self:
        """The row as it came from disk; a JournalDamagedError when it contradicts its checksum."""
        if len(values) != len(SUM_COLUMNS) + 1 or crc32(repr(tuple(values[:-1])).encode()) != values[-1]:
            raise JournalDamagedError("its totals are damaged")
        sums = cls(*values[:-1])
        sums.counts = dict(zip(STATUSES, map(int, values[5].split(",")), strict=True))
        return sums
