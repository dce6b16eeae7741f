"""Decide how many pages a PDF can have at most, without reading it as one.

A file of a few kilobytes can hold hundreds of pages, because their descriptions may stand compressed in object
streams; so its size says nothing. What is counted are the descriptions of pages and the references to them, also
inside those streams. A file that cannot be looked into (encrypted, or packed in an unusual way) may have as many as a
provider takes.
"""

from __future__ import annotations

import re
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
