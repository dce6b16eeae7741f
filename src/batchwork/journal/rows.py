"""An item's row: its state in memory, its values on disk, and the checksum that ties them together."""

from __future__ import annotations

import struct
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import Reopened, Settled
from batchwork.core.outcome import Status
from batchwork.core.runstate import ItemState
from batchwork.journal import codec

COLUMNS = (
    "id, fingerprint, occurrence, idx, status, reserved, paid, attempts, columns, request_seq, columns_seq,"
    " settled_seq, crc"
)
_CODES = {status: code for code, status in enumerate(Status)}
_STATUSES = tuple(Status)
_pack = struct.Struct("<11q").pack
_SETTLED, _REOPENED = codec.KINDS[Settled], codec.KINDS[Reopened]


class Row(ItemState, gc=False, eq=False):
    """An item's state, and where its parts stand in the file. Its fields are the columns, in their order."""

    columns_digest: int = 0
    request_seq: int = 0
    columns_seq: int = 0
    settled_seq: int = 0
    held: bool = False  # the engine is at work on it
    is_new: bool = False  # not on disk yet
    moved: bool = False  # more than its standing has changed

    def note(self, kind: int, seq: int) -> None:
        """Remember where the latest outcome stands."""
        if kind == _SETTLED:
            self.settled_seq = seq
        elif kind == _REOPENED:
            self.settled_seq = 0


def columns_digest(columns: dict[str, Any]) -> int:
    """What tells two rows of input columns apart, in one SQLite integer."""
    packed = codec.encode_columns(columns)
    return int.from_bytes(blake2b(packed, digest_size=8).digest(), "big", signed=True)


def status_of(code: int) -> Status:
    """The status behind a number."""
    return _STATUSES[code]


def row_values(row: Row) -> tuple[Any, ...]:
    """The row as it goes to disk."""
    values = (
        row.item,
        row.fingerprint,
        row.occurrence,
        row.index,
        _CODES[row.status],
        row.reserved_nano,
        row.paid_nano,
        row.attempts,
        row.columns_digest,
        row.request_seq,
        row.columns_seq,
        row.settled_seq,
    )
    return (*values, seal(values))


def row_from(values: tuple[Any, ...]) -> Row:
    """The row as it came from disk.

    Raises:
        JournalDamagedError: it contradicts its checksum.
    """
    try:
        whole = seal(values) == values[12]
    except (TypeError, struct.error):  # not even the types are right
        whole = False
    if not whole:
        raise JournalDamagedError(f"the row of item {values[0]} is damaged")
    item, fingerprint, occurrence, index, code, *rest = values[:12]
    return Row(item, fingerprint, occurrence, index, _STATUSES[code], *rest)


def seal(values: tuple[Any, ...]) -> int:
    """The checksum of a row's values, its place included."""
    place = -1 if values[3] is None else values[3]
    return crc32(_pack(values[0], values[2], place, *values[4:12]), crc32(values[1]))


class Sums(NamedTuple):
    """What the whole journal adds up to, in one sealed row."""

    run_id: str
    seq: int = 0  # the last event
    spent: int = 0
    unconfirmed: int = 0
    reserved: int = 0
    standing: str = "0,0,0,0,0"  # how many items of the latest input stand at which status
    began: int = 0  # the event that started the latest run
    items: int = 0  # ever opened
    batches: int = 0  # events of provider batches
    noted: int = 0  # items below this ordinal stand in the table of identities

    @property
    def counts(self) -> dict[Status, int]:
        """How many items of the latest input stand at which status."""
        return dict(zip(_STATUSES, map(int, self.standing.split(",")), strict=True))

    @property
    def places(self) -> int:
        """How many places the latest input has."""
        return sum(self.counts.values())

    def sealed(self) -> tuple[Any, ...]:
        """As it goes to disk."""
        return (*self, crc32(repr(tuple(self)).encode()))

    @classmethod
    def unsealed(cls, values: tuple[Any, ...]) -> Sums:
        """As it came from disk.

        Raises:
            JournalDamagedError: it contradicts its checksum.
        """
        sums = cls(*values[:-1])
        if sums.sealed() != values:
            raise JournalDamagedError("its totals are damaged")
        return sums
