"""Documents: path or bytes -> text with exact offsets and page numbers, by content and never by name."""

from batchwork.core.errors import DocumentError
from batchwork.documents.document import Document, DocumentLimits, text_document
from batchwork.documents.read import read_document

__all__ = ["Document", "DocumentError", "DocumentLimits", "read_document", "text_document"]
