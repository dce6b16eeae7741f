"""Documents: path or bytes -> text with exact offsets and page numbers, by content and never by name."""

from batchwork.core.errors import DocumentError
from batchwork.documents.document import Document, DocumentLimits, text_document
from batchwork.documents.files import (
    DEFAULT_LIMITS,
    PagePicture,
    check_libraries,
    draw_page,
    load_file,
    path_text,
    read_document,
)
