"""PDF -> text with page starts, by pypdfium2.

pdfium is not thread-safe: this is for a process that reads one document at a time. What the characters mean as lines is
decided in `page_layout`.
"""

import ctypes
from typing import Any

from batchwork.core.errors import DocumentError
from batchwork.documents.document import PDF_LIBRARY_MISSING, DocumentLimits
from batchwork.documents.page_layout import Glyph, page_text

_PASSWORD = 4  # FPDF_ERR_PASSWORD
_PAGE_BREAK = "\n\n"
_HYPHENS = {0x02: "-", 0xFFFE: "-", 0xAD: "-"}  # what pdfium makes of a hyphen at a line's end
_TURNED = 0.2  # radians; beyond this a character does not stand on a horizontal line


def pdf_text(data: bytes, limits: DocumentLimits) -> tuple[str, tuple[int, ...]]:
    """The text and the offset of each page's start, empty for a scan; a DocumentError says why there is none."""
    try:
        import pypdfium2  # noqa: PLC0415 - an optional dependency, needed for PDFs alone
    except ImportError as error:
        raise DocumentError(f"is a PDF, {PDF_LIBRARY_MISSING}") from error
    try:
        file = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        cause = _error_of(data, pypdfium2)
        if getattr(cause, "err_code", None) == _PASSWORD or "password" in str(cause).lower():
            raise DocumentError("is encrypted; save it without a password") from cause
        raise DocumentError(f"is damaged: {cause}") from cause
    try:
        return _all_pages(file, pypdfium2, limits)
    finally:
        file.close()


def _error_of(data: bytes, binding: Any) -> Exception | None:
    """What is wrong with a file. Some leave the last error as the file before had it, so a known one goes first."""
    error: Exception | None = None
    for tried in (b"%PDF-", data):
        try:
            binding.PdfDocument(tried).close()
        except binding.PdfiumError as raised:
            error = raised
    return error


def _all_pages(file: Any, binding: Any, limits: DocumentLimits) -> tuple[str, tuple[int, ...]]:
    count = len(file)
    if count == 0:
        raise DocumentError("is a PDF without pages")
    if count > limits.max_pages:
        raise DocumentError(f"has {count} pages, more than {limits.max_pages}; split it or raise max_pages")
    pieces: list[str] = []
    starts: list[int] = []
    size = 0
    for index in range(count):
        try:
            text = _page(file[index], binding.raw, limits, size)
        except binding.PdfiumError as error:
            raise DocumentError(f"is damaged: page {index + 1} cannot be read: {error}") from error
        starts.append(size)
        pieces.append(text)
        size += len(text) + len(_PAGE_BREAK)
        limits.check_length(size)
    text = _PAGE_BREAK.join(pieces)
    if not text.strip():
        return "", (0,) * count
    return text, tuple(starts)


def _page(page: Any, pdfium: Any, limits: DocumentLimits, before: int) -> str:
    """The text of a page that so many characters go before; as pdfium orders it when the page is turned."""
    textpage = page.get_textpage()
    try:
        count = pdfium.FPDFText_CountChars(textpage)
        limits.check_length(before + count)
        if _is_turned(textpage, count, pdfium):
            return _unstuck(textpage.get_text_range())
        return page_text(glyphs_of(textpage, count, pdfium))
    finally:
        textpage.close()
        page.close()


def glyphs_of(textpage: Any, count: int, pdfium: Any) -> list[Glyph]:
    """The characters of a page with their boxes, in drawing order."""
    box = pdfium.FS_RECTF()
    reference, handle = ctypes.byref(box), textpage.raw
    unicode_of, box_of = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox
    glyphs: list[Glyph] = []
    high = 0
    for position in range(count):
        code = unicode_of(handle, position)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0xFFFD
            high = 0
        if code in (0, 0x0A, 0x0D) or (code == 0x20 and pdfium.FPDFText_IsGenerated(handle, position) == 1):
            continue
        box_of(handle, position, reference)
        char = _HYPHENS.get(code) or (chr(code) if code <= 0x10FFFF else "\ufffd")
        glyphs.append((char, box.left, box.right, box.bottom, box.top))
    return glyphs


def _is_turned(textpage: Any, count: int, pdfium: Any) -> bool:
    sampled = range(0, count, max(1, count // 40))
    angles = [pdfium.FPDFText_GetCharAngle(textpage, position) for position in sampled]
    turned = sum(1 for angle in angles if _TURNED < angle < 2 * 3.14159 - _TURNED)
    return turned > len(angles) / 2


def _unstuck(text: str) -> str:
    """Text as pdfium orders it, with our line ends."""
    for code, hyphen in _HYPHENS.items():
        text = text.replace(chr(code), hyphen)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")
