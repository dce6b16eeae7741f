"""The table of items in a journal file: rows by number, by place and by identity, each checked by its checksum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from batchwork.core.errors import JournalDamagedError
from batchwork.core.outcome import Status
from batchwork.journal.item_row import COLUMNS, STATUSES, ItemRow
from batchwork.journal.snapshot import Snapshot

_AHEAD = 1024  # places read at once
_BEYOND = 1 << 62  # no input is that long
_SELECT = f"SELECT {COLUMNS} FROM item"  # noqa: S608


class ItemTable:
    """The items of a journal, as one snapshot has them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._ahead: dict[int, ItemRow] = {}  # by place, read before they are asked for
        self._ahead_from = self._ahead_to = 0

    # -- one row --------------------------------------------------------------------------------

    def row(self, item: int) -> ItemRow | None:
        """The row of this item."""
        values = self._snapshot.one(f"{_SELECT} WHERE id = ?", (item,))
        return None if values is None else self._row(values)

    def at(self, index: int) -> ItemRow | None:
        """The row at this place."""
        if not self._ahead_from <= index < self._ahead_to:
            self._ahead_from, self._ahead_to = index, index + _AHEAD
            rows = self._rows("WHERE idx >= ? AND idx < ?", index, index + _AHEAD)
            self._ahead = {row.index: row for row in rows if row.index is not None}
        return self._ahead.get(index)

    def forget_places(self) -> None:
        """Places have changed hands: what was read ahead is no longer true."""
        self._ahead, self._ahead_to = {}, 0

    def follow(self, rows: Iterable[ItemRow]) -> None:
        """Replace what was read ahead by what has been written since: an item may settle before its place is read."""
        for row in rows:
            if row.index is not None and self._ahead_from <= row.index < self._ahead_to:
                self._ahead[row.index] = row

    def find(self, fingerprint: bytes, occurrence: int) -> int | None:
        """The item of this identity, if it stands in the table of identities."""
        sql = "SELECT item FROM identity WHERE fingerprint = ? AND occurrence = ?"
        values = self._snapshot.one(sql, (fingerprint, occurrence))
        return None if values is None else values[0]

    def _row(self, values: tuple[Any, ...]) -> ItemRow:
        try:
            return ItemRow.stored(values)
        except JournalDamagedError as error:
            raise self._snapshot.damaged(error) from error

    # -- many rows ------------------------------------------------------------------------------

    def _rows(self, where: str, *values: int) -> list[ItemRow]:
        return [self._row(row) for row in self._snapshot.all(f"{_SELECT} {where}", values)]

    def identities(self, start: int) -> dict[tuple[bytes, int], int]:
        """The identities of the items from `start` on."""
        sql = "SELECT fingerprint, occurrence, id FROM item WHERE id >= ?"
        return {(fingerprint, occurrence): item for fingerprint, occurrence, item in self._snapshot.each(sql, (start,))}

    def reserved(self) -> list[ItemRow]:
        """Items with a call whose fate is open."""
        return self._rows("WHERE reserved <> 0")

    def pages(self, start: int, stop: int | None) -> Iterator[list[ItemRow]]:
        """Rows in the order of their places, page by page."""
        end = _BEYOND if stop is None else stop
        self._check_places(start, stop)
        while page := self._rows(f"WHERE idx >= ? AND idx < ? ORDER BY idx LIMIT {_AHEAD}", start, end):
            for row in page:
                if row.index is None or not start <= row.index < end:
                    raise self._snapshot.damaged(f"item {row.item} stands in the wrong place")
                start = row.index + 1
            yield page
            if len(page) < _AHEAD:
                return

    def counts(self, below: int | None) -> dict[Status, int]:
        """How many places, or places below one, stand at which status; counted afresh."""
        sums = self._snapshot.sums()
        # One pass with a counter each: GROUP BY would sort all rows in memory.
        each = ", ".join(f"count(*) FILTER (WHERE status = {code})" for code in range(len(STATUSES)))
        where = "idx IS NOT NULL" if below is None else f"idx < {int(below)}"
        total, *found = self._snapshot.one(f"SELECT count(*), {each} FROM item WHERE {where}") or (0,)  # noqa: S608
        if sum(found) != total:
            raise self._snapshot.damaged(f"{total - sum(found)} rows have a status that does not exist")
        counts = dict(zip(STATUSES, found, strict=True))
        if below is None and counts != sums.counts:
            raise self._snapshot.damaged(f"{sum(found)} rows are there, {sums.places} were written")
        return counts

    # -- whether the indexes are whole ----------------------------------------------------------

    def check_indexes(self) -> None:
        """Refuse a file where an item is not found by its key or at its place: it would be sent, and paid, again."""
        sums = self._snapshot.sums()
        same = "j.fingerprint = i.fingerprint AND j.occurrence = i.occurrence AND j.item = i.id"
        by_key = f"(i.id >= {sums.noted} OR EXISTS (SELECT 1 FROM identity j WHERE {same}))"  # noqa: S608
        by_place = "EXISTS (SELECT 1 FROM item j INDEXED BY item_place WHERE j.idx = i.idx AND j.id = i.id)"
        sql = f"SELECT count(*), coalesce(sum({by_key}), 0), coalesce(sum({by_place}), 0) FROM item i NOT INDEXED"  # noqa: S608
        if self._snapshot.one(sql) != (sums.items, sums.items, sums.places):
            raise self._snapshot.damaged("not every item is found again")

    def _check_places(self, start: int, stop: int | None) -> None:
        """Refuse a file whose index of places has lost some of these: the index alone decides what is read."""
        places = self._snapshot.sums().places
        end = places if stop is None else stop
        sql = "SELECT count(*) FROM item {} WHERE idx >= ? AND idx < ?"
        wanted = (max(0, start), end if start > 0 or stop is not None else _BEYOND)
        (found,) = self._snapshot.one(sql.format("INDEXED BY item_place"), wanted) or (0,)
        if found >= min(end, places) - wanted[0]:
            return
        # Fewer than there would be without a gap. A run that ended early may leave gaps, but not in the index alone.
        (really,) = self._snapshot.one(sql.format("NOT INDEXED"), wanted) or (0,)
        if found != really or (wanted == (0, _BEYOND) and found != places):
            raise self._snapshot.damaged(f"{found} rows of the input are there, {max(really, places)} were written")
