"""Samples of every format, made here, and what chance makes of them. The same seed gives the same files."""

from __future__ import annotations

import random
import re
import struct
import zlib
from collections.abc import Callable

from examples.invoices import make_invoice
from examples.pdf_writer import Page, pdf_bytes
from tests.support.hostile_documents import HTML, docx

Dice = random.Random
_WORDS = re.findall(r"\S+", "total amount invoice 42.50 2026-01-05 Acme Größe naïve 合計 € no yes paid due")
_TAGS = re.findall(r"\w+", "p div table tr td th ul li pre br script style title b input svg")
_ODD = (
    *(b"\x00", b"\xff", b"\xfe\xff", b"\n", b"<", b">", b"&", b'"', b"(", b")", b"[", b"]", b"<<", b">>", b"%"),
    *(b"-1", b"0", b"1e99", b"99999999999", b"9" * 5_000, b"\xed\xa0\x80", b"\xf0\x9f\x92\xa9", b"&#xD800;"),
    *(
        b"stream\n",
        b"endstream",
        b"endobj",
        b"obj",
        b"R",
        b"/Kids",
        b"/Parent",
        b"/Length",
        b"/Filter",
        b"/FlateDecode",
    ),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"<!DOCTYPE", b"<!--", b"-->", b"]]>", b"<![CDATA[", b"<table>"),
    *(b"colspan=9", b"<w:tr>", b"</w:tc>", b"<w:p>", b"<?xml version='1.0' encoding='rot13'?>", b"%PDF-1.7", b"```"),
)


def text_of(dice: Dice, lines: int) -> str:
    """Lines of ordinary words."""
    return "\n".join(" ".join(dice.choices(_WORDS, k=dice.randint(1, 12))) for _ in range(lines))


def _pdf(dice: Dice) -> bytes:
    if dice.random() < 0.5:
        return make_invoice(dice.randrange(500)).data
    pages = []
    for _ in range(dice.randint(1, 4)):
        page = Page()
        for _ in range(dice.randint(0, 30)):
            page.text(dice.uniform(-50, 650), dice.uniform(-50, 900), text_of(dice, 1), size=dice.choice([0, 1, 9, 40]))
        pages.append(page)
    return pdf_bytes(pages, title=text_of(dice, 1))


def _docx(dice: Dice) -> bytes:
    paragraph = "<w:p><w:r><w:t>{}</w:t><w:tab/><w:br/></w:r></w:p>"
    body = "".join(paragraph.format(text_of(dice, 1)) for _ in range(dice.randint(1, 20)))
    cell = f"<w:tc><w:tcPr><w:gridSpan w:val='{dice.randint(-1, 99)}'/></w:tcPr>{body}</w:tc>"
    return docx(body + f"<w:tbl><w:tr>{cell * dice.randint(1, 4)}</w:tr></w:tbl>", method=dice.choice([0, 8, 12, 14]))


def _html(dice: Dice) -> bytes:
    tags = [dice.choice(_TAGS) for _ in range(40)]
    made = "".join(
        f"<{'/' if dice.random() < 0.4 else ''}{tag} a='{dice.randint(-9, 99)}'>{text_of(dice, 1)}&eacute;&#65;"
        for tag in tags
    )
    if dice.random() < 0.2:
        made += HTML[dice.choice(list(HTML))](dice.randint(10, 5_000))
    return b"<!doctype html><html>" + made.encode()


def _markdown(dice: Dice) -> bytes:
    rows = "".join(f"| {text_of(dice, 1)} | {dice.random()} |\n" for _ in range(5))
    head = f"# {text_of(dice, 1)}\n\n<!-- {text_of(dice, 1)} -->\n\n"
    return f"{head}| a | b |\n|---|---|\n{rows}\n- [x] **done**\n".encode()


def _text(dice: Dice) -> bytes:
    return text_of(dice, dice.randint(1, 60)).encode(dice.choice(["utf-8", "utf-16", "utf-8-sig", "utf-32"]))


def _png(dice: Dice) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(bytes([0, dice.randrange(256)])))
    return b"\x89PNG\r\n\x1a\n" + head + pixel + chunk(b"IEND", b"")


def _other_image(dice: Dice) -> bytes:
    start = dice.choice([b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF\x24\0\0\0WEBPVP8 ", b"BM\x46\0\0\0\0\0\0\0"])
    return start + dice.randbytes(60)


FORMATS: dict[str, Callable[[Dice], bytes]] = {
    "pdf": _pdf,
    "docx": _docx,
    "html": _html,
    "markdown": _markdown,
    "text": _text,
    "png": _png,
    "image": _other_image,
}


def mutated(data: bytes, dice: Dice, other: bytes = b"") -> bytes:
    """The same bytes after a few accidents; `other` is a file that pieces are taken from."""
    made = bytearray(data)
    for _ in range(1 if dice.random() < 0.3 else dice.randint(2, 25)):
        if not made:
            return bytes(made)
        place, length = dice.randrange(len(made)), dice.choice([1, 1, 2, 4, 16, 200])
        accident = dice.randrange(8)
        if accident == 0:
            made[place] ^= 1 << dice.randrange(8)
        elif accident == 1:
            made[place : place + length] = dice.randbytes(length)
        elif accident == 2:
            del made[place : place + length]
        elif accident == 3:
            made[place:place] = dice.choice(_ODD)
        elif accident == 4:
            made[place:place] = made[place : place + length] * dice.choice([1, 3, 50])
        elif accident == 5 and other:
            start = dice.randrange(len(other))
            made[place : place + length] = other[start : start + length]
        elif accident == 6:
            _change_number(made, place, dice)
        elif dice.random() < 0.1:
            del made[place:]
    return bytes(made)


def _change_number(made: bytearray, place: int, dice: Dice) -> None:
    """Another number in place of the next one."""
    digits = b"0123456789"
    start = next((at for at in range(place, min(len(made), place + 400)) if made[at] in digits), None)
    if start is not None:
        end = next((at for at in range(start, len(made)) if made[at] not in digits), len(made))
        made[start:end] = str(dice.choice([0, 1, -1, 2**31, 2**63, dice.randrange(10**6), 10**40])).encode()
