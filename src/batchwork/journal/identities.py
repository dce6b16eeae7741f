"""Finds the item of a fingerprint and an occurrence: in memory while it is young, in a table of its own later.

Fingerprints come in random order. One by one, each would rewrite a page of its own in a large table, commit after
commit; some thousands at once, in the table's order, share their pages. Until there are so many, memory knows them,
and when a journal is opened they are read from its last rows.
"""

from __future__ import annotations

import sqlite3

from batchwork.journal.tables import ItemTable

_AT_ONCE = 8192
_NOTE = (
    "INSERT INTO identity SELECT fingerprint, occurrence, id FROM item WHERE id >= ? AND id < ?"
    " ORDER BY fingerprint, occurrence"
)


class Identities:
    """The identities of all items of a journal."""

    __slots__ = ("_is_checked", "_noted", "_table", "_young")

    def __init__(self, table: ItemTable, *, noted: int, items: int) -> None:
        self._table = table
        self._noted = noted  # items below this ordinal stand in the table
        self._young = table.identities(noted)
        self._is_checked = not items  # an empty journal has nothing to be checked

    def add(self, fingerprint: bytes, occurrence: int, item: int) -> None:
        """A new item."""
        self._young[fingerprint, occurrence] = item

    def find(self, fingerprint: bytes, occurrence: int) -> int | None:
        """The item of this identity."""
        item = self._young.get((fingerprint, occurrence))
        if item is not None:
            return item
        if not self._is_checked:
            self._table.check_indexes()
            self._is_checked = True
        return self._table.find(fingerprint, occurrence)

    def note(self, writer: sqlite3.Connection, items: int) -> int:
        """Put the young ones into the table, in the open transaction, once they are many; how far it reaches then."""
        if items - self._noted < _AT_ONCE:
            return self._noted
        writer.execute(_NOTE, (self._noted, items))
        return items

    def noted(self, items: int) -> None:
        """What `note` has put in is on disk: memory need not know it any more."""
        if items > self._noted:
            self._noted = items
            self._young = {identity: item for identity, item in self._young.items() if item >= items}
