"""A labelled document in the making: text with marks, rendered as text, HTML, DOCX or PDF.

A mark is written `⟦key|words⟧` in the source; it vanishes from the document, and its place becomes the label. HTML and
DOCX are extracted once with and once without marks; PDFs are searched for the strings that were drawn.
"""

import io
import re
import unicodedata
import zipfile
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from batchwork.documents import Document, read_document, text_document
from examples.pdf_writer import Page, pdf_bytes, text_width

_MARK = re.compile(r"⟦(?P<key>[^|⟧]*)\|(?P<words>[^⟧]*)⟧", re.DOTALL)
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The truth about one field. `accepted` are spans that are right; empty means that nothing may be cited."""

    path: str
    value: Any
    accepted: Spans
    traps: tuple[str, ...]
    elsewhere: bool  # the value also stands in another role
    inside: bool  # a phrase: any part of the accepted span will do


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One labelled document."""

    name: str
    layout: str
    held_out: bool
    document: Document
    value: Any
    schema: dict[str, Any] | None
    labels: tuple[Label, ...]


@dataclass(slots=True)
class _Wanted:
    path: str
    value: Any
    keys: tuple[str, ...]
    traps: tuple[str, ...]
    elsewhere: bool
    inside: bool


@dataclass(slots=True)
class Draft:
    """Collects the fields while a layout writes its text."""

    wanted: list[_Wanted] = field(default_factory=list)
    schema: dict[str, Any] | None = None

    def says(
        self, path: str, value: Any, *keys: str, traps: str = "", elsewhere: bool = False, inside: bool = False
    ) -> None:
        """The field stands at these marks, any of which is right."""
        assert keys, path
        self.wanted.append(_Wanted(path, value, keys, tuple(traps.split()), elsewhere, inside))

    def empty(self, path: str, value: Any, traps: str) -> None:
        """Nothing may be cited for this field."""
        self.wanted.append(_Wanted(path, value, (), tuple(traps.split()), False, False))


def plain(source: str) -> tuple[str, dict[str, list[tuple[int, int]]]]:
    """The text without its marks, and where they were."""
    pieces: list[str] = []
    places: dict[str, list[tuple[int, int]]] = {}
    at = position = 0
    for found in _MARK.finditer(source):
        pieces.append(source[position : found.start()])
        at += found.start() - position
        words = found["words"]
        places.setdefault(found["key"], []).append((at, at + len(words)))
        pieces.append(words)
        at += len(words)
        position = found.end()
    pieces.append(source[position:])
    return "".join(pieces), places


def bare(source: str) -> str:
    return plain(source)[0]


def nested(pairs: list[tuple[str, Any]]) -> Any:
    """A result out of paths: `items[0].price` becomes a list of dicts."""
    root: dict[str, Any] = {}
    for path, value in pairs:
        parts: list[str | int] = [int(p[1:-1]) if p[0] == "[" else p for p in re.findall(r"[^.\[\]]+|\[\d+\]", path)]
        here: Any = root
        for part, following in pairwise(parts):
            new: Any = [] if isinstance(following, int) else {}
            if isinstance(part, int):
                while len(here) <= part:
                    here.append(type(new)())
                here = here[part]
            else:
                here = here.setdefault(part, new)
        last = parts[-1]
        if isinstance(last, int):
            here.append(value)
        else:
            here[last] = value
    return root


def finish(
    draft: Draft, name: str, layout: str, held_out: bool, document: Document, places: dict[str, list[tuple[int, int]]]
) -> Sample:
    labels = []
    for want in draft.wanted:
        accepted = tuple(span for key in want.keys for span in places[key])
        labels.append(
            Label(
                path=want.path,
                value=want.value,
                accepted=accepted,
                traps=want.traps,
                elsewhere=want.elsewhere,
                inside=want.inside,
            )
        )
    value = nested([(want.path, want.value) for want in draft.wanted])
    return Sample(
        name=name,
        layout=layout,
        held_out=held_out,
        document=document,
        value=value,
        schema=draft.schema,
        labels=tuple(labels),
    )


def as_text(source: str) -> tuple[Document, dict[str, list[tuple[int, int]]]]:
    text, places = plain(source)
    return text_document(text), places


def as_html(source: str) -> tuple[Document, dict[str, list[tuple[int, int]]]]:
    document = read_document(bare(source).encode())
    text, places = plain(read_document(source.encode()).text)
    assert text == document.text, "marks changed the extraction"
    return document, places


def as_docx(rows: list[str | list[str]]) -> tuple[Document, dict[str, list[tuple[int, int]]]]:
    """Paragraphs, and tables as runs of lists."""
    document = read_document(_docx([bare(row) if isinstance(row, str) else [bare(c) for c in row] for row in rows]))
    text, places = plain(read_document(_docx(rows)).text)
    assert text == document.text, "marks changed the extraction"
    return document, places


def _docx(rows: list[str | list[str]]) -> bytes:
    def paragraph(text: str) -> str:
        escaped = text.replace("&", "&amp;").replace("<", "&lt;")
        return f'<w:p><w:r><w:t xml:space="preserve">{escaped}</w:t></w:r></w:p>'

    body, table = "", ""
    for row in [*rows, ""]:
        if isinstance(row, list):
            table += "<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
            continue
        body += f"<w:tbl>{table}</w:tbl>" if table else ""
        table = ""
        body += paragraph(row)
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            zipfile.ZipInfo("word/document.xml"), f"<w:document {space}><w:body>{body}</w:body></w:document>"
        )
    return packed.getvalue()


def _moved(text: str, at: int, words: str, index: int) -> int:
    """Where the character with this index of the drawn string stands in the extracted text, whose blanks differ."""
    count = sum(1 for char in words[:index] if not char.isspace())
    place = at
    while count or text[place].isspace():
        count -= not text[place].isspace()
        place += 1
    return place


def _drawable(char: str) -> bool:
    """Whether our PDF fonts have it; marks are not drawn."""
    return char in "⟦⟧" or char.encode("cp1252", errors="ignore") != b""


@dataclass(slots=True)
class PdfDraft:
    """Strings drawn at places; remembers the marked ones."""

    pages: list[Page] = field(default_factory=lambda: [Page()])
    drawn: list[tuple[int, float, float, str]] = field(default_factory=list)  # page, y, x, source

    def text(self, x: float, y: float, source: str, *, size: float = 10, right: bool = False, font: int = 0) -> None:
        source = "".join(char if _drawable(char) else unicodedata.normalize("NFKD", char)[0] for char in source)
        words = bare(source)
        self.pages[-1].text(x, y, words, size=size, right=right, font=font)
        left = x - text_width(words, size, font) if right else x
        self.drawn.append((len(self.pages), y, left, source))

    def row(self, y: float, cells: list[tuple[float, str]], *, size: float = 10) -> None:
        """Cells of a line; a negative x means flush right at that place."""
        for x, source in cells:
            self.text(abs(x), y, source, right=x < 0, size=size)

    def page(self) -> None:
        self.pages.append(Page())

    def done(self) -> tuple[Document, dict[str, list[tuple[int, int]]]]:
        data = pdf_bytes(self.pages)
        document = read_document(data)
        places: dict[str, list[tuple[int, int]]] = {}
        open_parts: dict[str, int] = {}
        for number, y, x, source in sorted(self.drawn, key=lambda entry: entry[:3]):
            words, marks = plain(source)
            if not marks:
                continue
            at = self._place(document, number, y, x, words)
            for key, spans in marks.items():
                for drawn_low, drawn_high in spans:
                    low = _moved(document.text, at, words, drawn_low)
                    high = _moved(document.text, at, words, drawn_high - 1) + 1
                    base, _, part = key.partition("~")  # `key~1`, `key~2`: one value over two lines
                    if part == "1":
                        open_parts[base] = low
                    elif part:
                        places.setdefault(base, []).append((open_parts[base], high))
                    else:
                        places.setdefault(key, []).append((low, high))
        return document, places

    def _place(self, document: Document, number: int, y: float, x: float, words: str) -> int:
        """Where a drawn string begins in the extracted text: by its row, else by its rank among equals."""
        low, high = document.page_span(number)
        line_words = " ".join(
            bare(s) for p, line_y, _, s in sorted(self.drawn, key=lambda e: e[:3]) if p == number and line_y == y
        )
        pattern = re.compile(r"(?<![^\s])" + r"\s+".join(map(re.escape, words.split())) + r"(?![^\s])")
        text = document.text
        hits = [match.start() for match in pattern.finditer(text, low, high)]
        assert hits, f"{words!r} is not in the extracted text"
        if len(hits) == 1:
            return hits[0]
        for start in range(low, high):
            if start == low or text[start - 1] == "\n":
                end = text.find("\n", start) if text.find("\n", start) >= 0 else len(text)
                if " ".join(text[start:end].split()) == " ".join(line_words.split()):
                    before = [
                        s for p, ly, lx, s in self.drawn if p == number and ly == y and lx < x and bare(s) == words
                    ]
                    inside = [hit for hit in hits if start <= hit < end]
                    if len(inside) > len(before) and self._row_rank(number, y, line_words) == self._line_rank(
                        text, low, start, line_words
                    ):
                        return inside[len(before)]
        same = sorted((ly, lx) for p, ly, lx, s in self.drawn if p == number and bare(s) == words)
        assert len(same) == len(hits), f"{words!r} cannot be placed"
        return hits[same.index((y, x))]

    def _row_rank(self, number: int, y: float, words: str) -> int:
        rows: dict[float, list[tuple[float, str]]] = {}
        for page, line_y, x, source in self.drawn:
            if page == number and line_y < y:
                rows.setdefault(line_y, []).append((x, bare(source)))
        return sum(1 for cells in rows.values() if " ".join(w for _, w in sorted(cells)).split() == words.split())

    def _line_rank(self, text: str, low: int, start: int, words: str) -> int:
        return sum(1 for line in text[low:start].split("\n") if line.split() == words.split())
