"""Find notes such as "(in thousands)" or "USD '000", and the figures they multiply.

A note in a column heading holds for its column, one in a row's label for its row, one in a line of its own for the
tables below it until prose follows.
"""

import re

from batchwork.evidence.layout import Layout, column_of
from batchwork.evidence.numbers import power_of
from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["scales"]
_HINTS, _NOTE, _UNSCALED = (re.compile(_PATTERNS[name]) for name in ("hints", "note", "unscaled"))
_PROSE = 60  # characters of a line that is no caption


class Scales:
    """The power of ten that notes give to a place; 0 when none does."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._notes: dict[int, list[tuple[int, int]]] = {}  # by line: offset, power
        for number in {layout.line_of(hint.start()) for hint in _HINTS.finditer(layout.text.lower())}:
            for found in _NOTE.finditer(layout.text, layout.lines[number].start, layout.lines[number].end):
                note = found.start(), power_of(found[found.lastindex] if found.lastindex else "k")
                self._notes.setdefault(number, []).append(note)
        self._captions = self._find_captions() if self._notes else {}

    def _find_captions(self) -> dict[int, int]:
        """For lines of tables below a note in a line of its own, the power."""
        captions: dict[int, int] = {}
        power = 0
        for number, line in enumerate(self._layout.lines):
            if len(line.cells) > 1:
                captions[number] = power
            elif number in self._notes:
                power = self._notes[number][-1][1]
            elif line.end - line.start > _PROSE:
                power = 0
        return captions

    def power_at(self, start: int) -> int:
        """The power of ten for a plain figure at this offset."""
        if not self._notes:
            return 0
        layout, number = self._layout, self._layout.line_of(start)
        line, cell = layout.lines[number], layout.cell_of(start, number)
        if cell is None:
            return 0
        for offset, power in self._notes.get(number, ()) if len(line.cells) > 1 else ():
            if offset < start:
                return power
        if cell is not line.cells[0] and _UNSCALED.search(line.cells[0].text):
            return 0
        head = layout.head_row(number)
        column = column_of(head, cell)
        for offset, power in self._notes.get(layout.line_of(head[0].start), ()) if head else ():
            if any(above.start <= offset < above.end for above in (head[0], column or head[0])):
                return power
        return self._captions.get(number, 0)
