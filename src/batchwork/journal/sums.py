"""The sums of a journal: what all its events add up to, in one row with a checksum."""

from collections.abc import Mapping
from typing import Any, Self
from zlib import crc32

import msgspec

from batchwork.core.errors import JournalDamagedError
from batchwork.core.outcome import Status
from batchwork.journal.item_row import STATUSES
from batchwork.journal.mark import Mark

COLUMNS = ("run_id", "seq", "spent", "unconfirmed", "reserved", "standing", "began", "items", "batches", "noted")
SELECT = f"SELECT {', '.join(COLUMNS)}, crc FROM total"  # noqa: S608
UPDATE = f"UPDATE total SET {', '.join(f'{column}=?' for column in COLUMNS)}, crc=?"  # noqa: S608

_NONE: Mapping[Status, int] = {}


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
        if len(values) != len(COLUMNS) + 1 or crc32(repr(tuple(values[:-1])).encode()) != values[-1]:
            raise JournalDamagedError("its totals are damaged")
        sums = cls(*values[:-1])
        sums.counts = dict(zip(STATUSES, map(int, values[5].split(",")), strict=True))
        return sums
