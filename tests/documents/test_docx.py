"""DOCX, honest and not."""

import io
import zipfile
from pathlib import Path

import pytest

from batchwork.documents import DocumentError, read_document
from tests.documents.samples import docx, paragraph


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


def test_an_encrypted_docx_member_is_called_encrypted() -> None:
    data = bytearray(docx(paragraph("x")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(DocumentError, match="encrypted"):
        read_document(bytes(data))


def test_a_zip_bomb_is_not_unpacked() -> None:
    with pytest.raises(DocumentError, match="honest"):
        read_document(docx(paragraph(" " * 30_000_000)))


def test_other_archives_are_named(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(DocumentError, match="XLSX"):
        read_document(packed.getvalue())
