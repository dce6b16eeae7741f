"""Columns: the heading above a cell, the label over or under it, and which lines hold labels alone."""

import re
from dataclasses import replace
from itertools import islice, takewhile

from batchwork.evidence.page.labels import ASIDE, BAND, Label, is_year, label_of, unnumbered
from batchwork.evidence.page.layout import Cell, Layout, Line, overlap
from batchwork.evidence.vocabulary.words import concepts, is_capitalised, is_known, looks_like_name

# A cell that says something is no mere label; "etc.", "incl." and "No." end no sentence.
_SAYS = re.compile(r":\s*\S|\d{2}|[!;,]$|\w{5}\.$")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CAPTION = re.compile(r"[^\d,]{1,45}")
_ENOUGH_ROWS = 8
_GAP = 4  # lines between a row of headings and the first row below them
_BETWEEN = 3  # lines up to a label in its own column
_LONGEST = 45


class Columns:
    """Answers what stands above and below a cell; `values` are the lines with numbers or dates."""

    def __init__(self, layout: Layout, values: set[int]) -> None:
        self._layout = layout
        self._values = values
        self._labels: dict[int, Label] = {}  # by where the heading starts
        self._heads: dict[int, tuple[int, list[Cell]]] = {}  # by the first line of their table
        self._inner: dict[int, list[Cell]] = {}  # by the line of a row
        self._groups: dict[int, Cell | None] = {}  # by the line of a row

    def head_row(self, number: int) -> list[Cell]:
        """The heading cells of the table in which a line stands; empty when it has none."""
        first = self._layout.tables[number]
        if first < 0:
            return []
        known = self._heads.get(first)
        if known is None:
            known = self._heads[first] = self._find_head(first)
        line, cells = known
        if not cells or line >= number:
            return []
        return self._inner_head(number, line) or cells

    def _inner_head(self, number: int, first: int) -> list[Cell]:
        """The headings of a table right under another one: a row of labels of another shape than the first headings."""
        if number not in self._inner:
            self._inner[number] = self._find_inner_head(number, first)
        return self._inner[number]

    def _find_inner_head(self, number: int, first: int) -> list[Cell]:
        lines = self._layout.lines
        here, above = lines[number].cells, lines[number - 1].cells
        if number - 1 <= first or not 2 < len(here) == len(above):
            return []
        if number - 1 in self._inner and self._inner[number - 1]:
            return self._inner[number - 1]
        known = sum(1 for cell in above if _is_known_label(cell) or BAND.fullmatch(cell.text))
        heads = all(map(_can_head, above)) and 2 * known >= len(above) and all(map(overlap, here, above))
        return above if heads and len(above) != len(lines[first].cells) else []

    def head_line(self, number: int) -> int:
        """The line of the headings over a line of a table; -1 when it has none."""
        head = self.head_row(number)
        return self._layout.line_of(head[0].start) if head else -1

    def _find_head(self, first: int) -> tuple[int, list[Cell]]:
        """The heading row of the table that starts at a line: the fullest row of labels before rules and values."""
        rows: list[int] = []
        for number in range(first, len(self._layout.lines)):
            line = self._layout.lines[number]
            if self._layout.tables[number] != first or (line.kind == "rule" and rows):
                break
            if len(line.cells) < 2:
                continue
            if not all(_can_head(cell) for cell in line.cells):
                break
            rows.append(number)
            if len(rows) > 3:
                rows = rows[:1]  # a table of words: the first row heads the others
                break
        if not rows:
            return self._head_over_gap(first)
        head = max(rows, key=lambda number: (len(self._layout.lines[number].cells), -number))
        cells = self._layout.lines[head].cells
        ruled = head + 1 < len(self._layout.lines) and self._layout.lines[head + 1].kind == "rule"
        if not ruled and self._is_form(first, head):
            return -1, []
        if head + 1 in rows:
            divided = _divided(cells, self._layout.lines[head + 1])
            if divided:
                return head + 1, divided
        return head, list(cells)

    def _head_over_gap(self, first: int) -> tuple[int, list[Cell]]:
        """A row of years, or of labels, that blank lines and the name of the first group part from its table."""
        lines = self._layout.lines
        above = first - 1
        while above >= 0 and first - above <= _GAP and len(lines[above].cells) < 2:
            above -= 1
        if above < 0 or len(lines[above].cells) < 2 or not all(map(_can_head, lines[above].cells)):
            return -1, []
        over = [cell for cell in lines[above].cells if any(overlap(cell, figure) for figure in self._figures(first))]
        return (above, list(lines[above].cells)) if len(over) > 1 else (-1, [])

    def _figures(self, first: int) -> list[Cell]:
        """The cells of the first rows of a table that are no labels."""
        rows = takewhile(lambda n: self._layout.tables[n] == first, range(first, len(self._layout.lines)))
        return [cell for n in islice(rows, _ENOUGH_ROWS) for cell in self._layout.lines[n].cells if not cell.is_label]

    def group_of(self, number: int) -> Cell | None:
        """The name of the group of rows in which a row of a table stands: a line with words alone above it."""
        if number not in self._groups:
            self._groups[number] = self._find_group(number) if self._layout.tables[number] >= 0 else None
        return self._groups[number]

    def _find_group(self, number: int) -> Cell | None:
        first = self._layout.tables[number]
        head = self.head_row(number)
        for above in range(number - 1, self.head_line(number) if head else number, -1):
            line = self._layout.lines[above]
            if len(line.cells) == 1 and not line.tabbed and line.cells[0].is_label:
                return line.cells[0] if line.cells[0].column <= head[0].column else None
            if above in self._groups and self._layout.tables[above] == first:
                return self._groups[above]
            if line.kind == "blank" and self._layout.tables[above] != first and above > first:
                return None
        return None

    def _is_form(self, first: int, head: int) -> bool:
        """Whether a table is pairs of labels and values that happen to start with a line of words."""
        cells = self._layout.lines[head].cells
        if len(cells) == 2:
            return not _is_known_label(cells[1])
        if len(cells) % 2:
            return False
        below = range(head + 1, len(self._layout.lines))
        rows = [self._layout.lines[n].cells for n in takewhile(lambda n: self._layout.tables[n] == first, below)]
        rows = [row for row in rows if len(row) == len(cells)][:_ENOUGH_ROWS]
        labelled = sum(1 for row in rows if all(map(_is_known_label, row[::2])))
        return bool(rows) and 2 * labelled >= len(rows)

    def is_heading(self, cell: Cell) -> bool:
        """Whether a cell with words stands right above a value in its column, as labels in forms do."""
        number = self._layout.line_of(cell.start)
        lines = self._layout.lines
        if number + 1 >= len(lines) or len(lines[number].cells) < 2 or not self._is_label_line(number):
            return False
        return any(overlap(cell, other) and not other.is_label for other in lines[number + 1].cells) or (
            number + 1 in self._values and len(lines[number + 1].cells) >= len(lines[number].cells)
        )

    def _is_summary(self, number: int, head: list[Cell]) -> bool:
        """Whether a line below a table is a label with one value, such as a total, and no row of the table."""
        cells = self._layout.lines[number].cells
        return len(head) > 2 and len(cells) == 2 and cells[0].is_label and cells[0].column > head[0].until

    def is_beside_its_like(self, number: int, cell: Cell) -> bool:
        """Whether what stands left of some words is no label but the same thing of another column."""
        lefts = [other for other in self._layout.lines[number].cells if other.until <= cell.column]
        if not lefts or lefts[-1].text.endswith(":"):
            return False
        return self._goes_on(number, lefts[-1], cell) or self.above(number, lefts[-1], has_inline=False) is not None

    def _goes_on(self, number: int, left: Cell, cell: Cell) -> bool:
        """Whether both cells are lines of blocks side by side, as two addresses are."""
        over = {other.column for other in self._layout.lines[number - 1].cells} if number else set()
        return any(map(str.isdigit, left.text)) and {left.column, cell.column} <= over

    def captions_below(self, number: int) -> bool:
        """Whether the next line holds a label under each cell of this one, and nothing else stands around."""
        lines = self._layout.lines
        if number + 1 >= len(lines) or not lines[number].cells or not self._is_label_line(number + 1):
            return False
        alone = (number == 0 or lines[number - 1].kind != "text") and (
            number + 2 >= len(lines) or lines[number + 2].kind != "text"
        )
        here, below = lines[number].cells, lines[number + 1].cells
        return alone and len(here) == len(below) and all(map(overlap, here, below)) and self._is_said(number)

    def _is_said(self, number: int) -> bool:
        """Whether a line holds names or values rather than labels: every word with a capital, or a figure."""
        words = [word for cell in self._layout.lines[number].cells for word in cell.text.split()]
        return all(word[:1].isupper() or any(map(str.isdigit, word)) for word in words)

    def over_rule(self, number: int) -> bool:
        """Whether the place stands on a line to be filled in, with its label underneath."""
        lines = self._layout.lines
        return (
            number + 1 < len(lines)
            and lines[number + 1].kind == "rule"
            and "_" in self._layout.text[lines[number + 1].start : lines[number + 1].end]
        )

    def above(self, number: int, cell: Cell, has_inline: bool) -> Label | None:
        """The heading of the column, or the label that stands right above."""
        head = self.head_row(number)
        owner = column_of(head, cell) if head else None
        if owner is not None and not self._has_own_labels(number):
            return None if self._is_summary(number, head) else self._head_label(head, owner)
        return None if has_inline else self._label_over(number, cell)

    def _label_over(self, number: int, cell: Cell) -> Label | None:
        """The label right above a cell; lines of another column may lie between."""
        lines = self._layout.lines
        for above in range(number - 1, max(-1, number - 1 - _BETWEEN), -1):
            if lines[above].kind == "blank":
                return None
            over = [other for other in lines[above].cells if overlap(other, cell) or other.column == cell.column]
            if over or (lines[above].kind == "text" and not cell.column):
                return self._over(above, over[0], cell) if over else None
        return None

    def _over(self, above: int, other: Cell, cell: Cell) -> Label | None:
        in_line = other.text.endswith(":") or self._is_label_line(above)
        beside = other.column == cell.column > 0 and _is_known_label(other) and _says_nothing(other.text)
        beside = beside and not other.text[0].isdigit()  # the value of another row, with its unit
        if ", " in other.text and _is_told(other.text):
            return None
        if not (in_line or beside) or not other.is_label or len(other.text) > _LONGEST or looks_like_name(other.text):
            return None
        return label_of("above" if other.text.endswith(":") else "over", other.text, 0.9)

    def _has_own_labels(self, number: int) -> bool:
        """Whether the line right above is a row of numbered labels, as in the boxes of a form."""
        cells = self._layout.lines[number - 1].cells if number else []
        return (
            len(cells) > 1
            and all(unnumbered(cell.text) != cell.text for cell in cells)
            and self._is_label_line(number - 1)
        )

    def _is_label_line(self, number: int) -> bool:
        """Whether a line holds labels for the next one rather than values or a sentence of its own."""
        cells = self._layout.lines[number].cells
        texts = [unnumbered(cell.text) if len(cells) > 1 else cell.text for cell in cells if cell.is_label]
        return len(texts) == len(cells) and all(map(_says_nothing, texts))

    def _head_label(self, head: list[Cell], owner: int) -> Label:
        known = self._labels.get(head[owner].start)
        if known is None:
            known = self._labels[head[owner].start] = self._find_head_label(head, owner)
        return known

    def _find_head_label(self, head: list[Cell], owner: int) -> Label:
        text = head[owner].text
        line = self._layout.line_of(head[owner].start)
        if line > 0 and self._layout.tables[line - 1] == self._layout.tables[line]:
            upper = [
                cell for cell in self._layout.lines[line - 1].cells if cell.is_label and overlap(cell, head[owner])
            ]
            text = " ".join([*(cell.text for cell in upper), text])  # a heading in two lines
        label = label_of("above", text, 0.95)
        dated = dict(label.weights)
        told = _YEAR.findall(head[owner].text)
        years = sorted({year for cell in head for year in _YEAR.findall(cell.text)}, reverse=True)
        if len(years) > 1 and len(told) == 1:
            age = years.index(told[0])
            dated["previous" if age else "current"] = 0.8 if age < 2 else 0.3  # the years before are not "the" previous
            dated["year"] = 0.8
        return replace(label, weights=dated)

    def below(self, number: int, cell: Cell) -> Label | None:
        """The label that stands right below, as under a signature."""
        lines = self._layout.lines
        below = number + 1
        if below < len(lines) and lines[below].kind == "rule":
            below += 1
        titled = not any(line.cells for line in lines[:number])  # under a title stands no caption
        if titled or below >= len(lines) or not self._is_label_line(below) or self._is_address(below + 1):
            return None
        for other in lines[below].cells:
            if (overlap(other, cell) or other.column == cell.column) and _CAPTION.fullmatch(other.text):
                return label_of("below", other.text, 0.75)
        return None

    def _is_address(self, number: int) -> bool:
        """Whether a line goes on with a street or a place: then what stands above it is no caption."""
        lines = self._layout.lines
        cells = lines[number].cells if number < len(lines) else []
        return len(cells) == 1 and not cells[0].text.endswith(":") and bool(re.search(r"\d", cells[0].text))


def column_of(head: list[Cell], cell: Cell) -> int | None:
    """Which heading cell a cell belongs to: the one it overlaps most, else the nearest one."""
    best, most = None, -6
    for index, other in enumerate(head):
        shared = min(other.until, cell.until) - max(other.column, cell.column)
        if shared > most:
            best, most = index, shared
    return best


def _divided(head: list[Cell], line: Line) -> list[Cell]:
    """The columns of a heading row with a second one that divides its wide cells; empty when it does not."""
    if not line.tabbed or not line.cells:
        return []
    ends = [*(after.index for after in head[1:]), line.cells[-1].index + 1]
    wide = [(cell, end) for cell, end in zip(head, ends, strict=True) if end > cell.index + 1]
    columns = [cell for cell in head if not any(cell is over for over, _ in wide)]
    for cell in line.cells:
        over = next((over for over, end in wide if over.index <= cell.index < end), None)
        if over is None:
            return []
        columns.append(replace(cell, text=f"{over.text} {cell.text}"))
    return sorted(columns, key=lambda cell: cell.index)


def _says_nothing(text: str) -> bool:
    return len(text.split()) <= 6 and not _SAYS.search(text)


def _is_told(text: str) -> bool:
    """Whether these are names side by side ("Clerk, Northgate Press") rather than a label."""
    said = concepts(text)
    return is_capitalised(text) and 2 * sum(map(is_known, said)) < len(said)


def _is_known_label(cell: Cell) -> bool:
    return cell.is_label and any(map(is_known, concepts(cell.text)))


def _can_head(cell: Cell) -> bool:
    """Whether a cell can be the heading of a column: words or a year, no value of its own and no colon."""
    if is_year(cell.text) or BAND.fullmatch(cell.text):
        return True
    said = ASIDE.sub("", cell.text)
    figures = [digits for digits in re.findall(r"\d{2,}", said) if not is_year(digits)]
    return cell.is_label and not figures and not cell.text.endswith(":") and ": " not in cell.text
