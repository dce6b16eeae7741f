"""A document: its text, where its pages start, and the bytes it came from; and how large it may be.

Offsets are code points of `text` everywhere. A document is immutable, so an offset that was true once stays true.
"""

import hashlib
from bisect import bisect_right
from dataclasses import dataclass, field

from batchwork.core.errors import ConfigError, DocumentError

PDF_LIBRARY_MISSING = "and pypdfium2 is not installed: pip install 'batchwork[documents]'"
_LEAST_MEMORY_MB = 64  # a reader that has read nothing yet takes half of it
_LONGEST_S = 10_000_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLimits:
    """How large a document may be, and what reading it may take, before it is refused."""

    max_bytes: int = 100_000_000
    max_pages: int = 2_000
    max_characters: int = 20_000_000
    max_memory_mb: int = 512
    max_cpu_s: float = 120.0
    max_wall_s: float = 240.0

    def __post_init__(self) -> None:
        # Not by core's check of whole numbers: a reader process imports this module, and should import little more.
        for name in ("max_bytes", "max_pages", "max_characters", "max_memory_mb"):
            value, least = getattr(self, name), _LEAST_MEMORY_MB if name == "max_memory_mb" else 1
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(f"{name} must be a whole number of at least {least}, got {value!r}")
        for name in ("max_cpu_s", "max_wall_s"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LONGEST_S:
                raise ConfigError(f"{name} must be a number of seconds above 0, got {value!r}")

    def check_length(self, characters: int) -> None:
        """Raises a DocumentError about a text that is too long."""
        if characters > self.max_characters:
            raise DocumentError(f"has more than {self.max_characters} characters; raise max_characters to read it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file as the library sees it.

    `pages` holds the offset in `text` at which each page starts; it is empty when the format has no pages. `data` is
    the file itself, for backends that take it natively; `digest` is its SHA-256.
    """

    text: str
    pages: tuple[int, ...] = ()
    digest: str
    media_type: str
    data: bytes = field(repr=False)
    name: str = ""

    @property
    def is_image(self) -> bool:
        """Whether this is a picture: sent natively, without text and therefore without citations."""
        return self.media_type.startswith("image/")

    @property
    def has_text(self) -> bool:
        """Whether there is text to send and to cite; false for images and for scans without a text layer."""
        return bool(self.text) and not self.text.isspace()

    def page_of(self, offset: int) -> int | None:
        """The page, counted from 1, on which this offset of `text` lies; None when the format has no pages."""
        if not self.pages:
            return None
        return max(1, bisect_right(self.pages, offset))

    def page_span(self, page: int) -> tuple[int, int]:
        """Start and end offset in `text` of a page counted from 1; the whole text when there are no pages."""
        if not self.pages:
            return 0, len(self.text)
        if not 1 <= page <= len(self.pages):
            raise IndexError(f"page {page} of {len(self.pages)}")
        end = self.pages[page] if page < len(self.pages) else len(self.text)
        return self.pages[page - 1], end


def text_document(text: str, *, pages: tuple[int, ...] = ()) -> Document:
    """A document out of text one already has, taken as it is."""
    data = text.encode("utf-8", errors="surrogatepass")
    return Document(text=text, pages=pages, digest=digest_of(data), media_type="text/plain", data=data)


def digest_of(data: bytes) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
