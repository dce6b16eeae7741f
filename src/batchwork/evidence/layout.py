"""Text -> lines, cells, tables with their heads, and headings: what stands beside and above what.

Works on characters alone, so it is the same for a PDF (whose columns our extraction keeps), a plain text with aligned
columns, separated values, a Markdown or HTML table and prose.
"""

import re
from bisect import bisect_right
from functools import cached_property, lru_cache

from msgspec import Struct

from batchwork.evidence.words import PATTERNS, concepts, is_known, looks_like_name

_PATTERNS: dict[str, str] = PATTERNS["layout"]

_SEPARATOR = re.compile(r"\t+| {2,}(?:\.{3,} *)?| ?\.{3,} ?| ?…+ ?| ?_{3,} ?")
_DIVIDES = re.compile(r"[ .…_|│┃║](?:(?<=[…|│┃║])|(?<= ) |(?<=\.)\.\.|(?<=_)__)")  # what may part a line into cells
_PIPE = re.compile(r"[ \t]*[|│┃║][ \t]*")
_RULE = re.compile(r"[\s\-=_+|:.*~─━═│┃┼╪╬┌┐└┘├┤┬┴]*")
_LETTER = re.compile(r"[^\W\d_]")
_FIGURE = re.compile(_PATTERNS["figure"])
_SHARE_OF = re.compile(r"\d\s?%\s?[^\W\d_]{2}")  # "19 % VAT" is what the figure beside it is
_YEAR = re.compile(r"(?:FY ?)?(?:19|20)\d\d")
_BAND = re.compile(_PATTERNS["band"])
_BOX_NUMBER = re.compile(r"^(?:\d{1,2}[a-z]?|[a-z])[.)]?\s+(?=[^\W\d_]{4})(?!\w+ \d{4})")
_FIGURES = re.compile(r"(?<!\d)(?<![a-z] )(?!(?:19|20)\d\d(?!\d))\d{2,}")
_ASIDE = re.compile(r"\([^()]*\)")
_QUOTED = re.compile(r'"[^"]*"')
_MARKS = ((";", re.compile(r";")), (",", re.compile(r",(?=\S|$)")))
_ALIGNED = re.compile(r"  |\t|\. |[|│┃║]")  # written for the eye, in columns or in sentences
_IN_NUMBER = {";": re.compile(r"(?!)"), ",": re.compile(r"(?<=\d),(?=\d)")}
_OPENS = re.compile(r"^[^.!?]{0,60}(?::|[:=] ?[{\[(]|^[{\[(])$|^<[^<>/!?][^<>]*(?<!/)>$")
_TABLE_KEY = re.compile(r"\[\[?[\w.\"' -]{1,60}\]\]?")  # [cache]
_NESTED, _DEEPEST = 10, 10_000  # levels of headings: below those of texts stand keys, by their indentation
_STEADY = 3  # lines with the same count of separators
_LONGEST_HEADING = 70


@lru_cache(maxsize=50_000)
def can_label(text: str) -> bool:
    """Whether a cell's text can be a label: words, and not a figure with a unit."""
    return _LETTER.search(text) is not None and (_FIGURE.match(text) is None or _SHARE_OF.search(text) is not None)


class Cell(Struct, gc=False):
    """One piece of a line between wide gaps; `column` and `until` are places in the line, `index` its rank."""

    start: int
    end: int
    column: int
    until: int
    index: int
    text: str

    @property
    def is_label(self) -> bool:
        """Whether it can be a label."""
        return can_label(self.text)


class Line(Struct, gc=False):
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
        raw_lines = text.split("\n")
        self._marks, self._pairs = _separated(raw_lines)
        self.lines = _lines(raw_lines, self._marks)
        self._starts = [line.start for line in self.lines]
        self.units: dict[str, list[tuple[int, int]]] = {}  # of the lists that stand in it, by kind, found once
        self.refrains: dict[str, int] = {}  # beginnings of lines that come back, and how often
        self._heads: dict[int, list[Cell]] = {}  # by the line of a row

    @cached_property
    def plain(self) -> str:
        """The text with a tab for every separator of separated values, so that 12,60 are not one number."""
        if not self._marks:
            return self.text
        chars = list(self.text)
        for number, mark in self._marks.items():
            start = self.lines[number].start
            raw = self.text[start : self.lines[number].end]
            for _, high in _pieces(raw, mark)[:-1]:
                chars[start + raw.index(mark, high)] = "\t"
        return "".join(chars)

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
            if number in self._pairs:
                first = -1  # labels and values around the rows, not in their columns
            elif line.kind == "text" and len(line.cells) > 1:
                first = number if first < 0 else first
                owner[number] = first
            elif line.kind == "rule" or (first >= 0 and self._goes_on(number)):
                owner[number] = first
            else:
                first = -1
        return owner

    def _goes_on(self, number: int) -> bool:
        """Whether a table goes on below a blank line, a caption of rows or the rest of a wrapped cell."""
        lines = self.lines
        if number + 1 >= len(lines) or number == 0:
            return False
        above, line, below = lines[number - 1 : number + 2]
        if line.kind == "blank":
            caption = len(below.cells) == 1 and below.cells[0].is_label and len(below.cells[0].text) < 40
            if caption and number + 2 < len(lines):
                below = lines[number + 2]
            figures = [cell for cell in below.cells if not cell.is_label]
            if len(above.cells) < 2 or len(below.cells) < 2 or not figures:
                return False
            if len(below.cells) == 2 and len(above.cells) > 3 and overlap(below.cells[0], above.cells[0]):
                return False  # a list of labels and values under a wider table
            wide = len(above.cells) > 2 or (len(figures) > 1 and _can_head_all(above))
            return wide and all(any(overlap(cell, other) for other in above.cells) for cell in figures)
        cell = line.cells[0]
        if len(below.cells) > 1 and len(cell.text) < 40:
            return not cell.text.endswith(":")
        return len(above.cells) > 1 and any(abs(cell.column - other.column) <= 1 for other in above.cells[1:])

    def head_row(self, number: int) -> list[Cell]:
        """The heading cells over a row of a table; empty when it has none."""
        first = self.tables[number]
        if first >= 0 and first not in self._heads:
            self._find_heads(first)
        return self._heads.get(number, [])

    def _find_heads(self, first: int) -> None:
        """Give each row of a table the nearest row of labels above it that heads figures, or the table's first."""
        head: list[Cell] = []
        last = first
        while last < len(self.lines) and self.tables[last] == first:
            last += 1
        for number in range(first, last):
            self._heads[number] = head
            line = self.lines[number]
            if len(line.cells) < 2 or not _can_head_all(line):
                continue
            below = next((n for n in range(number + 1, last) if len(self.lines[n].cells) > 1), last)
            if below == last:
                continue
            ruled = self.lines[number + 1].kind == "rule"
            figures = [cell for cell in self.lines[below].cells if not cell.is_label]
            fuller = not _can_head_all(self.lines[below]) or len(line.cells) >= len(self.lines[below].cells)
            boxes = all(unnumbered(cell.text) != cell.text for cell in line.cells)
            covers = bool(figures) and self._covers(line, below)
            if boxes or (fuller and (ruled or covers or (not head and self._is_titled(number, last)))):
                head = _joined(self._upper(number, first), line, self.lines[below])

    def _covers(self, line: Line, below: int) -> bool:
        """Whether a row of labels has one for each figure of the row below."""
        figures = [cell for cell in self.lines[below].cells if not cell.is_label]
        known = any(is_known_label(cell) for cell in line.cells[1:]) or len(line.cells) > 2
        return known and all(any(overlap(cell, other, 6) for other in line.cells) for cell in figures)

    def _is_titled(self, number: int, last: int) -> bool:
        """Whether a row of words heads rows of words: as many cells, and known labels or capitals that they lack."""
        line = self.lines[number]
        rows = [self.lines[n] for n in range(number + 1, last) if self.lines[n].cells][:8]
        like = [row for row in rows if len(row.cells) >= len(line.cells) - 1]
        if 2 * len(like) < len(rows) or not rows:
            return False
        if len(line.cells) % 2 == 0 and 2 * sum(all(map(is_known_label, row.cells[::2])) for row in rows) >= len(rows):
            return all(cell.text.isupper() for cell in line.cells) and not all(c.text.isupper() for c in rows[0].cells)
        return is_known_label(line.cells[1]) or all(cell.text.isupper() for cell in line.cells)

    def _upper(self, number: int, first: int) -> list[Cell]:
        """The cells of a first line of headings over this one."""
        above = number - 1
        if above < first or len(self.lines[above].cells) < 1 or not _can_head_all(self.lines[above]):
            return []
        return self.lines[above].cells

    @cached_property
    def headings(self) -> list[tuple[int, ...]]:
        """For every line the nearest heading above it, if there is one, and the heading of a higher level over that."""
        under, stack = list[tuple[int, ...]](), list[tuple[int, int]]()  # level, line
        for number, line in enumerate(self.lines):
            indent = _NESTED + line.cells[0].column if line.cells else _DEEPEST
            level = self._heading_level(number) or (indent if self.opens(number) else 0)
            while stack and ((level and stack[-1][0] >= level) or stack[-1][0] >= indent):
                stack.pop()
            under.append(tuple(line for _, line in reversed(stack))[:3])
            if level:
                stack.append((level, number))
        return under

    def opens(self, number: int) -> bool:
        """Whether a line is the key of what stands indented below it: an object, an element, a table of settings."""
        line = self.lines[number]
        if len(line.cells) != 1 or number + 1 == len(self.lines) or not self.lines[number + 1].cells:
            return False
        text, below = line.cells[0].text, self.lines[number + 1].cells[0]
        return bool(_TABLE_KEY.fullmatch(text) or (below.column > line.cells[0].column and _OPENS.search(text)))

    def _heading_level(self, number: int) -> int:
        """How high a heading is, 1 for the highest; 0 for a line that is none."""
        line = self.lines[number]
        if line.kind != "text" or len(line.cells) != 1 or len(line.cells[0].text) > _LONGEST_HEADING:
            return 0
        text = line.cells[0].text
        if self.opens(number):
            return _NESTED - 1 if _TABLE_KEY.fullmatch(text) else 0
        if text.startswith("#"):
            return len(text) - len(text.lstrip("#"))
        if text.endswith((".", ",", ";")) or _LETTER.search(text) is None or number + 1 >= len(self.lines):
            return 0
        if text.endswith(":"):
            return 8
        if self.lines[number + 1].kind == "rule":
            return 4
        after_gap = number == 0 or self.lines[number - 1].kind != "text"
        wordy = text[0].isupper() and len(text.split()) <= 6 and not re.search(r"[:\d]", _BOX_NUMBER.sub("", text))
        return (6 if text.isupper() else 7) if after_gap and wordy and not looks_like_name(text) else 0


def overlap(one: Cell, other: Cell, near: int = 0) -> bool:
    """Whether two cells of different lines stand in the same column, or miss it by less than `near`."""
    return one.column < other.until + near and other.column < one.until + near


def column_of(head: list[Cell], cell: Cell) -> int | None:
    """Which heading cell a cell belongs to: the one it overlaps most, else the nearest one."""
    best, most = None, -6
    for index, other in enumerate(head):
        shared = min(other.until, cell.until) - max(other.column, cell.column)
        if shared > most:
            best, most = index, shared
    return best


def is_known_label(cell: Cell) -> bool:
    """Whether a cell holds words that labels are made of."""
    return cell.is_label and any(map(is_known, concepts(cell.text)))


def _can_head_all(line: Line) -> bool:
    return bool(line.cells) and all(map(_can_head, line.cells))


def _can_head(cell: Cell) -> bool:
    """Whether a cell can be the heading of a column: words or a year, no value of its own and no colon."""
    if _YEAR.fullmatch(cell.text) or _BAND.fullmatch(cell.text):
        return True
    if not cell.is_label or cell.text.endswith(":") or ": " in cell.text:
        return False
    return not _FIGURES.search(unnumbered(_ASIDE.sub("", cell.text)))


def unnumbered(text: str) -> str:
    """A label of a form without the number or letter of its box."""
    return _BOX_NUMBER.sub("", text)


def _joined(upper: list[Cell], line: Line, below: Line) -> list[Cell]:
    """The cells of a heading row with the words that a first heading line has over them."""
    cells: list[Cell] = []
    for rank, cell in enumerate(line.cells):
        if line.tabbed and upper:
            over = [other for other in upper if other.index <= cell.index]
            words = [over[-1].text] if over and len(upper) < len(line.cells) else []
        else:
            words = [other.text for other in upper if overlap(other, cell)]
        until = cell.until
        if not line.tabbed and rank + 1 < len(line.cells) and not below.tabbed:
            until = max(until, min(until + 2, line.cells[rank + 1].column - 1))
        cells.append(Cell(cell.start, cell.end, cell.column, until, cell.index, " ".join([*words, cell.text])))
    return cells


def _separated(raw_lines: list[str]) -> tuple[dict[int, str], set[int]]:
    """The lines that are separated values, with their separator; and those beside them that hold label and value.

    A single line cannot tell: prose has commas too. Rows show themselves by having the same count of separators several
    lines on end, without blanks behind them and not only inside numbers; the lines next to them may have fewer.
    """
    marks: dict[int, str] = {}
    pairs: set[int] = set()
    bare = [_QUOTED.sub("", raw) if '"' in raw else raw for raw in raw_lines]
    for mark, pattern in _MARKS:
        counts = [
            0 if mark not in raw or number in marks or _ALIGNED.search(raw) else len(pattern.findall(raw))
            for number, raw in enumerate(bare)
        ]
        first = 0
        for number in range(1, len(counts) + 1):
            if number < len(counts) and counts[number] == counts[first]:
                continue
            run = range(first, number)
            first = number
            if len(run) < _STEADY or counts[run[0]] < 1:
                continue
            if all(counts[line] == len(_IN_NUMBER[mark].findall(bare[line])) for line in run):
                continue  # figures with their thousands, below each other
            if counts[run[0]] == 1 and not all(_is_pair(bare[line], mark) for line in run):
                continue
            marks.update(dict.fromkeys(run, mark))
            pairs.update(run if counts[run[0]] == 1 else ())
            for beside in (range(run[0] - 1, -1, -1), range(number, len(counts))):
                for line in beside:
                    if counts[line] != 1:
                        break
                    marks[line] = mark
                    pairs.add(line)
    return marks, pairs


def _is_pair(raw: str, mark: str) -> bool:
    """Whether a line is a few words and a value with a separator between: `Total amount,1250.50`."""
    label, _, value = raw.partition(mark)
    return bool(_LETTER.match(label)) and len(label.split()) <= 6 and bool(value.strip()) and len(value) < 60


def _pieces(raw: str, mark: str) -> list[tuple[int, int]]:
    """Where the cells of a separated line stand, without the quotes around them."""
    found: list[tuple[int, int]] = []
    position, quoted = 0, False
    for index, char in enumerate(raw):
        if char == '"':
            quoted = not quoted
        elif char == mark and not quoted:
            found.append((position, index))
            position = index + 1
    found.append((position, len(raw)))
    return [
        (low + 1, high - 1) if high - low >= 2 and raw[low] == raw[high - 1] == '"' else (low, high)
        for low, high in found
    ]


def _lines(raw_lines: list[str], marks: dict[int, str]) -> list[Line]:
    lines: list[Line] = []
    start = 0
    for number, raw in enumerate(raw_lines):
        mark, text, tabbed = marks.get(number), raw.strip(), "\t" in raw
        kind = "blank" if not text else "rule" if _RULE.fullmatch(raw) else "text"
        places: list[tuple[int, int]] = []
        if kind == "text" and mark is None and not tabbed and not _DIVIDES.search(text):
            places = [(0, 0), (0, len(raw))][not raw.startswith("  ") :]  # nothing stands before a gap
        elif kind == "text":
            pipes = sum(map(raw.count, "|│┃║")) if mark is None else 0
            piped = pipes >= 2 or (pipes == 1 and bool(re.search(r"\S [|│] \S", raw)))
            places = _pieces(raw, mark) if mark is not None else _between_gaps(raw, piped)
            tabbed = tabbed or piped or mark is not None
        lines.append(Line(start, start + len(raw), _cells(raw, start, places, tabbed), kind, tabbed))
        start += len(raw) + 1
    return lines


def _cells(raw: str, start: int, places: list[tuple[int, int]], by_rank: bool) -> list[Cell]:
    cells: list[Cell] = []
    for index, (first, last) in enumerate(places):
        text = raw[first:last].strip()
        if text:
            low = raw.index(text, first)
            high = low + len(text)
            column, until = (index * 20, index * 20 + 10) if by_rank else (low, high)
            cells.append(Cell(start + low, start + high, column, until, index, text))
    return cells


def _between_gaps(raw: str, piped: bool) -> list[tuple[int, int]]:
    """Where the cells of a line stand that wide gaps, tabs or drawn lines divide."""
    places: list[tuple[int, int]] = []
    position = 0
    for gap in (_PIPE if piped else _SEPARATOR).finditer(raw):
        places.append((position, gap.start()))
        if not piped and gap.group().count("\t") > 1:
            places.extend([(gap.end(), gap.end())] * (gap.group().count("\t") - 1))
        position = gap.end()
    places.append((position, len(raw)))
    return places[1:] if piped and places[0][0] == places[0][1] else places
