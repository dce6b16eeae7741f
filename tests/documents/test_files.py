"""Path or bytes -> document, or a refusal in words."""

import hashlib
import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.errors import BatchworkError, InputError
from batchwork.documents import Document, DocumentError, read_document
from examples.invoices import make_invoices
from tests.documents.samples import PNG, docx, paragraph


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
    ids=itertools.count(),  # not by the bytes: an archive holds the time at which it was made
)
def test_what_cannot_be_read_is_refused_in_words(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=says) as refused:
        read_document(data, name="scan_7.pdf")
    assert str(refused.value).startswith("scan_7.pdf ")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"gone\.pdf cannot be read"):
        read_document(tmp_path / "gone.pdf")
    with pytest.raises(DocumentError, match="cannot be read"):
        read_document(tmp_path)


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
