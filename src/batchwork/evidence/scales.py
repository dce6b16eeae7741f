# ruff: noqa: RUF001 - the dashes and quotes of documents are what this is about
"""Find notes such as "(in thousands)" or "USD '000", and the figures they multiply.

A note in a column heading holds for its column, one in a row's label for its row, one in a line of its own for the
tables below it until the next heading of its kind.
"""

import re

from batchwork.evidence.columns import Columns, column_of
from batchwork.evidence.layout import Layout

_NOTE = re.compile(
    r"(?:\b(?:in|amounts? in|figures in|expressed in|stated in|values? in)\s+(?:[A-Z]{3}\s+|US\$?\s*|[$€£]\s?)?"
    r"(?P<word>thousands?|millions?|billions?|tausend|millionen)\b"
    r"|[$€£]?\s?['’‘]?000s?(?=\s*(?:\)|$|[|,;]))(?<![\d,.]000)(?<![\d,.]000s)"
    r"|\b(?P<letters>TEUR|T€|TUSD|kEUR|k€|KUSD|MEUR|M€|mEUR)(?!\w)"
    r"|[($€£]\s?(?P<short>mn|mm|m|bn|k)\s?(?=\)|$)"
    r"|\b(?:USD|EUR|GBP|CHF)\s+(?P<code>mn|m|bn|k|thousands?|millions?|billions?)\b"
    r"|[$€£]\s?(?P<sign>thousands?|millions?|billions?)\b)",
    re.IGNORECASE,
)
# What every note holds one of, as plain words: looking for these is far quicker than the pattern.
_HINTS = (
    *(form for word in ("thousand", "million", "billion", "tausend") for form in (word, word.title(), word.upper())),
    *(f"{mark}000" for mark in "'’‘$€£ ("),
    *("TEUR", "T€", "TUSD", "kEUR", "k€", "KUSD", "MEUR", "M€", "mEUR"),
    *(f"{mark}{unit}" for mark in ("(", "$", "$ ", "€", "€ ", "£", "£ ") for unit in "mMkKbB"),
    *(f"{code} {unit}" for code in ("USD", "EUR", "GBP", "CHF") for unit in "mMkKbB"),
)
_POWERS = {"t": 3, "k": 3, "m": 6, "b": 9}
_UNSCALED = re.compile(
    r"%|\bper\b|\b(?:employees|headcount|staff|number of|shares|ratio|days"
    r"|margin|rate|percent|years?|customers|stores|count|fte)\b",
    re.IGNORECASE,
)


class Scales:
    """The power of ten that notes give to a place; 0 when none does."""

    def __init__(self, layout: Layout, columns: Columns) -> None:
        self._layout = layout
        self._columns = columns
        self._notes: list[tuple[int, int, int]] = []  # line, offset, power
        if any(hint in layout.text for hint in _HINTS):
            for found in _NOTE.finditer(layout.text):
                self._notes.append((layout.line_of(found.start()), found.start(), _power(found)))
        self._lines = self._captions()

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
        head = self._columns.head_row(number)
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
    return _POWERS.get(word[0], 3)
