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


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line = ""
        self._hidden: list[str] = []
        self._preformatted = 0
        self._row: list[int] = []  # per open row, how many columns its last cell takes; 0 before the first

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
            self._cell(given.get("colspan") or "1")
        elif tag == "br":
            self._line_end()
        elif tag == "input" and (given.get("type") or "").lower() in ("checkbox", "radio"):
            self._line = self._line.rstrip(" ") + (" [x] " if "checked" in given else " [ ] ")
        elif tag in _BLOCKS and not (self._row and tag in ("p", "div")):
            self.break_line(blank=tag in _SPACED and not self._row)
            if tag == "li":
                self._line = "- "
            elif tag == "tr":
                self._row.append(0)
            elif tag == "pre":
                self._preformatted += 1
        elif tag in _BLOCKS:
            self._line += " "

    def _line_end(self) -> None:
        if self._row:
            self._line += " "  # a row stays on one line, so that its cells can be told apart
        else:
            self.break_line()

    def _cell(self, colspan: str) -> None:
        if not self._row:
            self._row.append(0)
        self._line = self._line.rstrip(" ") + "\t" * self._row[-1]
        self._row[-1] = int(colspan) if colspan.isdecimal() and 0 < int(colspan) < 64 else 1

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


def html_text(markup: str) -> str:
    """The visible text of a page; markup that is not well formed is read as browsers do, never refused."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    reader.break_line()
    return "\n".join(reader.lines).strip("\n")
