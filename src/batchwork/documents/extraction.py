"""Bytes of a known kind -> text and page starts: what the processes that read documents do."""

from batchwork.documents.document import DocumentLimits
from batchwork.documents.docx import docx_text
from batchwork.documents.html import html_text
from batchwork.documents.pdf import pdf_text
from batchwork.documents.plain import decode_text


def extract(kind: str, data: bytes, limits: DocumentLimits) -> tuple[str, tuple[int, ...]]:
    """The text, and where its pages start; a kind is one of `frames.KINDS`.

    Raises:
        DocumentError: it cannot be read, or is too large.
    """
    if kind == "pdf":
        return pdf_text(data, limits)
    if kind == "docx":
        return docx_text(data, limits), ()
    return html_text(decode_text(data), limits), ()
