"""The columns of tables as places for the elements of a list: offers side by side, trains across, a year each.

A band is what stands below each other in one table; where cells of one line would share a band there is none.
"""

from collections.abc import Iterator
from functools import lru_cache

from batchwork.evidence.page.layout import Cell, Layout

Band = tuple[int, int, int, int]  # lines from and to (exclusive), columns from and to


class Bands:
    """All bands of a layout, and in which one a place stands."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._of_line: dict[int, tuple[Band, ...]] = {}
        tables: dict[int, list[int]] = {}
        for number, first in enumerate(layout.tables):
            if first >= 0 and len(layout.lines[number].cells) > 1:
                tables.setdefault(first, []).append(number)
        for numbers in tables.values():
            if len(numbers) > 1:
                self._of_line.update(dict.fromkeys(numbers, tuple(self._bands(numbers))))

    def at(self, start: int) -> Band | None:
        """The band in which an offset stands; none for the first column, which says what the rows are."""
        number = self._layout.line_of(start)
        cell = self._layout.cell_of(start, number)
        found = (band for band in self._of_line.get(number, ())[1:] if cell is not None and _holds(band, cell))
        return next(found, None)

    def is_head(self, start: int) -> bool:
        """Whether an offset stands in the first column or the first line of a table, the heads of its crossings."""
        number = self._layout.line_of(start)
        bands = self._of_line.get(number)
        if not bands:
            return False
        return number == bands[0][0] or self.at(start) is None

    def _bands(self, numbers: list[int]) -> Iterator[Band]:
        cells = sorted((cell for n in numbers for cell in self._layout.lines[n].cells), key=lambda cell: cell.column)
        ranges: list[tuple[int, int]] = []
        for cell in cells:
            if ranges and cell.column < ranges[-1][1]:
                ranges[-1] = (ranges[-1][0], max(ranges[-1][1], cell.until))
            else:
                ranges.append((cell.column, cell.until))
        if max(len(self._layout.lines[n].cells) for n in numbers) > len(ranges):
            return
        for low, high in ranges:
            yield numbers[0], numbers[-1] + 1, low, high


@lru_cache(maxsize=8)
def bands_of(layout: Layout) -> Bands:
    """The bands of a layout, found once."""
    return Bands(layout)


def _holds(band: Band, cell: Cell) -> bool:
    return band[2] <= cell.column < band[3]
