"""HTML -> text as a reader sees it: blocks on lines of their own, cells of a table row apart by a tab."""

import re
from collections import Counter

from batchwork.documents.document import DocumentLimits
from batchwork.documents.html_tokens import End, Start, small_number, tokens

_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption center dd div dl dt fieldset figcaption figure footer "
        "form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary details table tbody "
        "tfoot thead title tr ul",
    )
)
_SPACED = frozenset(
    re.findall(r"\w+", "p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre section article form fieldset")
)
_HIDDEN = frozenset(re.findall(r"\w+", "script style noscript template head svg math select object iframe"))
_SPACE = re.compile(r"[ \t\n\r\f]+")
_WIDEST = 1_000  # columns of a table that a cell may hold for the rows below


class _Grid:
    """The columns of a table, so that a cell stands where a browser puts it, also below one that takes several rows."""

    def __init__(self) -> None:
        self._free_from: dict[int, int] = {}  # the row from which a column is free again
        self._row = self._column = self._written = 0

    def start_row(self) -> None:
        self._row += 1
        self._column = self._written = 0

    def place(self, columns: int, rows: int) -> int:
        """Take the next free columns; how many columns further than the last cell that is."""
        while self._free_from.get(self._column, 0) > self._row:
            self._column += 1
        moved, self._written = self._column - self._written, self._column
        if rows > 1:
            for column in range(self._column, min(self._column + columns, _WIDEST)):
                self._free_from[column] = self._row + rows
        self._column += columns
        return moved


class _Writer:
    """Writes the lines of a page while its tags and texts come."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.lines: list[str] = []
        self._line: list[str] = []  # the pieces of the line that is being written
        self._hidden: list[str] = []
        self._hidden_count: Counter[str] = Counter()
        self._preformatted = 0
        self._tables: list[_Grid] = []
        self._row: list[_Grid] = []  # the tables of the open rows
        self._size, self._limits = 0, limits

    def break_line(self, *, blank: bool = False) -> None:
        text = "".join(self._line)
        self._line = []
        text = text.rstrip(" ") if self._preformatted else text.strip(" ")
        if text.strip():
            self.lines.append(text)
        if blank and self.lines and self.lines[-1]:
            self.lines.append("")

    def start(self, tag: str, given: dict[str, str]) -> None:
        if tag in _HIDDEN:
            self._hidden.append(tag)
            self._hidden_count[tag] += 1
        if self._hidden:
            return
        if tag in ("td", "th"):
            self._cell(small_number(given.get("colspan"), 64), small_number(given.get("rowspan"), 1_000))
        elif tag == "br" and not self._row:
            self.break_line()
        elif tag == "input" and given.get("type", "").lower() in ("checkbox", "radio"):
            self._strip_end()
            self._add(" [x] " if "checked" in given else " [ ] ")
        elif tag in _BLOCKS and not (self._row and tag in ("p", "div")):
            self.break_line(blank=tag in _SPACED and not self._row)
            if tag == "li":
                self._add("- ")
            elif tag == "table":
                self._tables.append(_Grid())
            elif tag == "tr":
                self._start_row()
            elif tag == "pre":
                self._preformatted += 1
        elif tag in _BLOCKS or tag == "br":
            self._add(" ")  # a row stays on one line, so that its cells can be told apart

    def _start_row(self) -> None:
        self._row.append(self._tables[-1] if self._tables else _Grid())
        self._row[-1].start_row()

    def _cell(self, columns: int, rows: int) -> None:
        if not self._row:
            self._start_row()
        self._strip_end()
        self._add("\t" * self._row[-1].place(columns, rows))

    def end(self, tag: str) -> None:
        if self._hidden:
            if self._hidden_count[tag]:
                last = None
                while last != tag:
                    last = self._hidden.pop()
                    self._hidden_count[last] -= 1
            return
        if tag == "tr" and self._row:
            self._row.pop()
            self.break_line()
        elif tag in _BLOCKS and not self._row:
            self.break_line(blank=tag in _SPACED)
            if tag == "pre":
                self._preformatted = max(0, self._preformatted - 1)
        if tag == "table" and self._tables:
            self._tables.pop()

    def text(self, data: str) -> None:
        if self._hidden:
            return
        if self._preformatted and not self._row:
            first, *rest = data.split("\n")
            self._add(first)
            for line in rest:
                self.break_line()
                self._add(line)
            return
        text = _SPACE.sub(" ", data)
        shows_space = self._line and self._line[-1][-1] not in " \t"
        self._add(text if shows_space else text.lstrip(" "))

    def _add(self, text: str) -> None:
        self._size += len(text)
        self._limits.check_length(self._size)
        if text:
            self._line.append(text)

    def _strip_end(self) -> None:
        """Take the spaces at the end of the line away."""
        while self._line:
            self._line[-1] = self._line[-1].rstrip(" ")
            if self._line[-1]:
                return
            self._line.pop()


def html_text(markup: str, limits: DocumentLimits) -> str:
    """The visible text of a page; markup that is not well formed is read as browsers do, never refused."""
    writer = _Writer(limits)
    for token in tokens(markup):
        if isinstance(token, str):
            writer.text(token)
        elif isinstance(token, Start):
            writer.start(token.name, token.attributes)
            if token.closed:
                writer.end(token.name)
        elif isinstance(token, End):
            writer.end(token.name)
    writer.break_line()
    return "\n".join(writer.lines).strip("\n")
