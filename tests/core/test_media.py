"""How many pages a PDF can have at most, and the size of an image, from their bytes."""

import io
import struct
import zlib

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.bounds import measure
from batchwork.core.media import MOST_PAGES, most_pages, pixel_size
from batchwork.core.request import Attachment, Request


def input_bound(request: Request) -> int:
    return measure(request, image_tokens=None).tokens


def _made(pages: int) -> bytes:
    """By a library that is not ours."""
    document = pypdfium2.PdfDocument.new()
    for _ in range(pages):
        document.new_page(200, 200)
    sink = io.BytesIO()
    document.save(sink)
    return sink.getvalue()


def _packed(
    pages: int, *, head: bytes = b"/Filter/FlateDecode", name: bytes = b"/Page", cut: int | None = None
) -> bytes:
    """One whose pages stand in an object stream, as most programs write them."""
    objects = b" ".join(b"<</Type" + name + b"/Parent 2 0 R/MediaBox[0 0 200 200]>>" for _ in range(pages))
    body = zlib.compress(objects)[:cut] if b"Flate" in head else objects
    return b"%PDF-1.7\n9 0 obj\n<</Type/ObjStm/N 3/First 20" + head + b">>stream\r\n" + body + b"\r\nendstream endobj"


@pytest.mark.parametrize("pages", [1, 2, 7, 120])
def test_pages_that_stand_in_the_file_are_counted(pages: int) -> None:
    data = _made(pages)
    assert pages <= most_pages(data) <= 2 * pages + 2


@pytest.mark.parametrize("pages", [1, 7, 120])
@pytest.mark.parametrize("name", [b"/Page", b"/P#61ge"])
def test_pages_in_a_compressed_stream_are_counted_however_small_it_is(pages: int, name: bytes) -> None:
    data = _packed(pages, name=name)
    assert most_pages(data) == pages
    assert len(data) < 400
    assert most_pages(_packed(pages, head=b"")) == pages


def test_one_page_that_is_referred_to_often_counts_as_often() -> None:
    kids = b"3 0 R " * 50
    data = b"%PDF-1.4\n2 0 obj<</Type/Pages/Kids[" + kids + b"]/Count 50>>endobj 3 0 obj<</Type/Page>>endobj"
    assert most_pages(data) == 50


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no PDF",
        b"%PDF-1.7 nothing in it",
        _packed(3) + b"<</Encrypt 5 0 R>>",
        _packed(3, head=b"/Filter[/ASCII85Decode/FlateDecode]"),
        _packed(3, head=b"/Filter/FlateDecode/DecodeParms<</Predictor 12>>"),
        _packed(300, cut=40),
        b"%PDF-1.7\n9 0 obj\n<</Type/ObjStm /Filter/FlateDecode>>stream\nno zlib endstream",
        b"%PDF-1.7 <</Type/Page>> /ObjStm >>",
    ],
)
def test_a_file_that_cannot_be_looked_into_may_have_as_many_as_a_provider_takes(data: bytes) -> None:
    assert most_pages(data) == MOST_PAGES


def test_names_that_only_begin_so_are_no_pages() -> None:
    assert most_pages(b"%PDF-1.4 /Type/Pages /PageMode /PageLabels /Type/Page>>") == 1


@given(st.binary(), st.sampled_from([b"", b"/Type/ObjStm/Filter/FlateDecode>>stream\n", b"/Kids[1 0 R", b"/Page/"]))
def test_no_bytes_are_an_error_in_a_pdf(rest: bytes, start: bytes) -> None:
    assert 1 <= most_pages(b"%PDF-1.7 1 0 obj " + start + rest) <= MOST_PAGES


def test_a_small_pdf_is_not_taken_for_hundreds_of_pages_nor_a_packed_one_for_one() -> None:
    one, many = (
        input_bound(Request.ask("x", documents=(Attachment(media_type="application/pdf", digest=b"d", data=data),)))
        for data in (_made(1) + b" " * 100_000, _packed(120))
    )
    assert one < 40_000
    assert many >= 1_200_000


def png(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))


def jpeg(width: int, height: int, *, before: bytes = b"") -> bytes:
    frame = struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    note = b"\xff\xe1" + struct.pack(">H", 2 + len(before)) + before if before else b""
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + bytes(14) + note + b"\xff\xc2" + frame + b"\xff\xda\x00\x02"


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 100) + b"WEBP" + kind + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    "data",
    [
        png(4032, 3024),
        jpeg(4032, 3024),
        jpeg(4032, 3024, before=b"\xff\xc0" + b"x" * 60_000),  # a thumbnail's size in the notes is not the image's
        b"GIF89a" + struct.pack("<HH", 4032, 3024),
        webp(b"VP8X", bytes(4) + (4031).to_bytes(3, "little") + (3023).to_bytes(3, "little")),
        webp(b"VP8L", b"\x2f" + struct.pack("<I", 4031 | 3023 << 14)),
        webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 4032, 3024)),
    ],
)
def test_every_kind_that_providers_take_says_its_size(data: bytes) -> None:
    assert pixel_size(data) == (4032, 3024)


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", png(0, 7), webp(b"ODD ", b"")])
def test_bytes_that_do_not_say_a_size_have_none(data: bytes) -> None:
    assert pixel_size(data) is None


@given(st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8X"]), st.binary())
def test_no_bytes_are_an_error_in_an_image(head: bytes, rest: bytes) -> None:
    size = pixel_size(head + rest)
    assert size is None or (size[0] > 0 and size[1] > 0)
