"""Decide what a file is by its content. Its name is never asked: half of the names in the world are wrong."""

import re

from batchwork.core.errors import DocumentError

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HTML = "text/html"
MARKDOWN = "text/markdown"
PLAIN = "text/plain"

_REFUSED = (
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "is an old Office file or an encrypted one; save it without a password as DOCX or PDF",
    ),
    (b"{\\rtf", "is RTF; save it as DOCX, PDF or text"),
    (b"\x1f\x8b", "is gzip-compressed; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it first"),
    (b"Rar!", "is a RAR archive; unpack it first"),
    (b"II*\x00", "is a TIFF image, which providers do not take; convert it to PNG or PDF"),
    (b"MM\x00*", "is a TIFF image, which providers do not take; convert it to PNG or PDF"),
)
_HTML_TAG = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|div|p|table|h[1-6]|span|ul|ol|article|section|main|header|form)\b",
    re.IGNORECASE,
)
_XML_DECLARATION = re.compile(rb"<\?xml[^>]*>", re.IGNORECASE)
_MARKDOWN = re.compile(
    r"^(?:#{1,6} \S|\|?[ \t]{0,80}:?-{3,}:?[ \t]{0,80}\||```|[-*] \[[ xX]\] )"
    r"|\[[^\]\n]{1,300}\]\([^)\n]{1,2000}\)|\*\*\S[^*\n]{0,2000}\*\*",
    re.MULTILINE,
)
_SEARCHED = 1024


def media_type_of(data: bytes) -> str:
    """The media type of a file that is not empty; `text/plain` stands for any text without a form of its own.

    Raises:
        DocumentError: it is something we know we cannot read; the message says what, without the file's name.
    """
    head = data[:_SEARCHED]
    if b"%PDF-" in head:
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return DOCX  # or another archive: the reader of DOCX says so
    image = _image_type(data)
    if image is not None:
        return image
    for magic, why in _REFUSED:
        if head.startswith(magic):
            raise DocumentError(why)
    return HTML if _starts_as_html(data[: 8 * _SEARCHED]) else PLAIN


def _starts_as_html(head: bytes) -> bool:
    """Whether the first thing after declaration and comments is a tag of HTML."""
    head = head.lstrip(b"\xef\xbb\xbf")
    at = len(head) - len(head.lstrip())
    declaration = _XML_DECLARATION.match(head, at)
    at = at if declaration is None else declaration.end()
    while True:
        at += len(head[at:]) - len(head[at:].lstrip())
        if not head.startswith(b"<!--", at):
            return _HTML_TAG.match(head, at) is not None
        end = head.find(b"-->", at + 4)
        if end < 0:
            return False
        at = end + 3


def _image_type(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        if data[12:16] != b"IHDR" or b"IEND" not in data[-64:]:
            raise DocumentError("is a damaged PNG image: it is cut off")
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith(b"BM") and data[6:10] == b"\x00\x00\x00\x00":
        raise DocumentError("is a BMP image, which providers do not take; convert it to PNG or PDF")
    return None


def text_type_of(text: str) -> str:
    """Markdown or plain: two of its signs make it Markdown. Both are read the same way."""
    signs = _MARKDOWN.finditer(text[:20_000])
    return MARKDOWN if next(signs, None) is not None and next(signs, None) is not None else PLAIN
