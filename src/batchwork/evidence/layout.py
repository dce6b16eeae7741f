# ruff: noqa: RUF001 - the dashes and quotes of documents are what this is about
"""Text -> lines, cells, tables and headings: what stands beside, above and below what.

Works on characters alone, so it is the same for a PDF (whose columns our extraction keeps), a plain text with aligned
columns, a Markdown or HTML table and prose.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_SEPARATOR = re.compile(r"\t+| {2,}(?:\.{3,} *)?| ?\.{3,} ?| ?…+ ?| ?_{3,} ?")
_PIPE = re.compile(r"[ \t]*[|│┃║][ \t]*")
_RULE = re.compile(r"[\s\-=_+|:.*~─━═│┃┼╪╬┌┐└┘├┤┬┴]*")
_HEADING_MARK = re.compile(
    r"\s*(?:#{1,6}\s+\S|(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.|[A-H]\.|§\s?\d+|Section \d+\b.?)\s+[A-ZÀ-Þ])"
)
_LETTER = re.compile(r"[^\W\d_]")
_NUMBERISH = re.compile(
    r"^[\s(\[]*(?:[-−–+]?\s?(?:(?:USD|EUR|GBP|CHF|CAD|AUD|JPY|SEK|NOK|DKK|PLN|INR)\s?|(?:US|CA|A|C|R)?[$€£¥₹]\s?))?"
    r"[-−–+]?[(]?\d[\d\s.,'’/:%-]*(?:[%)\]€£$]|[A-Za-z]{1,4}\.?)?\s*$"
)
_CSV_STEADY = 3


@dataclass(slots=True)
class Cell:
    """One piece of a line between wide gaps; `column` and `until` are places in the line, `index` its rank."""

    start: int
    end: int
    column: int
    until: int
    index: int
    text: str

    @property
    def is_label(self) -> bool:
        """Whether it can be a label: words, and not a figure with a unit."""
        return _LETTER.search(self.text) is not None and _NUMBERISH.match(self.text) is None


@dataclass(slots=True)
class Line:
    """One line of the text; `cells` is empty for a blank line or a drawn rule."""

    start: int
    end: int
    cells: list[Cell]
    kind: str  # "blank", "rule", "text"
    tabbed: bool  # cells are told by their rank, not by their place


class Layout:
    """The lines of a text, and the questions one asks about them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _lines(text)
        self._starts = [line.start for line in self.lines]

    def line_of(self, offset: int) -> int:
        """The number of the line on which this offset lies."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def cell_of(self, offset: int, line: int | None = None) -> Cell | None:
        """The cell that holds this offset."""
        number = self.line_of(offset) if line is None else line
        for cell in self.lines[number].cells:
            if offset < cell.end:
                return cell
        return None

    @cached_property
    def tables(self) -> list[int]:
        """For every line the number of its table's first line, or -1: lines with several cells, one below the other."""
        owner = [-1] * len(self.lines)
        first = -1
        for number, line in enumerate(self.lines):
            if line.kind == "text" and len(line.cells) > 1:
                if first < 0:
                    first = number
                owner[number] = first
            elif (
                line.kind == "rule"
                or (first >= 0 and line.kind == "text" and self._continues(number))
                or (line.kind == "blank" and first >= 0 and self._goes_on_below(number))
            ):
                owner[number] = first
            else:
                first = -1
        return owner

    def _continues(self, number: int) -> bool:
        """Whether a line with one cell is the rest of a row above: indented as one of its cells, not a new start."""
        line, above = self.lines[number], self.lines[number - 1]
        if above.kind != "text" or not above.cells:
            return False
        cell = line.cells[0]
        below = self.lines[number + 1] if number + 1 < len(self.lines) else None
        if below is not None and len(below.cells) > 1 and cell.until - cell.column < 40:
            return not cell.text.endswith(":")
        return len(above.cells) > 1 and any(abs(cell.column - other.column) <= 1 for other in above.cells[1:])

    def _goes_on_below(self, number: int) -> bool:
        """Whether one blank line lies between rows of the same shape."""
        if number + 1 >= len(self.lines) or number == 0:
            return False
        above, below = self.lines[number - 1], self.lines[number + 1]
        if len(above.cells) < 3 or len(below.cells) < 2:
            return False
        aligned = sum(1 for cell in below.cells if any(overlap(cell, other) for other in above.cells))
        return aligned == len(below.cells) and any(not cell.is_label for cell in below.cells)

    @cached_property
    def headings(self) -> list[tuple[int, ...]]:
        """For every line the headings it stands under (line numbers, nearest first, at most two)."""
        under: list[tuple[int, ...]] = []
        stack: list[tuple[int, int]] = []  # level, line
        for number in range(len(self.lines)):
            level = self._heading_level(number)
            if level:
                while stack and stack[-1][0] >= level:
                    stack.pop()
            under.append(tuple(line for _, line in reversed(stack))[:2])
            if level:
                stack.append((level, number))
        return under

    def _heading_level(self, number: int) -> int:
        line = self.lines[number]
        if line.kind != "text" or len(line.cells) != 1:
            return 0
        cell = line.cells[0]
        text = cell.text
        if len(text) > 70:
            return 0
        if text.startswith("#"):
            return len(text) - len(text.lstrip("#"))
        below = self.lines[number + 1] if number + 1 < len(self.lines) else None
        above_blank = number == 0 or self.lines[number - 1].kind != "text"
        if text.endswith((".", ",", ";")) or _LETTER.search(text) is None:
            return 0
        if text.endswith(":") and below is not None:
            return 8
        if _HEADING_MARK.match(text) and above_blank and ":" not in text:
            return 5
        if below is not None and below.kind == "rule":
            return 4
        if text.isupper() and above_blank and len(text) > 3 and not any(map(str.isdigit, text)):
            return 6
        wordy = text[0].isupper() and len(text.split()) <= 6 and ":" not in text and not any(map(str.isdigit, text))
        return 7 if above_blank and wordy and below is not None else 0


def overlap(one: Cell, other: Cell) -> bool:
    """Whether two cells of different lines stand in the same column."""
    return one.column < other.until and other.column < one.until


def _lines(text: str) -> list[Line]:
    lines: list[Line] = []
    raw_lines = text.split("\n")
    separated = _separator_separated(raw_lines)
    start = 0
    for number, raw in enumerate(raw_lines):
        end = start + len(raw)
        if not raw.strip():
            lines.append(Line(start, end, [], "blank", False))
        elif _RULE.fullmatch(raw):
            lines.append(Line(start, end, [], "rule", False))
        else:
            mark = separated.get(number)
            piped = mark is None and _has_pipes(raw)
            cells = _cells(raw, start, piped, mark)
            lines.append(Line(start, end, cells, "text", piped or mark is not None or "\t" in raw))
        start = end + 1
    return lines


def _has_pipes(raw: str) -> bool:
    pipes = sum(raw.count(pipe) for pipe in "|│┃║")
    return pipes >= 2 or (pipes == 1 and bool(re.search(r"\S [|│] \S", raw)))


def _cells(raw: str, start: int, piped: bool, mark: str | None) -> list[Cell]:
    if mark is not None:
        pieces = _csv_pieces(raw, mark)
    else:
        pieces = []
        position = 0
        for gap in (_PIPE if piped else _SEPARATOR).finditer(raw):
            pieces.append((position, gap.start()))
            if not piped and gap.group().count("\t") > 1:
                pieces.extend([(gap.end(), gap.end())] * (gap.group().count("\t") - 1))
            position = gap.end()
        pieces.append((position, len(raw)))
        if piped and pieces and pieces[0][0] == pieces[0][1]:
            pieces = pieces[1:]
    cells: list[Cell] = []
    by_rank = piped or mark is not None or "\t" in raw
    for index, (first, last) in enumerate(pieces):
        text = raw[first:last].strip()
        if text:
            low = raw.index(text, first)
            high = low + len(text)
            column, until = (index * 20, index * 20 + 10) if by_rank else (low, high)
            cells.append(Cell(start + low, start + high, column, until, index, text))
    return cells


def _separator_separated(raw_lines: list[str]) -> dict[int, str]:
    """Lines of comma or semicolon separated values: the same count of separators several lines on end."""
    marks: dict[int, str] = {}
    for mark, pattern in ((";", re.compile(r";")), (",", re.compile(r",(?=\S)"))):
        run: list[int] = []
        last = 0
        for number, raw in enumerate([*raw_lines, ""]):
            aligned = "  " in raw or "\t" in raw or ". " in raw
            count = 0 if aligned or number in marks else len(pattern.findall(re.sub(r'"[^"]*"', "", raw)))
            if count >= 2 and count == last:
                run.append(number)
                continue
            if len(run) >= _CSV_STEADY:
                marks.update(dict.fromkeys(run, mark))
            run, last = ([number] if count >= 2 else []), count
    return marks


def _csv_pieces(raw: str, mark: str) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    position, quoted = 0, False
    for index, char in enumerate(raw):
        if char == '"':
            quoted = not quoted
        elif char == mark and not quoted:
            pieces.append((position, index))
            position = index + 1
    pieces.append((position, len(raw)))
    return [
        (low + 1, high - 1) if high - low >= 2 and raw[low] == raw[high - 1] == '"' else (low, high)
        for low, high in pieces
    ]
