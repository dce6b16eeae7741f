"""PDF: pages, passwords, scans."""

import threading

import pytest

from batchwork.documents import DocumentError, read_document
from examples.invoices import make_invoices
from examples.pdf_writer import Page, pdf_bytes


def test_a_pdf_has_pages_and_every_offset_has_its_page() -> None:
    pages = []
    for number in (1, 2, 3):
        page = Page()
        page.text(50, 60, f"This is page {number}")
        pages.append(page)
    document = read_document(pdf_bytes(pages))
    assert document.media_type == "application/pdf"
    assert document.text == "This is page 1\n\nThis is page 2\n\nThis is page 3"
    for number in (1, 2, 3):
        assert document.page_of(document.text.index(f"page {number}")) == number
        start, end = document.page_span(number)
        assert document.text[start:end].strip() == f"This is page {number}"


def test_a_scan_without_text_is_a_document_without_text() -> None:
    page = Page()
    page.rule(10, 10, 200, 200)
    document = read_document(pdf_bytes([page, Page()]))
    assert document.text == ""
    assert not document.has_text
    assert document.page_span(2) == (0, 0)


def encrypted_pdf() -> bytes:
    whole = pdf_bytes([Page()])
    locked = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O (" + b"o" * 32 + b") /U (" + b"u" * 32 + b") >>"
    table_at = whole.rindex(b"xref\n", 0, whole.rindex(b"startxref"))
    number = int(whole[table_at:].split()[2])
    body = whole[:table_at] + f"{number} 0 obj\n".encode() + locked + b"\nendobj\n"
    trailer = f"trailer\n<< /Size {number + 1} /Root 1 0 R /Encrypt {number} 0 R /ID [(a) (a)] >>\n%%EOF\n".encode()
    return body + trailer  # no table: readers rebuild it


def test_an_encrypted_pdf_is_called_encrypted() -> None:
    with pytest.raises(DocumentError, match="encrypted"):
        read_document(encrypted_pdf())


def test_what_follows_an_encrypted_pdf_is_not_called_encrypted() -> None:
    for _ in range(2):
        with pytest.raises(DocumentError, match="encrypted"):
            read_document(encrypted_pdf())
        with pytest.raises(DocumentError, match="is damaged"):
            read_document(b"%PDF-1.7\nnothing of the kind")


def test_threads_may_read_pdfs_at_once() -> None:
    files = [invoice.data for invoice in make_invoices(8)]
    alone = [read_document(data).text for data in files]
    together: dict[int, str] = {}

    def read(index: int) -> None:
        together[index] = read_document(files[index]).text

    threads = [threading.Thread(target=read, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[index] for index in range(8)] == alone
