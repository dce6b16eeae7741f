"""A document of given text, and its limits."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.documents import DocumentError, DocumentLimits, read_document, text_document
from examples.pdf_writer import Page, pdf_bytes
from tests.documents.samples import docx, paragraph


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


@given(st.text(max_size=200))
def test_a_document_of_given_text_is_that_text(text: str) -> None:
    assert text_document(text).text == text
