# ruff: noqa: RUF001 - the dashes and quotes of documents are what this is about
"""Text -> lines, cells, tables and headings: what stands beside, above and below what.

Works on characters alone, so it is the same for a PDF (whose columns our extraction keeps), a plain text with aligned
columns, a Markdown or HTML table and prose.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache

from batchwork.evidence.months import MONTHS
from batchwork.evidence.words import fold, looks_like_name

_SEPARATOR = re.compile(r"\t+| {2,}(?:\.{3,} *)?| ?\.{3,} ?| ?…+ ?| ?_{3,} ?")
_PIPE = re.compile(r"[ \t]*[|│┃║][ \t]*")
_RULE = re.compile(r"[\s\-=_+|:.*~─━═│┃┼╪╬┌┐└┘├┤┬┴]*")
_HEADING_MARK = re.compile(
    r"\s*(?:#{1,6}\s+\S|(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.|[A-H]\.|§\s?\d+|Section \d+\b.?)\s+[A-ZÀ-Þ])"
)
_LETTER = re.compile(r"[^\W\d_]")
_NUMBERISH = re.compile(
    r"^(?!.*%\s?[^\W\d_]{2})[\s(\[]*(?:[-−–+]?\s?(?:(?:USD|EUR|GBP|CHF|CAD|AUD|JPY|SEK|NOK|DKK|PLN|INR)\s?|(?:US|CA|A|C|R)?[$€£¥₹]\s?))?"
    r"[-−–+]?[(]?\d[\d\s.,'’/:%-]*(?:[%)\]€£$]|[A-Za-z]{1,4}\.?)?\s*$"
)
_NUMBERED = re.compile(r"([A-Z][^\W\d_]{1,20}) (?:#|[Nn]o\.? ?)?\d{1,5}")
_CSV_STEADY = 3
_NAME = 9  # the level of a name: it heads what follows but ends no section


@lru_cache(maxsize=50_000)
def _can_label(text: str) -> bool:
    return _LETTER.search(text) is not None and _NUMBERISH.match(text) is None


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
        return _can_label(self.text)


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
        if len(below.cells) == 2 and len(above.cells) > 3 and overlap(below.cells[0], above.cells[0]):
            return False  # a list of labels and values under a wider table
        aligned = sum(1 for cell in below.cells if any(overlap(cell, other) for other in above.cells))
        return aligned == len(below.cells) and any(not cell.is_label for cell in below.cells)

    @cached_property
    def headings(self) -> list[tuple[int, ...]]:
        """For every line the headings it stands under (line numbers, nearest first, at most two)."""
        under: list[tuple[int, ...]] = []
        stack: list[tuple[int, int]] = []  # level, line
        for number, line in enumerate(self.lines):
            level = self._heading_level(number)
            if line.kind == "blank" and stack and stack[-1][0] == _NAME:
                self._leave_address(stack)
            if level:
                while stack and stack[-1][0] >= level:
                    stack.pop()
            under.append(tuple(line for _, line in reversed(stack))[:2])
            if level:
                stack.append((level, number))
        return under

    @cached_property
    def part_starts(self) -> set[int]:
        """The lines that number the parts of a text, the same word each time: Lot 1, Lot 2."""
        numbered: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines):
            found = _NUMBERED.fullmatch(line.cells[0].text) if len(line.cells) == 1 else None
            if found:
                numbered.setdefault(found[1], []).append(number)
        return {number for lines in numbered.values() if len(lines) > 1 for number in lines}

    @cached_property
    def section_starts(self) -> set[int]:
        """The lines that head a section, names apart."""
        return {number for number in range(len(self.lines)) if 0 < self._heading_level(number) < _NAME}

    def _leave_address(self, stack: list[tuple[int, int]]) -> None:
        """After the lines under a name: a heading that stood right above the name was about these alone."""
        _, name = stack.pop()
        if stack and all(line.kind == "blank" for line in self.lines[stack[-1][1] + 1 : name]):
            stack.pop()

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
        if _HEADING_MARK.match(text) and above_blank and ":" not in text and not _is_sentence(text):
            return 5
        if below is not None and below.kind == "rule":
            return 4
        if above_blank and number in self.part_starts:
            return 6
        if text.isupper() and above_blank and len(text) > 3 and not any(map(str.isdigit, text)):
            return 6
        wordy = text[0].isupper() and len(text.split()) <= 6 and ":" not in text and not any(map(str.isdigit, text))
        if not (above_blank and wordy and below is not None):
            return 0
        return _NAME if looks_like_name(text) else 7


def _is_sentence(text: str) -> bool:
    """Whether what starts with a number like a heading goes on as a sentence, or is a date."""
    words = text.split()
    return ". " in text.lstrip("0123456789. ") or (len(words) > 1 and fold(words[1].rstrip(".,")) in MONTHS)


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
            aligned = "  " in raw or "\t" in raw or ". " in raw or raw.startswith("|")
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
