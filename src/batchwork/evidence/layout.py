"""Text -> lines, cells, tables with their heads, and headings: what stands beside and above what.

Works on characters alone, so it is the same for a PDF (whose columns our extraction keeps), a plain text with aligned
columns, separated values, a Markdown or HTML table and prose.
"""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache
from itertools import chain, groupby, pairwise, takewhile
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from batchwork.evidence.words import PATTERNS, concepts, is_known

_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["layout"].items()}
_MARKS = {";": re.compile(r";"), ",": re.compile(r",(?=\S|$)")}
_PIECES = {mark: re.compile(rf'(?:^|{mark})((?:"[^"]*"|[^{mark}])*)') for mark in _MARKS}
_NESTED, _DEEPEST = 10, 10_000  # levels of headings: below those of texts stand keys, by their indentation
_STEADY = 3  # lines with the same count of separators
_END, _COLUMN, _UNTIL = map(attrgetter, ("end", "column", "until"))


@lru_cache(maxsize=50_000)
def can_label(text: str) -> bool:
    """Whether a cell's text can be a label: words, and not a figure with a unit."""
    return _FORMS["letter"].search(text) is not None and _FORMS["figure"].match(text) is None


@lru_cache(maxsize=50_000)
def _can_head(text: str) -> bool:
    """Whether a cell can be the heading of a column: words or a year, no value of its own and no colon."""
    if _FORMS["period"].fullmatch(text):
        return True
    if not can_label(text) or text.endswith(":") or ": " in text:
        return False
    return not _FORMS["figures"].search(unnumbered(_FORMS["aside"].sub("", text)))


class Cell(Struct, gc=False):
    """One piece of a line between wide gaps; `column` and `until` are places in the line, `index` its rank."""

    start: int
    end: int
    column: int
    until: int
    index: int
    text: str

    @property
    def is_known_label(self) -> bool:
        """Whether it holds words that labels are made of."""
        return can_label(self.text) and any(map(is_known, concepts(self.text)))


class Line(Struct, gc=False):
    """One line of the text; `cells` is empty for a blank line or a drawn rule."""

    start: int
    end: int
    cells: list[Cell]
    kind: str  # "blank", "rule", "text"

    @property
    def can_head(self) -> bool:
        """Whether it can be the heading row of a table."""
        return bool(self.cells) and all(_can_head(cell.text) for cell in reversed(self.cells))  # figures stand behind


class Layout:
    """The lines of a text, and the questions one asks about them."""

    def __init__(self, text: str) -> None:
        self.text = text
        raw_lines = _tabbed(text.split("\n"))
        self.plain = "\n".join(raw_lines)  # with a tab for every separator of values, so that 12,60 are not one number
        self.lines: list[Line] = []
        start = 0
        for raw in raw_lines:
            kind = "blank" if not raw or raw.isspace() else "rule" if _FORMS["rule"].fullmatch(raw) else "text"
            self.lines.append(Line(start, start + len(raw), _cells(raw, start) if kind == "text" else [], kind))
            start += len(raw) + 1
        self._starts = [line.start for line in self.lines]
        self._heads: dict[int, list[Cell]] = {}  # by the line of a row

    def line_of(self, offset: int) -> int:
        """The number of the line on which this offset lies."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def cell_of(self, offset: int, line: int | None = None) -> Cell | None:
        """The cell that holds this offset."""
        cells = self.lines[self.line_of(offset) if line is None else line].cells
        rank = bisect_right(cells, offset, key=_END) if len(cells) > 1 else 0
        return cells[rank] if rank < len(cells) and offset < cells[rank].end else None

    @cached_property
    def tables(self) -> list[int]:
        """For every line the number of its table's first line, or -1: lines with several cells, one below the other."""
        owner = [-1]
        for number, line in enumerate(self.lines):
            first = number if owner[-1] < 0 else owner[-1]
            owner.append(first if len(line.cells) > 1 else owner[-1] if line.kind == "rule" else -1)
        return owner[1:]

    def head_row(self, number: int) -> list[Cell]:
        """The heading cells over a row of a table; empty when it has none."""
        first = self.tables[number]
        if first >= 0 and first not in self._heads:
            self._find_heads(first)
        return self._heads.get(number, [])

    def _find_heads(self, first: int) -> None:
        """Give each row of a table the nearest row of labels above it that heads figures, or the table's first."""
        lines, head = self.lines, list[Cell]()
        table = list(takewhile(lambda number: self.tables[number] == first, range(first, len(lines))))
        rows = [number for number in table if len(lines[number].cells) > 1]
        below = dict(pairwise(rows))
        for number in table:
            self._heads[number] = head
            if number in below and lines[number].can_head and _heads(lines[number], lines[below[number]], bool(head)):
                head = _head_cells(lines[number], lines[max(number - 1, first)])

    @cached_property
    def headings(self) -> list[tuple[int, ...]]:
        """For every line the nearest heading above it, if there is one, and the heading of a higher level over that."""
        under, stack = list[tuple[int, ...]](), list[tuple[int, int]]()  # level, line
        over: tuple[int, ...] = ()
        for number, line in enumerate(self.lines):
            level = self._heading_level(number) if len(line.cells) == 1 else 0
            ends = level or (_NESTED + line.cells[0].column if line.cells else _DEEPEST)
            while stack and stack[-1][0] >= ends:
                stack.pop()
                over = tuple(heading for _, heading in stack[:-3:-1])
            under.append(over)
            if level:
                stack.append((level, number))
                over = tuple(heading for _, heading in stack[:-3:-1])
        return under

    def opens(self, number: int) -> bool:
        """Whether a line is the key of what stands indented below it: an object, an element, a table of settings."""
        line = self.lines[number]
        if len(line.cells) != 1 or number + 1 == len(self.lines) or not self.lines[number + 1].cells:
            return False
        cell, below = line.cells[0], self.lines[number + 1].cells[0]
        if cell.text[0] == "[" and _FORMS["table_key"].fullmatch(cell.text):
            return True
        return below.column > cell.column and _FORMS["opens"].fullmatch(cell.text) is not None

    def _heading_level(self, number: int) -> int:
        """How high a heading the only cell of a line is, 1 for the highest; 0 when it is none."""
        cell = self.lines[number].cells[0]
        text = cell.text
        if self.opens(number):
            return _NESTED - 1 if text[0] == "[" else _NESTED + cell.column
        if text[0] == "#":
            return len(text) - len(text.lstrip("#"))
        if number and self.lines[number - 1].kind == "text":
            return 0
        wordy = text[0].isupper() and len(text.split()) <= 6 and _FORMS["heading"].fullmatch(unnumbered(text))
        return _NESTED - 2 if wordy and cell.is_known_label else 0


def beside(row: list[Cell], cell: Cell, near: int = 0) -> list[Cell]:
    """The cells of another row that stand in the column of a cell, or miss it by less than `near`."""
    first = bisect_right(row, cell.column - near, key=_UNTIL)
    return row[first : bisect_left(row, cell.until + near, first, key=_COLUMN)]


def column_of(head: list[Cell], cell: Cell) -> Cell | None:
    """The heading cell that a cell belongs to: the one it overlaps most, else the nearest one."""
    return max(beside(head, cell, 6), key=lambda o: min(o.until, cell.until) - max(o.column, cell.column), default=None)


def unnumbered(text: str) -> str:
    """A label of a form without the number or letter of its box."""
    found = _FORMS["box_number"].match(text)
    return text[found.end() :] if found else text


def _heads(line: Line, row: Line, again: bool) -> bool:
    """Whether a row of words heads the row below: its figures, or words where no row of the table is a head yet."""
    figures = [cell for cell in row.cells if not can_label(cell.text)]
    if figures:
        return all(beside(line.cells, cell, 6) for cell in figures)
    return not again and line.cells[1].is_known_label


def _head_cells(line: Line, above: Line) -> list[Cell]:
    """Heading cells with the words that a first heading line has over them; the latest of several years is current."""
    upper = above.cells if above is not line and above.can_head else []
    texts = [" ".join([*(other.text for other in beside(upper, cell)), cell.text]) for cell in line.cells]
    years = [set(_FORMS["year"].findall(text)) for text in texts]
    latest, several = max(chain(*years), default=""), len(set(chain(*years))) > 1
    for rank, own in enumerate(years):
        if several and len(own) == 1:
            texts[rank] += " current year" if latest in own else " previous year"
    return [replace(cell, text=text) for cell, text in zip(line.cells, texts, strict=True)]


def _tabbed(raw_lines: list[str]) -> list[str]:
    """The lines, those of separated values with tabs for their separators.

    A single line cannot tell: prose has commas too. Rows show themselves by having the same count of separators several
    lines on end, without blanks behind them and not only inside numbers.
    """
    for (mark, count), run in groupby(range(len(raw_lines)), lambda number: _separators(raw_lines[number])):
        numbers = list(run) if count else []
        rows = [raw_lines[number] for number in numbers]
        if len(rows) < _STEADY or not any(map(_FORMS["parts"].search, rows)):
            continue  # figures with their thousands, below each other
        if count > 1 or all(map(_FORMS["pair"].fullmatch, rows)):
            for number in numbers:
                raw_lines[number] = "\t".join(_PIECES[mark].findall(raw_lines[number]))
    return raw_lines


def _separators(raw: str) -> tuple[str, int]:
    """The separator that a line may have, and how often, quoted ones aside."""
    mark = ";" if ";" in raw else ","
    if mark not in raw or _FORMS["aligned"].search(raw):
        return mark, 0
    return mark, len(_MARKS[mark].findall(_FORMS["quoted"].sub("", raw) if '"' in raw else raw))


def _cells(raw: str, start: int) -> list[Cell]:
    """The cells of a line, between drawn lines, tabs or wide gaps; told by their rank where they are not aligned."""
    if not _FORMS["divides"].search(raw):
        text = raw.strip()
        low = raw.index(text[0])
        high = low + len(text)
        return [Cell(start + low, start + high, low, high, 0, text)]
    piped = _FORMS["piped"].search(raw) is not None
    by_rank = piped or "\t" in raw
    edges = [0, *chain(*[gap.span() for gap in _FORMS["pipe" if piped else "gap"].finditer(raw)]), len(raw)]
    cells: list[Cell] = []
    for index, (first, last) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
        text = raw[first:last].strip()
        if text:
            low = raw.index(text, first)
            column, until = (index * 20, index * 20 + 10) if by_rank else (low, low + len(text))
            cells.append(Cell(start + low, start + low + len(text), column, until, index, text))
    return cells
