"""Find notes such as "(in thousands)" or "USD '000", and the figures they multiply.

A note in a column heading holds for its column, one in a row's label for its row, one in a line of its own for the
tables below it.
"""

import re

from batchwork.evidence.layout import Layout, can_head, column_of
from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["scales"]
_NOTE = re.compile(_PATTERNS["note"])
_HINT = re.compile(_PATTERNS["hint"])
_UNSCALED = re.compile(_PATTERNS["unscaled"])
_POWERS = (
    (("milliers", "mig"), 3), (("lakh",), 5), (("crore",), 7), (("b", "milliard", "miliard", "miljard", "mrd"), 9),
    (("m",), 6),
)  # fmt: skip
_PARAGRAPH = 60  # characters of a line from which on it is prose; two of them end what a note holds for


class Scales:
    """The power of ten that notes give to a place; 0 when none does."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._notes: list[tuple[int, int]] = []  # offset, power
        if _HINT.search(layout.text):
            self._notes = [(found.start(), _power(found)) for found in _NOTE.finditer(layout.text)]
        self._below: dict[int, int] = {}  # for lines of tables below a note in a line of its own, the power
        for offset, power in self._notes:
            self._hold_below(layout.line_of(offset), power)

    def _hold_below(self, number: int, power: int) -> None:
        lines = self._layout.lines
        if len(lines[number].cells) > 1 and not all(map(can_head, lines[number].cells[1:])):
            return  # a row with figures of its own
        prose = 0
        for below in range(number + 1, len(lines)):
            single = len(lines[below].cells) == 1
            prose += single and lines[below].end - lines[below].start > _PARAGRAPH
            if prose > 1:
                break
            if lines[below].cells and not single:
                self._below[below] = power

    def power_at(self, start: int) -> int:
        """The power of ten for a plain figure at this offset."""
        if not self._notes:
            return 0
        number = self._layout.line_of(start)
        line = self._layout.lines[number]
        cell = self._layout.cell_of(start, number)
        if cell is None:
            return 0
        for offset, power in self._notes:
            if line.start <= offset < start and len(line.cells) > 1:
                return power
        if line.cells[0] is not cell and _UNSCALED.search(line.cells[0].text):
            return 0
        head = self._layout.head_row(number)
        owner = column_of(head, cell) if head else None
        for offset, power in self._notes:
            if owner is not None and any(one.start <= offset < one.end for one in (head[0], head[owner])):
                return power
        return self._below.get(number, 0)


def _power(found: re.Match[str]) -> int:
    word = next((group for group in found.groups() if group), "k").lower()
    return next((power for words, power in _POWERS if word.startswith(words)), 3)
