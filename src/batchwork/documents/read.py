"""Path or bytes -> Document. The one door of this room; every refusal names the file."""

import os
from pathlib import Path

from batchwork.core.errors import DocumentError
from batchwork.documents.document import Document, DocumentLimits, digest_of
from batchwork.documents.docx import docx_text
from batchwork.documents.html import html_text
from batchwork.documents.pdf import pdf_text
from batchwork.documents.plain import decode_text
from batchwork.documents.sniff import DOCX, HTML, PDF, media_type_of, text_type_of

DEFAULT_LIMITS = DocumentLimits()


def read_document(
    source: str | os.PathLike[str] | bytes, *, name: str | None = None, limits: DocumentLimits = DEFAULT_LIMITS
) -> Document:
    """Read one file. A PDF without a text layer and an image have an empty text, and say so in `has_text`.

    Raises:
        DocumentError: it is missing, empty, encrypted, damaged, too large or of a kind we cannot read.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        data, called = bytes(source), name or "the document"
    else:
        called = name or os.fspath(source)
        data = load_file(source, called=called, limits=limits)
    _refuse_large(len(data), called, limits)
    try:
        return _read(data, called if name is None and not isinstance(source, bytes) else name or "", limits)
    except DocumentError as error:
        raise DocumentError(f"{called} {error}") from error


def load_file(
    source: str | os.PathLike[str], *, called: str | None = None, limits: DocumentLimits = DEFAULT_LIMITS
) -> bytes:
    """The bytes of a file, whose size is looked at before anything of it is read.

    Raises:
        DocumentError: it cannot be read, or is too large.
    """
    path, called = Path(source), called or os.fspath(source)
    try:
        _refuse_large(path.stat().st_size, called, limits)
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{called} cannot be read: {error.strerror or error}") from error


def _refuse_large(size: int, called: str, limits: DocumentLimits) -> None:
    if size > limits.max_bytes:
        raise DocumentError(f"{called} has {size} bytes, more than {limits.max_bytes}; raise max_bytes to read it")


def _read(data: bytes, name: str, limits: DocumentLimits) -> Document:
    if not data.strip():
        raise DocumentError("is empty")
    kind = media_type_of(data)
    pages: tuple[int, ...] = ()
    if kind == PDF:
        text, pages = pdf_text(data, limits)
    elif kind.startswith("image/"):
        text = ""
    else:
        if kind == DOCX:
            text = docx_text(data, limits)
        elif kind == HTML:
            text = html_text(decode_text(data))
        else:
            text = decode_text(data)
            kind = text_type_of(text)
        if len(text) > limits.max_characters:
            raise DocumentError(f"has {len(text)} characters, more than {limits.max_characters}; raise max_characters")
        if not text.strip():
            raise DocumentError("is empty: there is no text in it")
    return Document(text=text, pages=pages, digest=digest_of(data), media_type=kind, data=data, name=name)
