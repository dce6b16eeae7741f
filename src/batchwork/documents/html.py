"""HTML -> text as a reader sees it: blocks on lines of their own, cells of a table row apart by a tab."""

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption center dd div dl dt fieldset figcaption figure footer "
        "form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary details table tbody "
        "tfoot thead title tr ul",
    )
)
_HIDDEN = frozenset(
    re.findall(
        r"\w+",
        "script style noscript template head svg math select object iframe",
    )
)
_SPACED = frozenset(
    re.findall(
        r"\w+",
        "p h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre section article form fieldset",
    )
)
_SPACE = re.compile(r"[ \t\n\r\f]+")


class _Grid:
    """The columns of a table, so that a cell stands where a browser puts it, also below one that takes several rows."""

    def __init__(self) -> None:
        self._held: dict[int, int] = {}  # columns that a cell of an earlier row takes, and for how many rows from here
        self._coming: dict[int, int] = {}
        self._column = self._written = 0

    def start_row(self) -> None:
        held = {**self._held, **self._coming}
        self._held = {column: rows - 1 for column, rows in held.items() if rows > 1}
        self._coming = {}
        self._column = self._written = 0

    def place(self, columns: int, rows: int) -> int:
        """Take the next free columns; how many columns further than the last cell that is."""
        while self._column in self._held:
            self._column += 1
        moved, self._written = self._column - self._written, self._column
        if rows > 1:
            self._coming.update(dict.fromkeys(range(self._column, self._column + columns), rows))
        self._column += columns
        return moved


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line = ""
        self._hidden: list[str] = []
        self._preformatted = 0
        self._tables: list[_Grid] = []
        self._row: list[_Grid] = []  # the tables of the open rows

    def break_line(self, *, blank: bool = False) -> None:
        text = self._line.rstrip(" ") if self._preformatted else self._line.strip(" ")
        if text.strip():
            self.lines.append(text)
        if blank and self.lines and self.lines[-1]:
            self.lines.append("")
        self._line = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden.append(tag)
        if self._hidden:
            return
        given = dict(attrs)
        if tag in ("td", "th"):
            self._cell(_span(given.get("colspan"), 64), _span(given.get("rowspan"), 1_000))
        elif tag == "br":
            self._line_end()
        elif tag == "input" and (given.get("type") or "").lower() in ("checkbox", "radio"):
            self._line = self._line.rstrip(" ") + (" [x] " if "checked" in given else " [ ] ")
        elif tag in _BLOCKS and not (self._row and tag in ("p", "div")):
            self.break_line(blank=tag in _SPACED and not self._row)
            if tag == "li":
                self._line = "- "
            elif tag == "table":
                self._tables.append(_Grid())
            elif tag == "tr":
                self._start_row()
            elif tag == "pre":
                self._preformatted += 1
        elif tag in _BLOCKS:
            self._line += " "

    def _line_end(self) -> None:
        if self._row:
            self._line += " "  # a row stays on one line, so that its cells can be told apart
        else:
            self.break_line()

    def _start_row(self) -> None:
        self._row.append(self._tables[-1] if self._tables else _Grid())
        self._row[-1].start_row()

    def _cell(self, columns: int, rows: int) -> None:
        if not self._row:
            self._start_row()
        self._line = self._line.rstrip(" ") + "\t" * self._row[-1].place(columns, rows)

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag in self._hidden:
                while self._hidden.pop() != tag:
                    pass
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

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._preformatted and not self._row:
            first, *rest = data.split("\n")
            self._line += first
            for line in rest:
                self.break_line()
                self._line = line
            return
        text = _SPACE.sub(" ", data)
        if not self._line or self._line.endswith((" ", "\t")):
            text = text.lstrip(" ")
        self._line += text


def _span(given: str | None, most: int) -> int:
    return int(given) if given and given.isdecimal() and 0 < int(given) < most else 1


def html_text(markup: str) -> str:
    """The visible text of a page; markup that is not well formed is read as browsers do, never refused."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    reader.break_line()
    return "\n".join(reader.lines).strip("\n")
