"""Man pages as plain text, in a simple way of our own that needs no formatter and gives the same text everywhere.

Headings stand on lines of their own, paragraphs are filled to 78 columns, tags stand above their indented text, and
examples keep their lines. Fonts, sizes and conditions vanish. It reads the `man` macros, not those of `mdoc`.
"""

import re
import textwrap
from dataclasses import dataclass, field

_WIDTH, _INDENT = 78, "       "
_FONT = re.compile(r"\\f(?:\[[^\]]*\]|\(..|.)|\\s[+-]?\d+|\\m\[[^\]]*\]|\\[&|^/,%:]|\\c$")
_CHARACTER = re.compile(r"\\\((..)|\\\[([^\]]+)\]|\\\*\((..)|\\\*\[([^\]]+)\]|\\\*(.)|\\(.)")
_NAMED = dict(
    pair.split(" ", 1)
    for pair in """Aq '|aq '|dq "|co (c)|em --|en -|bu *|lq "|rq "|oq '|cq '|rs \\|ti ~|ha ^|ga `|la <|ra >|mi -|hy -
        pl +|mu x|<= <=|>= >=|R (R)|Tm (TM)|lB [|rB ]|rg (R)|at @|sh #|Do $|u: ü|o: ö|a: ä|'e é|`e è|/o ø""".replace(
        "\n        ", "|"
    ).split("|")
)
_PLAIN = {"-": "-", " ": " ", "~": " ", "e": "\\", "\\": "\\", "'": "'", "`": "`", ".": ".", "0": " ", '"': '"'}
_WORDS = re.compile(r'"((?:[^"]|"")*)"?|((?:\\ |\S)+)')
_INLINE = {"B", "I", "R", "SM", "SB", "BR", "RB", "IR", "RI", "BI", "IB", "MR", "UR", "MT", "CW"}


@dataclass(slots=True)
class _Page:
    """The page so far: finished lines, the paragraph in hand, and how it is set."""

    lines: list[str] = field(default_factory=list)
    paragraph: list[str] = field(default_factory=list)
    filled: bool = True
    indent: str = ""
    tag_comes: bool = False

    def flush(self, *, blank: bool = False) -> None:
        if self.paragraph:
            text = " ".join(" ".join(self.paragraph).split())
            self.lines += textwrap.wrap(
                text, _WIDTH, initial_indent=self.indent, subsequent_indent=self.indent, break_on_hyphens=False
            )
            self.paragraph = []
        if blank:
            self.lines.append("")

    def add(self, words: str) -> None:
        if self.tag_comes:
            self.lines.append(words)
            self.tag_comes, self.indent = False, _INDENT
        elif not self.filled:
            self.lines.append(self.indent + words)
        elif words.strip():
            if words[0] == " ":
                self.flush()
            self.paragraph.append(words)
        else:
            self.flush(blank=True)


def plain_text(source: str) -> str:
    """The page without its macros."""
    page, ending = _Page(), ""
    for line in source.split("\n"):
        if ending:
            ending = "" if line.startswith(ending) else ending
        elif line[:1] not in (".", "'"):
            if not line.startswith('\\"'):
                page.add(_characters(line))
        elif (request := line[1:].strip()) and not request.startswith(('\\"', "#")):
            name, _, rest = request.partition(" ")
            if name in ("de", "ig", "am"):
                ending = ".." if name == "ig" or len(rest.split()) < 2 else "." + rest.split()[1]
            else:
                _macro(page, name, rest)
    page.flush()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in page.lines)).strip() + "\n"


def _macro(page: _Page, name: str, rest: str) -> None:
    """What one request does to the page; an unknown one does nothing."""
    words = [_characters(match[1] if match[2] is None else match[2]) for match in _WORDS.finditer(rest)]
    if name in _INLINE:
        if words:
            page.add(("" if len(name) == 2 and name != "SM" else " ").join(words))
    elif name == "TH":
        page.lines.append("  ".join(word for word in words if word))
    elif name in ("SH", "SS"):
        page.flush(blank=True)
        page.lines.append(" ".join(words))
        page.indent, page.tag_comes, page.filled = "", False, True
    elif name in ("PP", "LP", "P", "TP", "TQ", "HP", "IP"):
        page.flush(blank=name != "TQ")
        page.indent, page.tag_comes = "", name in ("TP", "TQ")
        if name == "IP":
            page.lines += [words[0]] if words and words[0] else []
            page.indent = _INDENT
    elif name in ("sp", "br", "nf", "fi", "EX", "EE", "RS", "RE"):
        page.flush(blank=name == "sp")
        page.filled = {"nf": False, "EX": False, "fi": True, "EE": True}.get(name, page.filled)


def _characters(text: str) -> str:
    """A line without fonts, and with the characters that escapes name."""

    def one(match: re.Match[str]) -> str:
        named = match[1] or match[2] or match[3] or match[4]
        if named:
            return _NAMED.get(named, chr(int(named[1:], 16)) if re.fullmatch(r"u[0-9A-F]{4,6}", named) else "")
        return _PLAIN.get(match[6] or "", "")

    return _CHARACTER.sub(one, _FONT.sub("", re.sub(r'\\".*$', "", text)))
