"""The size of an image, from its first bytes."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.media import pixel_size


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
def test_no_bytes_are_an_error(head: bytes, rest: bytes) -> None:
    size = pixel_size(head + rest)
    assert size is None or (size[0] > 0 and size[1] > 0)
