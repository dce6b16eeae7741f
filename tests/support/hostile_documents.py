"""Files that are made to harm whoever reads them, each made here and none larger than a megabyte."""

from __future__ import annotations

import io
import random
import zipfile
import zlib
from collections.abc import Callable

from examples.pdf_writer import Page, pdf_bytes

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
FILLING = 40 * "<w:p><w:r><w:t>Plain text that goes on.</w:t></w:r></w:p>"


def docx(
    body: str = FILLING, *, head: str = "<?xml version='1.0'?>", encoding: str = "utf-8", method: int = 8
) -> bytes:
    """A DOCX whose body is this markup."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        markup = f"{head}<w:document {WORD}><w:body>{body}</w:body></w:document>"
        archive.writestr("word/document.xml", markup.encode(encoding, "replace"))
    return packed.getvalue()


def docx_in(codec: str) -> bytes:
    """A DOCX whose XML says that it is in this encoding."""
    return docx(head=f"<?xml version='1.0' encoding='{codec}'?>")


def damaged_member(method: int, seed: int) -> bytes:
    """A DOCX of this method of compression with some bytes of its body changed."""
    data = bytearray(docx(method=method))
    start, end = 30 + len("word/document.xml"), data.index(b"PK\x01\x02")
    dice = random.Random(seed)
    for _ in range(dice.randint(1, 8)):
        data[dice.randrange(start, end)] ^= dice.randrange(1, 256)
    return bytes(data)


def wrong_member(method: int) -> bytes:
    """A DOCX that names a method of compression which its body is not in."""
    data = bytearray(docx(method=zipfile.ZIP_STORED))
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.index(mark) + place
        data[at : at + 2] = method.to_bytes(2, "little")
    return bytes(data)


def overlapping(parts: int = 2_000) -> bytes:
    """A DOCX whose directory names one large member as very many headers."""
    data = docx(FILLING * 100)
    entry_at = data.index(b"PK\x01\x02")
    entry = data[entry_at : data.index(b"PK\x05\x06")]
    entries = b""
    for number in range(parts):
        name = f"word/header{number}.xml".encode()
        entries += entry[:28] + len(name).to_bytes(2, "little") + entry[30:46] + name
    entries += entry
    count = min(parts + 1, 0xFFFF).to_bytes(2, "little")
    end = b"PK\x05\x06\0\0\0\0" + 2 * count + len(entries).to_bytes(4, "little") + entry_at.to_bytes(4, "little")
    return data[:entry_at] + entries + end + b"\0\0"


def flate_bomb(size: int, times: int = 2) -> bytes:
    """A PDF of a few kilobytes whose page unpacks to `size` bytes."""
    packer = zlib.compressobj(9)
    operations = packer.compress(b"BT /F0 1 Tf (")
    for _ in range(size // 1_000_000):
        operations += packer.compress(b"a" * 1_000_000)
    operations += packer.compress(b") Tj ET") + packer.flush()
    for _ in range(times - 1):
        operations = zlib.compress(operations, 9)
    return pdf_of(operations, "/FlateDecode " * times)


def pdf_of(stream: bytes, filters: str) -> bytes:
    """A PDF of one page with this content."""
    whole = pdf_bytes([Page()])
    start = whole.index(b"<< /Length", whole.index(b"/Contents"))
    end = whole.index(b"endobj", start)
    body = f"<< /Length {len(stream)} /Filter [{filters}] >>\nstream\n".encode() + stream + b"\nendstream\n"
    return whole[:start] + body + whole[end:]  # the table of places is wrong now, and readers make their own


def scattered(glyphs: int, seed: int = 1) -> bytes:
    """A PDF whose letters stand anywhere."""
    dice, page = random.Random(seed), Page()
    for _ in range(glyphs):
        page.text(dice.uniform(0, 590), dice.uniform(5, 840), dice.choice("abcdefgh"), size=dice.choice([3, 5, 8]))
    return pdf_bytes([page])


def lattice(rows: int, columns: int) -> bytes:
    """A PDF of cells that line up in every direction."""
    page = Page()
    for row in range(rows):
        for column in range(columns):
            page.text(5 + column * 580 / columns, 5 + row * 830 / rows, "x", size=2)
    return pdf_bytes([page])


def far_apart() -> bytes:
    """A PDF with letters a million points from each other."""
    page = Page()
    for place in (0.0, 1e6, 9e8, -9e8, 1e30, -1e30):
        page.text(place, 50, "far")
    return pdf_bytes([page])


LARGE_NUMBER = "9" * 5_000
HTML: dict[str, Callable[[int], str]] = {
    "tags that never end": lambda size: "<a " * (size // 3),
    "comments that never end": lambda size: "<!--" * (size // 4),
    "comments and the other end of one": lambda size: "<!--x-->" * (size // 8) + "--!>",
    "declarations that never end": lambda size: "<!x " * (size // 4),
    "closing tags that never end": lambda size: "</a " * (size // 4),
    "quotes that never end": lambda size: '<a b="' * (size // 6),
    "attributes without end": lambda size: "<a " + "b=c " * (size // 4) + ">",
    "titles that never end": lambda size: "<title>" * (size // 7),
    "scripts that never end": lambda size: "<script>" * (size // 8),
    "hidden elements in each other": lambda size: "<svg>" * (size // 10) + "</math>" * (size // 14),
    "elements in each other": lambda size: "<div>" * (size // 5),
    "tables in each other": lambda size: "<table><tr><td>x" * (size // 16),
    "one line of pieces": lambda size: "<b>x</b>" * (size // 8),
    "rows below wide cells": lambda size: (
        "<table><tr>" + "<td colspan=63 rowspan=999>x" * (size // 56) + "<tr><td>y" * (size // 18)
    ),
    "references": lambda size: "&amp" * (size // 4),
    "numbers of characters": lambda size: "&#" + "9" * size + ";",
    "blanks": lambda size: " " * size + "x",
    "list items": lambda size: "<li>" * (size // 4),
    "rules": lambda size: "<hr>" * (size // 4),
    "angle brackets": lambda size: "<" * size,
    "processing instructions": lambda size: "<?a " * (size // 4) + ">",
}
