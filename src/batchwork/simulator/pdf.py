"""Take the text out of a PDF that was sent as it is, page by page."""

import base64
import binascii

from batchwork.simulator.errors import Refused


def pages_of(data: str) -> tuple[str, ...]:
    """The text of each page of a base64 PDF.

    Raises:
        Refused: it is no PDF, or this installation cannot read one.
    """
    try:
        import pypdfium2  # noqa: PLC0415 - an optional part; only a native PDF needs it
    except ImportError:
        raise Refused(400, "this simulator cannot read PDFs: install batchwork[documents]") from None
    try:
        pdf = pypdfium2.PdfDocument(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError, pypdfium2.PdfiumError):
        raise Refused(400, "messages: The PDF specified was not valid.") from None
    try:
        return tuple(page.get_textpage().get_text_range().replace("\r\n", "\n") for page in pdf)
    finally:
        pdf.close()
