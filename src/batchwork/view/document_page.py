"""The figures of the page about a document: its pages, its fields, and the places that say them.

The citations are those of the run's own result file where it has some, else they are found as the run would find them.
A PDF is shown as pictures when the file is still the one that was read; anything else as the text that was read.
"""

from functools import lru_cache
from typing import Any

import msgspec

from batchwork.core.errors import DocumentError
from batchwork.core.outcome import Succeeded
from batchwork.core.ports import Entry
from batchwork.core.request import Attachment
from batchwork.documents import Document, PagePicture, draw_page
from batchwork.documents.content import PDF
from batchwork.evidence import DEFAULT_LINE
from batchwork.evidence.fields import fields_of
from batchwork.manager.finisher import Finisher, is_in
from batchwork.view.marks import PageMarks
from batchwork.view.source_file import source_of, written_result
from batchwork.view.watch import JournalWatch

_SHEET = (1400, 1980)  # the size of a page that nobody has drawn yet: A4
_PICTURES = 64


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One place that says a field's value."""

    number: int
    field: str
    start: int
    end: int
    text: str
    page: int | None
    confidence: float
    is_sure: bool
    boxes: list[tuple[float, float, float, float]] = []  # left, top, width, height in the picture


class FieldLine(msgspec.Struct, frozen=True, kw_only=True):
    """One leaf of the answer."""

    path: str
    value: str
    marks: list[Mark]


class PageView(msgspec.Struct, frozen=True, kw_only=True):
    """One page: as a picture of about this size, or as text in pieces, each with the mark it belongs to."""

    number: int
    width: int | None = None
    height: int | None = None
    marks: list[Mark] = []
    pieces: list[tuple[str, Mark | None]] = []


class DocumentPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the page."""

    place: int
    number: int
    title: str
    media_type: str
    sha256: str
    path: str | None
    is_picture: bool
    is_image: bool
    note: str
    pages: list[PageView]
    fields: list[FieldLine]
    rejected_quotes: list[dict[str, str]]  # what the model quoted and nobody believed: path, quote, why

    @property
    def sums(self) -> dict[str, int]:
        """How many fields have places that are sure, how many one that a person should look at, how many none."""
        found = [all(mark.is_sure for mark in field.marks) if field.marks else None for field in self.fields]
        return {"sure": found.count(True), "unsure": found.count(False), "none": found.count(None)}


def document_page(watch: JournalWatch, place: int, number: int) -> DocumentPage | None:
    """The page of a document of the item at a place; None when there is none."""
    found = _attachment(watch, place, number)
    if found is None:
        return None
    entry, attachment = found
    source = source_of(watch.journal, place, attachment)
    document = None if number else Finisher(schema=None, cite=True).document(entry.request)
    fields, rejected = _fields(watch, entry, document)
    data = source.data if attachment.media_type == PDF else None
    pages, note = [], source.note
    if data is not None and document is not None:
        try:
            pages = _pictures(document, fields, data)
        except DocumentError as error:
            data, note = None, f"The page cannot be drawn: it {error}."
    if data is None and document is not None:
        pages = _texts(document, fields)
    if data is None and attachment.media_type == PDF and note:
        note += " This is the text that was read from it."
    return DocumentPage(
        place=place,
        number=number,
        title=attachment.title or f"document {number + 1}",
        media_type=attachment.media_type,
        sha256=attachment.digest.hex(),
        path=source.path,
        is_picture=data is not None,
        is_image=attachment.media_type.startswith("image/") and attachment.data is not None,
        note=note,
        pages=pages,
        fields=fields,
        rejected_quotes=rejected,
    )


def page_png(watch: JournalWatch, place: int, number: int, page: int) -> bytes | None:
    """A page of a document as a picture; None when it cannot be had."""
    found = _attachment(watch, place, number)
    source = None if found is None else source_of(watch.journal, place, found[1])
    if source is None or source.data is None:
        return None
    try:
        return _picture(source.data, page).png
    except DocumentError:
        return None


def image_of(watch: JournalWatch, place: int, number: int) -> tuple[bytes, str] | None:
    """An image that went with a request, and its media type."""
    found = _attachment(watch, place, number)
    if found is None or found[1].data is None or not found[1].media_type.startswith("image/"):
        return None
    return found[1].data, found[1].media_type


def _attachment(watch: JournalWatch, place: int, number: int) -> tuple[Entry, Attachment] | None:
    with watch.reading() as (reader, index):
        row = index.at(place)
        entry = None if row is None else reader.entry(row.id)
    if entry is None or entry.request is None or number >= len(entry.request.documents):
        return None
    return entry, entry.request.documents[number]


@lru_cache(maxsize=_PICTURES)
def _picture(data: bytes, page: int) -> PagePicture:
    return draw_page(data, page)


# -- fields and their places ------------------------------------------------------------------------


def _fields(
    watch: JournalWatch, entry: Entry, document: Document | None
) -> tuple[list[FieldLine], list[dict[str, str]]]:
    outcome, request = entry.outcome, entry.request
    if document is None or request is None or not isinstance(outcome, Succeeded):
        return [], []
    written = written_result(watch.journal, entry.index)
    if written is not None and is_in(document, written[1].citations) and any(written[1].citations.values()):
        value, (citations, rejected) = written
    else:
        finisher = Finisher.of_request(request)
        value, (citations, rejected) = finisher.value(outcome), finisher.evidence(outcome, lambda: document)
    lines, number = [], 0
    values = {field.path: field.value for field in fields_of(value)} if request.schema is not None else {}
    for path in dict.fromkeys((*values, *citations)):
        marks = []
        for span in citations.get(path, ()):
            marks.append(_mark(number, path, span))
            number += 1
        lines.append(FieldLine(path=path, value=_shown(values.get(path)), marks=marks))
    return lines, rejected


def _mark(number: int, path: str, span: dict[str, Any]) -> Mark:
    confidence = float(span.get("confidence", 1.0))
    return Mark(
        number=number,
        field=path,
        start=span["start"],
        end=span["end"],
        text=span["text"],
        page=span.get("page"),
        confidence=confidence,
        is_sure=confidence >= DEFAULT_LINE,
    )


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()


# -- pages ------------------------------------------------------------------------------------------


def _pictures(document: Document, fields: list[FieldLine], data: bytes) -> list[PageView]:
    """The pages as pictures. Those with a mark are drawn now; the others when somebody looks at them."""
    marks = [mark for field in fields for mark in field.marks]
    marked = {mark.page for mark in marks}
    pages, size = [], _SHEET
    for number in range(1, len(document.pages) + 1):
        if number not in marked:
            pages.append(PageView(number=number, width=size[0], height=size[1]))
            continue
        picture = _picture(data, number)
        size = picture.width, picture.height
        start, end = document.page_span(number)
        found = PageMarks(document.text[start:end], picture.glyphs)
        placed = [
            msgspec.structs.replace(
                mark,
                boxes=[
                    (box.left, box.top, round(box.right - box.left, 1), round(box.bottom - box.top, 1))
                    for box in found.boxes(mark.start - start, mark.end - start)
                ],
            )
            for mark in marks
            if mark.page == number
        ]
        pages.append(PageView(number=number, width=picture.width, height=picture.height, marks=placed))
    return pages


def _texts(document: Document, fields: list[FieldLine]) -> list[PageView]:
    """The pages as text, cut where marks begin and end; of marks that overlap the first is shown."""
    marks = sorted((mark for field in fields for mark in field.marks), key=lambda mark: (mark.start, mark.number))
    pages = []
    for number in range(1, max(1, len(document.pages)) + 1):
        at, end = document.page_span(number)
        pieces: list[tuple[str, Mark | None]] = []
        for mark in marks:
            if at <= mark.start and mark.end <= end:
                pieces += [(document.text[at : mark.start], None), (document.text[mark.start : mark.end], mark)]
                at = mark.end
        pieces.append((document.text[at:end], None))
        pages.append(PageView(number=number, pieces=pieces))
    return pages
