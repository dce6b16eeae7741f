"""The rows that a writing journal keeps in memory: of items at work, and of those not yet on disk."""

from __future__ import annotations

from batchwork.journal.item_row import ItemRow


class RowCache:
    """Rows by item. A row is forgotten once nobody works on its item and the disk has all of it."""

    __slots__ = ("_writing", "changed", "rows")

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
