"""Decides what a file is by its content, and the encoding of its text.

Its name is never asked: half of the names in the world are wrong.
"""

import codecs
import re

from batchwork.core.errors import DocumentError

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HTML = "text/html"
MARKDOWN = "text/markdown"
PLAIN = "text/plain"

_OLD_OFFICE = "is an old Office file or an encrypted one; save it without a password as DOCX or PDF"
_REFUSED = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLD_OFFICE),
    (b"{\\rtf", "is RTF; save it as DOCX, PDF or text"),
    (b"\x1f\x8b", "is gzip-compressed; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it first"),
    (b"Rar!", "is a RAR archive; unpack it first"),
    (b"II*\x00", "is a TIFF image, which providers do not take; convert it to PNG or PDF"),
    (b"MM\x00*", "is a TIFF image, which providers do not take; convert it to PNG or PDF"),
)
_IMAGES = ((b"\xff\xd8\xff", "image/jpeg"), (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"))
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
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_BINARY_SHARE = 0.02


def media_type_of(data: bytes) -> str:
    """The media type of a file that is not empty; a DocumentError for one that we know and cannot read."""
    head = data[:_SEARCHED]
    if is_pdf(head):
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


def is_pdf(data: bytes) -> bool:
    """Whether a file that begins so is a PDF."""
    return b"%PDF-" in data[:_SEARCHED]


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
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith(b"BM") and data[6:10] == b"\x00\x00\x00\x00":
        raise DocumentError("is a BMP image, which providers do not take; convert it to PNG or PDF")
    return next((kind for magic, kind in _IMAGES if data.startswith(magic)), None)


def text_type_of(text: str) -> str:
    """Markdown or plain: two of its signs make it Markdown. Both are read the same way."""
    signs = _MARKDOWN.finditer(text[:20_000])
    return MARKDOWN if next(signs, None) is not None and next(signs, None) is not None else PLAIN


def decode_text(data: bytes) -> str:
    """The text of a file in UTF-8, UTF-16 or UTF-32, else in Windows-1252; a DocumentError when it is no text."""
    text = _decode(data)
    sample = text[:50_000]
    if len(_CONTROLS.findall(sample)) > _BINARY_SHARE * len(sample):
        raise DocumentError("is a binary file of a kind we do not know; PDF, DOCX, HTML, text and images can be read")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise DocumentError(
                    f"is damaged: its mark says {encoding}, its bytes do not: {error.reason}"
                ) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and text.count("\x00", 0, 2_000) < len(text[:2_000]) / 4:
        return text
    for encoding, zeros in (("utf-16-le", data[1:2_000:2]), ("utf-16-be", data[0:2_000:2])):
        if zeros.count(0) > len(zeros) * 0.6:
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                continue
    return text or data.decode("cp1252", errors="replace")
