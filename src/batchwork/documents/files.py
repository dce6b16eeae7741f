"""Path or bytes -> Document: the entry of this room; every refusal names the file.

Text and images are read here. What needs a parser is read in a process of its own, whose time and memory have limits.
"""

import base64
import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from batchwork.core.errors import ConfigError, DocumentError
from batchwork.documents.content import DOCX, HTML, PDF, decode_text, is_pdf, media_type_of, text_type_of
from batchwork.documents.document import PDF_LIBRARY_MISSING, Document, DocumentLimits, digest_of
from batchwork.documents.frames import Task
from batchwork.documents.picture import picture_request
from batchwork.documents.pool import ReaderPool
from batchwork.documents.reader_process import pdf_library

DEFAULT_LIMITS = DocumentLimits()
_PARSED = {PDF: "pdf", DOCX: "docx", HTML: "html"}
_POOL = ReaderPool()
_CHUNK = 1 << 20
_OTHER_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_document(
    source: str | os.PathLike[str] | bytes, *, name: str | None = None, limits: DocumentLimits = DEFAULT_LIMITS
) -> Document:
    """Read one file. A PDF without a text layer and an image have an empty text, and say so in `has_text`.

    Raises:
        DocumentError: it is missing, empty, encrypted, damaged, too large, of a kind we cannot read, or reading it
            takes more than its limits allow.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        data, called = bytes(source), name or "the document"
    else:
        called = name or path_text(source)
        data = load_file(source, called=called, limits=limits)
    _refuse_large(len(data), called, limits)
    try:
        return _read(data, called if name is None and not isinstance(source, bytes) else name or "", limits)
    except DocumentError as error:
        raise DocumentError(f"{called} {error}") from error
    except MemoryError as error:
        raise DocumentError(f"{called} cannot be read: there is not enough memory for its {len(data)} bytes") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A page as a picture, with its characters: each with its left, top, right and bottom in pixels."""

    width: int
    height: int
    png: bytes
    glyphs: tuple[tuple[str, float, float, float, float], ...]


def draw_page(data: bytes, page: int) -> PagePicture:
    """A page of a PDF, counted from 1, as a picture; a DocumentError says why there is none."""
    content = picture_request(page, data)
    text, _ = _POOL.read(Task("picture", DEFAULT_LIMITS, len(content)), content)
    drawn = json.loads(text)
    glyphs = tuple((glyph[0], *map(float, glyph[1:5])) for glyph in drawn["glyphs"])
    return PagePicture(width=drawn["width"], height=drawn["height"], png=base64.b64decode(drawn["png"]), glyphs=glyphs)


def check_libraries(sources: Iterable[str | os.PathLike[str] | bytes]) -> None:
    """Refuse documents that need a library which is not installed: one ConfigError instead of one failure for each."""
    if pdf_library() is not None:
        return
    for source in sources:
        if is_pdf(source if isinstance(source, bytes) else _head(source)):
            called = "one of the documents" if isinstance(source, bytes) else path_text(source)
            raise ConfigError(f"{called} is a PDF, {PDF_LIBRARY_MISSING}; nothing was sent")


def _head(path: str | os.PathLike[str]) -> bytes:
    """The beginning of a file; nothing of one that cannot be read, which is that item's own failure."""
    with suppress(OSError, ValueError), open(path, "rb", buffering=0, opener=_open_at_once) as file:
        return os.read(file.fileno(), _CHUNK)
    return b""


def load_file(
    source: str | os.PathLike[str], *, called: str | None = None, limits: DocumentLimits = DEFAULT_LIMITS
) -> bytes:
    """The bytes of a file, whose kind and size are looked at before anything of it is read; else a DocumentError."""
    called = called or path_text(source)
    try:
        _refuse_other_kinds(Path(source).stat(), called)  # before it is opened, which some devices take for a command
        with open(source, "rb", buffering=0, opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            _refuse_other_kinds(status, called)
            _refuse_large(status.st_size, called, limits)
            return _read_whole(file.fileno(), status.st_size, called, limits)
    except DocumentError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: a path with a zero in it
        raise DocumentError(f"{called} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except MemoryError as error:
        raise DocumentError(f"{called} cannot be read: there is not enough memory for it") from error


def path_text(path: str | os.PathLike[str]) -> str:
    """A path as text that can be written down; what of it is no UTF-8 is shown by its number."""
    return os.fsdecode(path).encode("utf-8", "backslashreplace").decode()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)


def _read_whole(file: int, expected: int, called: str, limits: DocumentLimits) -> bytes:
    """All there is; a file that grows while it is read, or never ends, is left at the limit."""
    pieces, size = [], 0
    while piece := os.read(file, max(_CHUNK, min(expected, limits.max_bytes) - size) + 1):
        size += len(piece)
        _refuse_large(size, called, limits)
        pieces.append(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _refuse_other_kinds(status: os.stat_result, called: str) -> None:
    for is_kind, what in _OTHER_KINDS:
        if is_kind(status.st_mode):
            raise DocumentError(f"{called} cannot be read: it is {what}, not a file")


def _refuse_large(size: int, called: str, limits: DocumentLimits) -> None:
    if size > limits.max_bytes:
        raise DocumentError(f"{called} has {size} bytes, more than {limits.max_bytes}; raise max_bytes to read it")


def _read(data: bytes, name: str, limits: DocumentLimits) -> Document:
    if not data or data.isspace():
        raise DocumentError("is empty")
    kind = media_type_of(data)
    is_image = kind.startswith("image/")
    text = ""
    pages: tuple[int, ...] = ()
    if kind in _PARSED:
        text, pages = _POOL.read(Task(_PARSED[kind], limits, len(data)), data)
    elif not is_image:
        text = decode_text(data)
        kind = text_type_of(text)
    limits.check_length(len(text))
    if not (is_image or kind == PDF) and not text.strip():
        raise DocumentError("is empty: there is no text in it")
    return Document(text=text, pages=pages, digest=digest_of(data), media_type=kind, data=data, name=name)
