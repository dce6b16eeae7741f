"""Read the size of an image from its first bytes: PNG, JPEG, GIF and WebP, which is what providers take."""

from __future__ import annotations

import struct

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # the JPEG segments that state a size
_BARE = frozenset({0x01, *range(0xD0, 0xDA)})  # the JPEG markers without a length


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
