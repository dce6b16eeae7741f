"""The figures of all items as columns in memory: a million of them are filtered, sorted and counted in milliseconds.

The place of a figure in its column is the number of its item. The index keeps the same on disk.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from batchwork.core.outcome import Status
from batchwork.view.fold import KINDS, STATUSES, Row
from batchwork.view.index import Hits
from batchwork.view.selection import SORTS, Selection

_DTYPES = {
    "place": np.int32,
    "status": np.int8,
    "kind": np.int8,
    "paid": np.int64,
    "latency": np.float32,
    "input": np.int32,
    "output": np.int32,
    "attempts": np.int16,
    "opened_at": np.float64,
    "settled_at": np.float64,
    "settled_seq": np.int64,
}
_GROW = 1 << 14
_MANY = 100_000  # items: sorting more takes longer than a page may
_NOWHERE = -1
Array = np.ndarray[Any, Any]


class Figures:
    """Columns of so many items, which somebody else may go on filling behind the last of them."""

    def __init__(self, columns: dict[str, Array], count: int) -> None:
        self.count = count
        self._columns = columns

    def __getitem__(self, name: str) -> Array:
        """A column; `tokens` is the sum of two."""
        if name == "tokens":
            return self["input"] + self["output"]
        return self._columns[name][: self.count]

    @property
    def placed(self) -> Array:
        """Which items stand in the latest input."""
        return self["place"] >= 0

    def of_input(self, *names: str) -> list[Array]:
        """Columns of the items in the latest input."""
        placed = self.placed
        return [self[name] if placed.all() else self[name][placed] for name in names]

    def order(self, name: str) -> Array:
        """The items in the order of a column, those that are equal in it in the order of the input."""
        keys = (self["place"],) if name == "place" else (self["place"], self[name])
        return np.lexsort(keys)

    def counts(self) -> dict[str, int]:
        """How many items of the latest input stand where."""
        found = np.bincount(self["status"][self.placed], minlength=len(STATUSES))
        return {status.value: int(count) for status, count in zip(STATUSES, found, strict=True)}

    def failures(self) -> list[tuple[str, int, int]]:
        """The kinds of failure, the most frequent first: kind, count, and the first item that failed so."""
        kinds = np.where(self.placed, self["kind"], 0)
        counts = np.bincount(kinds, minlength=len(KINDS) + 1)
        ranked = sorted((number for number in range(1, len(counts)) if counts[number]), key=lambda n: -counts[n])
        return [(KINDS[number - 1].value, int(counts[number]), int(np.argmax(kinds == number))) for number in ranked]


class ItemColumns(Figures):
    """The columns as far as the index is filled. One thread changes them; others take what there is, and read that."""

    def __init__(self) -> None:
        super().__init__({name: np.zeros(_GROW, dtype) for name, dtype in _DTYPES.items()}, 0)
        self.version = 0  # changes with every change
        self._orders: dict[str, tuple[int, Array]] = {}  # by column: the version it is of, and the items in its order
        self._lock = threading.Lock()

    def now(self) -> Figures:
        """The figures of the items that there are at this moment."""
        with self._lock:
            return Figures(dict(self._columns), self.count)

    # -- filling them ---------------------------------------------------------------------------

    def load(self, rows: Iterable[tuple[float, ...]], *, at_once: int = 50_000) -> None:
        """Take in every row of an index, in the order of its items."""
        pages: list[tuple[float, ...]] = []
        for row in rows:
            pages.append(row)
            if len(pages) >= at_once:
                self._load_page(pages)
                pages = []
        self._load_page(pages)

    def _load_page(self, rows: Sequence[tuple[float, ...]]) -> None:
        if not rows:
            return
        items = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        with self._lock:
            self._make_room(int(items.max()) + 1)
            for number, (name, dtype) in enumerate(_DTYPES.items(), start=1):
                self._columns[name][items] = np.array([row[number] for row in rows]).astype(dtype)
            self.version += 1

    def change(self, rows: Sequence[Row]) -> None:
        """Take in rows that have changed."""
        self._load_page([_values(row) for row in rows])

    def _make_room(self, count: int) -> None:
        room = len(self._columns["status"])
        if count > room:
            room = max(count, room * 2)
            for name, column in self._columns.items():
                grown = np.zeros(room, column.dtype)
                grown[: len(column)] = column
                self._columns[name] = grown
        if count > self.count:
            self._columns["place"][self.count : count] = _NOWHERE
            self.count = count

    # -- reading them ---------------------------------------------------------------------------

    def select(self, selection: Selection, hits: Hits | None = None) -> Array:
        """The items of a selection, in its order; only those with the words that were looked for, if any were."""
        with self._lock:
            mask = self.placed
            if hits is not None:
                mask &= self._having(hits)
            if selection.status:
                mask &= np.isin(self["status"], [STATUSES.index(Status(status)) for status in selection.status])
            if selection.kind:
                mask &= np.isin(self["kind"], [_KIND_NUMBERS[kind] for kind in selection.kind])
            for name, low, high in selection.ranges():
                mask &= (self[name] >= low) & (self[name] <= high)
            order = self._order(selection.sort)
            found = order[mask[order]]
        return found[::-1] if selection.descending else found

    def _having(self, hits: Hits) -> Array:
        """Which items have these words in their prompt, or in the answer that they have now."""
        mask = np.zeros(self.count, bool)
        items = np.asarray(hits.items, np.int64)
        mask[items[items < self.count]] = True
        order, settled = self._order("settled_seq"), self["settled_seq"]
        at = np.searchsorted(settled, np.asarray(hits.outcomes, np.int64), sorter=order)
        at = order[at[at < self.count]]
        mask[at[np.isin(settled[at], hits.outcomes)]] = True
        return mask

    def sort(self) -> None:
        """Sort by everything that a page may sort by, while nobody waits for it."""
        for name in (*SORTS, "settled_seq"):
            if self._orders.get(name, (-1,))[0] != self.version:
                self._orders[name] = (self.version, self.now().order(name))  # this thread alone changes them

    def _order(self, name: str) -> Array:
        """The items in the order of a column; of very many, as it was when they were last sorted, new ones last."""
        version, order = self._orders.get(name, (-1, np.zeros(0, np.int64)))
        if version == self.version:
            return order
        if version >= 0 and self.count > _MANY:
            return np.concatenate((order, np.arange(len(order), self.count)))
        self._orders[name] = (self.version, self.order(name))
        return self._orders[name][1]


_KIND_NUMBERS = {kind.value: number for number, kind in enumerate(KINDS, start=1)}


def _values(row: Row) -> tuple[float, ...]:
    values = msgspec.structs.astuple(row)
    return (values[0], _NOWHERE if values[1] is None else values[1], *values[2:])
