"""Find notes such as "(in thousands)" or "USD '000", and the figures they multiply.

A note in a column heading holds for its column, one in a row's label for its row, one in a line of its own for the
tables below it until the next heading of its kind.
"""

import re

from batchwork.evidence.layout import Layout, column_of
from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["scales"]

_NOTE = re.compile(_PATTERNS["note"])
_WORDS, _SIGNS = _PATTERNS["hints"].split(), _PATTERNS["signs"].split()
_LETTERS = [gap + letter for gap in ("", " ") for letter in "mbk"]
_POWERS = {"milliers": 3, "millier": 3, "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7}
_NINES = ("b", "milliard", "miliard", "miljard", "mrd")
_UNSCALED = re.compile(_PATTERNS["unscaled"])


class Scales:
    """The power of ten that notes give to a place; 0 when none does."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._notes: list[tuple[int, int, int]] = []  # line, offset, power
        until = 0
        for number in sorted(self._hinted()):
            low = max(until, layout.lines[max(0, number - 1)].start)
            until = layout.lines[number].end
            for found in _NOTE.finditer(layout.text, low, until):
                self._notes.append((layout.line_of(found.start()), found.start(), _power(found)))
        self._lines = self._captions()

    def _hinted(self) -> set[int]:
        """The lines that hold what every note has one of: looking for these is far quicker than the pattern."""
        lower, found = self._layout.text.lower(), set()
        signs = (sign + letter for sign in _SIGNS if sign in lower for letter in _LETTERS)
        for hint in (*_WORDS, *signs):
            at = lower.find(hint)
            while at >= 0:
                number = self._layout.line_of(at)
                found.add(number)
                at = lower.find(hint, self._layout.lines[number].end)
        return found

    def _captions(self) -> dict[int, int]:
        """For lines of tables below a note in a line of its own, the power."""
        lines = self._layout.lines
        powers: dict[int, int] = {}
        for number, offset, power in self._notes:
            cell = self._layout.cell_of(offset, number)
            alone = len(lines[number].cells) == 1 or (
                cell is not None
                and cell.index == 0
                and all(self._is_head(other.text) for other in lines[number].cells[1:])
            )
            if not alone:
                continue
            quiet = 0
            for below in range(number + 1, len(lines)):
                line = lines[below]
                if any(note == below for note, _, _ in self._notes) and len(line.cells) == 1:
                    break
                if line.kind == "text" and len(line.cells) == 1 and line.end - line.start > 60:
                    quiet += 1
                if quiet > 1:
                    break
                if len(line.cells) > 1:
                    powers[below] = power
        return powers

    def _is_head(self, text: str) -> bool:
        return bool(re.fullmatch(r"(?:FY\s?)?(?:19|20)\d\d|[^\d]+|Q[1-4].*", text.strip()))

    def power_at(self, start: int) -> int:
        """The power of ten for a plain figure at this offset."""
        if not self._notes:
            return 0
        number = self._layout.line_of(start)
        line = self._layout.lines[number]
        cell = self._layout.cell_of(start, number)
        if cell is None:
            return 0
        label = line.cells[0].text if line.cells and line.cells[0] is not cell else ""
        for note, offset, power in self._notes:
            if note == number and offset < start and len(line.cells) > 1:
                return power
        if _UNSCALED.search(label):
            return 0
        head = self._layout.head_row(number)
        if head:
            owner = column_of(head, cell)
            above = head[owner] if owner is not None else None
            for _, offset, power in self._notes:
                if above is not None and above.start <= offset < above.end and not (owner == 0 and len(head) > 1):
                    return power
                if head[0].start <= offset < head[0].end:
                    return power
        return self._lines.get(number, 0)


def _power(found: re.Match[str]) -> int:
    word = next((group for group in found.groups() if group), "k").lower()
    if word in _POWERS:
        return _POWERS[word]
    if word.startswith(_NINES):
        return 9
    return 6 if word.startswith("m") and not word.startswith("mig") else 3
