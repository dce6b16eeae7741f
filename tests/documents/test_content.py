"""What a file is, by its content."""

import pytest

from batchwork.documents import read_document
from tests.documents.samples import PNG


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_common_encodings_are_found_out(encoding: str) -> None:
    assert read_document("Übergabe am 3. März, Preis 5 €".encode(encoding)).text == "Übergabe am 3. März, Preis 5 €"


def test_markdown_is_told_by_its_signs_and_kept_as_it_is() -> None:
    source = "# Offer\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert read_document(source.encode()).media_type == "text/markdown"
    assert read_document(source.encode()).text == source


def test_an_image_has_no_text_and_says_so() -> None:
    document = read_document(PNG)
    assert (document.media_type, document.text, document.has_text, document.is_image) == ("image/png", "", False, True)
    assert document.data == PNG
