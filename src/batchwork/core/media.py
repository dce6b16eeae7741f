"""Decide how large an image is and how many pages a PDF can have at most, from the bytes alone.

An image (PNG, JPEG, GIF, WebP: what providers take) states its size at its beginning. A PDF of a few kilobytes can hold
hundreds of pages, because their descriptions may stand compressed in object streams; so its size says nothing. What is
counted are the descriptions of pages and the references to them, also inside those streams. A file that cannot be
looked into (encrypted, or packed in an unusual way) may have as many as a provider takes.
"""

import re
import struct
import zlib

MOST_PAGES = 600  # no provider takes more
_MOST_UNPACKED = 64 * 1024 * 1024
_LONGEST_HEAD = 4096
# A name may spell any of its letters as a number, and ends where something begins that cannot stand in one.
_PAGE = re.compile(rb"/(?:P|#50)(?:a|#61)(?:g|#67)(?:e|#65)(?=[\s/<>\[\]()%]|$)")
_KIDS = re.compile(rb"/Kids\s*\[([^\]]*)\]")
_REFERENCE = re.compile(rb"\d\s+\d+\s+R")
_PACKED = re.compile(rb"/ObjStm(?=[\s/<>\[\]()%])")
_FILTERS = re.compile(rb"/(?!FlateDecode)[A-Z][A-Za-z0-9]*Decode|/Predictor")
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # the JPEG segments that state a size
_BARE = frozenset({0x01, *range(0xD0, 0xDA)})  # the JPEG markers without a length


def most_pages(data: bytes) -> int:
    """An upper bound of the number of pages."""
    if b"%PDF-" not in data[:1024] or b"/Encrypt" in data:
        return MOST_PAGES
    described, referred = _counted(data)
    left = _MOST_UNPACKED
    for found in _PACKED.finditer(data):
        unpacked = _unpacked(data, found.start(), left)
        if unpacked is None:
            return MOST_PAGES
        left -= len(unpacked)
        more_described, more_referred = _counted(unpacked)
        described, referred = described + more_described, referred + more_referred
    return min(MOST_PAGES, max(described, referred) or MOST_PAGES)


def _counted(text: bytes) -> tuple[int, int]:
    referred = sum(len(_REFERENCE.findall(kids[1])) for kids in _KIDS.finditer(text))
    return sum(1 for _ in _PAGE.finditer(text)), referred


def _unpacked(data: bytes, at: int, most: int) -> bytes | None:
    """The objects in the stream whose head says `/ObjStm` at this place; None when it cannot be read to its end."""
    start = data.rfind(b" obj", max(0, at - _LONGEST_HEAD), at)
    opens = data.find(b"stream", at, at + _LONGEST_HEAD)
    if start < 0 or opens < 0:
        return None
    head = data[start:opens]
    body = opens + len(b"stream")
    body += 2 if data[body : body + 2] == b"\r\n" else 1
    if b"Decode" not in head:
        return b""  # it stands in the file as it is, and was counted there
    if _FILTERS.search(head) is not None:
        return None
    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(memoryview(data)[body:], most)
    except zlib.error:
        return None
    return unpacked if unpacker.eof else None


def pixel_size(data: bytes) -> tuple[int, int] | None:
    """Width and height, or None when the bytes do not say it."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            width, height = struct.unpack_from(">II", data, 16)
        elif data.startswith((b"GIF87a", b"GIF89a")):
            width, height = struct.unpack_from("<HH", data, 6)
        elif data.startswith(b"\xff\xd8"):
            width, height = _jpeg(data)
        elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            width, height = _webp(data)
        else:
            return None
    except (struct.error, ValueError):
        return None
    return (width, height) if width and height else None


def _jpeg(data: bytes) -> tuple[int, int]:
    """The largest size that a frame states: a file may hold several."""
    largest = (0, 0)
    at = 2
    while at + 4 <= len(data):
        marker = data[at + 1]
        if data[at] != 0xFF:
            raise ValueError("no marker")
        if marker == 0xFF or marker in _BARE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            largest = max(largest, (width, height), key=lambda size: size[0] * size[1])
        if marker == 0xDA:  # the picture itself; what states a size stands before it
            break
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return largest


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("an unknown kind of WebP")
