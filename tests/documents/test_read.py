import hashlib
import io
import random
import threading
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.errors import BatchworkError, InputError
from batchwork.documents import Document, DocumentError, DocumentLimits, read_document, text_document
from examples.invoices import make_invoices
from examples.pdf_writer import Page, pdf_bytes

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b"\x00\x00\x00\x00IEND\xaeB`\x82"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(body: str, *, head: str = "", **other_parts: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "word/document.xml", f"<?xml version='1.0'?>{head}<w:document {WORD}><w:body>{body}</w:body></w:document>"
        )
        for name, content in other_parts.items():
            archive.writestr(f"word/{name}.xml", f"<w:x {WORD}>{content}</w:x>")
    return packed.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_a_document_that_cannot_be_read_is_an_error_of_the_one_tree() -> None:
    assert issubclass(DocumentError, InputError)
    with pytest.raises(BatchworkError, match="is empty"):
        read_document(b"")


def test_a_text_file_is_its_own_text_with_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "note.pdf"  # the name lies
    path.write_bytes("Größe: 3\r\nEnde\r".encode())
    document = read_document(path)
    assert document.text == "Größe: 3\nEnde\n"
    assert document.media_type == "text/plain"
    assert document.pages == ()
    assert document.page_of(3) is None
    assert document.name == str(path)
    assert document.digest == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_common_encodings_are_found_out(encoding: str) -> None:
    assert read_document("Übergabe am 3. März, Preis 5 €".encode(encoding)).text == "Übergabe am 3. März, Preis 5 €"


def test_markdown_is_told_by_its_signs_and_kept_as_it_is() -> None:
    source = "# Offer\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert read_document(source.encode()).media_type == "text/markdown"
    assert read_document(source.encode()).text == source


def test_html_becomes_lines_and_rows_with_tabs() -> None:
    page = b"""<!doctype html><html><head><title>x</title><style>p{}</style></head><body><h1>Invoice&nbsp;7</h1>
    <p>Total:   <b>12&euro;</b></p><script>var a = '<p>no</p>'</script>
    <table><tr><th>Item<th colspan=2>Price</tr><tr><td>Nut</td><td>1</td><td>2<br>x</td></tr></table>
    <ul><li>one<li><input type=checkbox checked>two</ul></body></html>"""
    document = read_document(page)
    assert document.media_type == "text/html"
    assert document.text == "Invoice\xa07\n\nTotal: 12€\n\nItem\tPrice\nNut\t1\t2 x\n\n- one\n- [x] two"


def test_a_cell_over_several_rows_keeps_the_others_in_their_columns() -> None:
    page = b"""<html><table><tr><th rowspan=2>Part<th colspan=2>Quantity<th rowspan="2">Price</tr>
    <tr><th>Ordered<th>Open</tr><tr><td>Nut<td>4<td>1<td>2.50</tr></table><table><tr><td>a<td>b</tr></table></html>"""
    assert read_document(page).text == "Part\tQuantity\t\tPrice\n\tOrdered\tOpen\nNut\t4\t1\t2.50\n\na\tb"


def test_docx_is_read_with_header_tables_breaks_and_without_deletions() -> None:
    cell = "<w:tc>{}</w:tc>"
    row = "<w:tr>" + cell.format(paragraph("Nut")) + cell.format(paragraph("4") + paragraph("pcs")) + "</w:tr>"
    body = (
        paragraph("First")
        + "<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t></w:r>"
        + "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
        + f"<w:tbl>{row}</w:tbl>"
        + paragraph("R&amp;D")
    )
    document = read_document(docx(body, header1=paragraph("Letterhead"), footer1=paragraph("Page")))
    assert document.media_type.endswith("wordprocessingml.document")
    assert document.text == "Letterhead\n\nFirst\na\nb\tc\nNut\t4 pcs\n\nR&D\n\nPage"


def test_an_image_has_no_text_and_says_so() -> None:
    document = read_document(PNG)
    assert (document.media_type, document.text, document.has_text, document.is_image) == ("image/png", "", False, True)
    assert document.data == PNG


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


def test_a_word_broken_at_a_line_end_is_whole_and_an_id_keeps_its_hyphen() -> None:
    page = Page()
    for y, line in (
        (50, "The inter-"),
        (64, "national market grew by INV-"),
        (78, "2024 and Anglo-"),
        (92, "American trade"),
    ):
        page.text(50, y, line)
    assert (
        read_document(pdf_bytes([page])).text
        == "The international\nmarket grew by INV-\n2024 and Anglo-\nAmerican trade"
    )


def test_columns_of_prose_are_read_one_after_the_other() -> None:
    page = Page()
    page.text(
        50, 40, "A heading that runs over the whole width of the page, from the left side to the right side of it"
    )
    for index in range(5):  # drawn line by line across both columns: the hard way
        page.text(50, 80 + 14 * index, f"left column line number {index} goes on")
        page.text(310, 80 + 14 * index, f"right column line number {index} goes on")
    lines = read_document(pdf_bytes([page])).text.split("\n")
    assert [line[:4] for line in lines if "column" in line] == ["left"] * 5 + ["righ"] * 5


def test_the_rows_of_a_table_stay_rows_even_when_drawn_column_by_column() -> None:
    page = Page()
    for index, name in enumerate(["Apples", "Pears", "Plums", "Figs"]):
        page.text(50, 60 + 16 * index, name)
    for index in range(4):
        page.text(300, 60 + 16 * index, f"{index + 1}.50", right=True)
    lines = read_document(pdf_bytes([page])).text.split("\n")
    assert [line.split() for line in lines] == [
        ["Apples", "1.50"],
        ["Pears", "2.50"],
        ["Plums", "3.50"],
        ["Figs", "4.50"],
    ]


def test_bold_by_drawing_twice_is_read_once() -> None:
    page = Page()
    for shift in (0, 0.4):
        page.text(50 + shift, 60, "Total amount")
    assert read_document(pdf_bytes([page])).text == "Total amount"


def test_a_heading_stands_above_its_figures() -> None:
    text = read_document(make_invoices(1)[0].data).text
    head, *rows = text[text.index("Item ") :].split("\n")[:4]
    end = head.index("Price") + len("Price")
    assert all(abs(row.index("$") - end) < 10 for row in rows)


def test_the_hundred_invoices_say_their_truth_in_order() -> None:
    for invoice in make_invoices(100)[::7]:
        document = read_document(invoice.data, name=invoice.name)
        text = " ".join(document.text.split()).lower()
        assert invoice.truth["invoice_number"].lower() in text
        assert invoice.truth["company_name"].lower() in text
        assert all(item["description"].lower() in text for item in invoice.truth["items"])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n\t ", "is empty"),
        (b"%PDF-1.7\nnothing of the kind", "is damaged"),
        (b"PK\x03\x04broken", "is damaged"),
        (b"\x89PNG\r\n\x1a\n", "damaged PNG"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted"),
        (b"{\\rtf1 hello}", "RTF"),
        (b"\x00\x01\x02\x03" * 300, "binary"),
        (b"<html><body><script>1</script></body></html>", "is empty"),
        (docx(paragraph("x"), head="<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/hostname'>]>"), "document type"),
        (docx("<w:p>")[:-30], "damaged"),
        (docx("<w:p>"), "damaged"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=says) as refused:
        read_document(data, name="scan_7.pdf")
    assert str(refused.value).startswith("scan_7.pdf ")


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


def test_an_encrypted_docx_member_is_called_encrypted() -> None:
    data = bytearray(docx(paragraph("x")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(DocumentError, match="encrypted"):
        read_document(bytes(data))


def test_limits_refuse_before_the_work_is_done(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="3 pages, more than 2"):
        read_document(pdf_bytes([Page(), Page(), Page()]), limits=DocumentLimits(max_pages=2))
    path = tmp_path / "large.txt"
    path.write_text("x" * 2_000)
    with pytest.raises(DocumentError, match="2000 bytes"):
        read_document(path, limits=DocumentLimits(max_bytes=1_000))
    with pytest.raises(DocumentError, match="characters"):
        read_document(path, limits=DocumentLimits(max_characters=1_000))
    with pytest.raises(DocumentError, match="characters"):
        read_document(docx(paragraph("x" * 2_000)), limits=DocumentLimits(max_characters=1_000))
    with pytest.raises(ValueError, match="max_pages"):
        DocumentLimits(max_pages=0)


def test_a_zip_bomb_is_not_unpacked() -> None:
    with pytest.raises(DocumentError, match="honest"):
        read_document(docx(paragraph(" " * 30_000_000)))


def test_other_archives_are_named(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(DocumentError, match="XLSX"):
        read_document(packed.getvalue())


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"gone\.pdf cannot be read"):
        read_document(tmp_path / "gone.pdf")
    with pytest.raises(DocumentError, match="cannot be read"):
        read_document(tmp_path)


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


def test_damage_anywhere_is_a_document_error_or_a_document() -> None:
    dice = random.Random(5)
    sources = [make_invoices(1)[0].data, docx(paragraph("x") * 20), PNG, b"<html><p>hello</p></html>"]
    for turn in range(120):
        data = bytearray(dice.choice(sources))
        for _ in range(dice.randint(1, 12)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        if turn % 3 == 0:
            del data[dice.randrange(len(data)) :]
        try:
            document = read_document(bytes(data))
        except DocumentError:
            continue
        assert isinstance(document, Document)


@given(st.binary(max_size=300))
def test_no_bytes_do_anything_but_read_or_refuse(data: bytes) -> None:
    try:
        assert read_document(data).data == data
    except DocumentError:
        return


@given(st.text(max_size=200))
def test_a_document_of_given_text_is_that_text(text: str) -> None:
    assert text_document(text).text == text
