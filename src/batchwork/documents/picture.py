"""A page of a PDF as a picture, and where each of its characters stands in it.

Drawn by pdfium in a process that reads documents, like everything that comes from a file of somebody else's.
"""

import base64
import ctypes
import json
import struct
import zlib
from typing import Any

from batchwork.core.errors import DocumentError
from batchwork.documents.document import DocumentLimits
from batchwork.documents.pdf import glyphs_of

_HEAD = struct.Struct("!I")
_WIDEST, _HIGHEST = 1400, 4000  # pixels
_FINE = 16  # parts of a pixel to which a place is known


def picture_request(page: int, data: bytes) -> bytes:
    """What a reader is sent: the page, counted from 1, and the file."""
    return _HEAD.pack(page) + data


def picture_json(content: bytes, limits: DocumentLimits) -> str:
    """The picture of the page that a request names, as JSON; a DocumentError says why there is none."""
    import pypdfium2  # noqa: PLC0415 - an optional dependency, needed for PDFs alone

    (number,) = _HEAD.unpack_from(content)
    try:
        file = pypdfium2.PdfDocument(content[_HEAD.size :])
    except pypdfium2.PdfiumError as error:
        raise DocumentError(f"cannot be drawn: {error}") from error
    try:
        if not 1 <= number <= min(len(file), limits.max_pages):
            raise DocumentError(f"has no page {number}")
        return json.dumps(_drawn(file[number - 1], pypdfium2, limits))
    finally:
        file.close()


def _drawn(page: Any, binding: Any, limits: DocumentLimits) -> dict[str, Any]:
    width, height = page.get_size()
    scale = min(_WIDEST / max(width, 1.0), _HIGHEST / max(height, 1.0), 3.0)
    bitmap = page.render(scale=scale, rev_byteorder=True)
    try:
        pixels = _png(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride, bitmap.n_channels)
        size = (bitmap.width, bitmap.height)
    finally:
        bitmap.close()
    textpage = page.get_textpage()
    try:
        count = binding.raw.FPDFText_CountChars(textpage)
        limits.check_length(count)
        glyphs = glyphs_of(textpage, count, binding.raw)
    finally:
        textpage.close()
    placed = [[glyph[0], *_on_picture(page, glyph, size, binding.raw)] for glyph in glyphs if not glyph[0].isspace()]
    page.close()
    return {"width": size[0], "height": size[1], "png": base64.b64encode(pixels).decode(), "glyphs": placed}


def _on_picture(page: Any, glyph: tuple[Any, ...], size: tuple[int, int], pdfium: Any) -> list[float]:
    """Left, top, right and bottom of a character in the picture, whichever way the page is turned or cut."""
    _, left, right, bottom, top = glyph
    x, y = ctypes.c_int(), ctypes.c_int()
    corners = []
    for across, up in ((left, top), (right, bottom)):
        pdfium.FPDF_PageToDevice(
            page.raw, 0, 0, size[0] * _FINE, size[1] * _FINE, 0, across, up, ctypes.byref(x), ctypes.byref(y)
        )
        corners.append((x.value / _FINE, y.value / _FINE))
    (x1, y1), (x2, y2) = corners
    return [round(min(x1, x2), 1), round(min(y1, y2), 1), round(max(x1, x2), 1), round(max(y1, y2), 1)]


def _png(pixels: bytes, width: int, height: int, stride: int, channels: int) -> bytes:
    """The picture as PNG: a head, the rows packed, an end."""
    colours = {1: 0, 3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + pixels[row * stride : row * stride + width * channels] for row in range(height))

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack("!I", len(body)) + name + body + struct.pack("!I", zlib.crc32(name + body))

    head = struct.pack("!IIBBBBB", width, height, 8, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")
