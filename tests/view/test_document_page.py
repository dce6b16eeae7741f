"""A document with its cited places: on the picture of its page, or in its text where the file is gone or changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchwork.documents import draw_page, read_document
from batchwork.view.document_page import DocumentPage, document_page
from batchwork.view.marks import PageMarks
from batchwork.view.watch import JournalWatch
from tests.support.view_documents import LINES, document_journal, pdf_of
from tests.support.view_pages import TOKEN, Elements, answers


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[JournalWatch]:
    with closing(JournalWatch(document_journal(tmp_path), tmp_path)) as watch:
        while watch.catch_up():
            pass
        yield watch


def shown(watch: JournalWatch) -> DocumentPage:
    page = document_page(watch, 0, 0)
    assert page is not None
    return page


def test_every_field_is_marked_where_the_page_says_it(watch: JournalWatch) -> None:
    page = shown(watch)
    assert page.is_picture
    assert page.note == ""
    fields = {field.path: [mark.text for mark in field.marks] for field in page.fields}
    assert fields["invoice_number"] == ["A-17"]
    assert fields["total_due"] == ["80.00"]
    tops = {mark.field: mark.boxes[0][1] for mark in page.pages[0].marks}
    assert tops["invoice_number"] < tops["tax"] < tops["total_due"], "from the top of the page down"


@pytest.mark.parametrize(("change", "note"), [(None, "is gone"), (b"%PDF-1.4 another", "has changed")])
def test_the_text_is_shown_with_the_reason_where_the_file_is_not_the_one_that_was_read(
    watch: JournalWatch, change: bytes | None, note: str
) -> None:
    file = watch.journal.parent / "invoice.pdf"
    file.unlink() if change is None else file.write_bytes(change)
    page = shown(watch)
    assert not page.is_picture
    assert note in page.note
    pieces = [(text, None if mark is None else mark.field) for text, mark in page.pages[0].pieces]
    assert ("A-17", "invoice_number") in pieces
    assert "".join(text for text, _ in pieces).splitlines()[0] == LINES[0]


def test_the_page_and_its_pictures_are_served_and_nothing_in_them_is_markup(watch: JournalWatch) -> None:
    at = f"/{TOKEN}/items/0/documents/0"
    page, twin, picture, missing = answers(watch, at, f"{at}.json", f"{at}/page-1.png", f"{at}/page-9.png")
    assert Elements(page[1]).tags.count("script") == 1
    assert json.loads(twin[1])["sha256"] == hashlib.sha256(pdf_of(LINES)).hexdigest()
    assert picture[2]["Content-Type"] == "image/png"
    assert (page[0], missing[0]) == (200, 404)
    (watch.journal.parent / "invoice.pdf").unlink()
    ((_, text, _),) = answers(watch, at)
    assert Elements(text).tags.count("script") == 1


def test_quotes_are_verified_and_those_that_were_refused_are_shown_with_the_reason(tmp_path: Path) -> None:
    quotes = [{"field": "tax", "quote": "Tax 40.00"}, {"field": "total_due", "quote": "Total <b>81.00</b>"}]
    with closing(JournalWatch(document_journal(tmp_path, quotes), tmp_path)) as watch:
        while watch.catch_up():
            pass
        fields = {field.path: [mark.text for mark in field.marks] for field in shown(watch).fields}
        assert fields == {"invoice_number": ["A-17"], "total_due": ["80.00"], "tax": ["40.00"]}
        ((_, page, _),) = answers(watch, f"/{TOKEN}/items/0/documents/0")
    refused = page[page.index("Refused quotes") :]
    assert "Total &lt;b&gt;81.00&lt;/b&gt;" in refused
    assert "does not stand in the document" in refused
    assert "Tax 40.00" not in refused[: refused.index("</aside>")]


def test_a_span_over_two_lines_gets_a_box_on_each_and_equal_words_are_told_apart_by_their_neighbours() -> None:
    data = pdf_of(LINES)
    text, picture = read_document(data).text, draw_page(data, 1)
    marks = PageMarks(text, picture.glyphs)
    first, second = (marks.boxes(at, at + 5) for at in (text.index("40.00"), text.index("40.00", text.index("Tax"))))
    assert first[0].top < second[0].top
    start = text.index("Net")
    assert len(marks.boxes(start, text.index("Tax") + 3)) == 2
    assert marks.boxes(0, 0) == []
