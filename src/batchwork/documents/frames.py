"""The bytes between a process that reads documents and the one that asks it: fixed headers, then the content.

A request carries the kind of the file, its limits and its bytes. A response carries the text with its page starts, or
why there is none. Both sides import this and nothing else of each other.
"""

import struct
from array import array
from typing import NamedTuple

from batchwork.documents.document import DocumentLimits

READY = b"+"  # the first byte of a reader that has started
TEXT, REFUSED, OUT_OF_MEMORY = b"t", b"r", b"m"
KINDS = ("pdf", "docx", "html", "picture")
_REQUEST = struct.Struct("!BQQQdQ")
_RESPONSE = struct.Struct("!cBdQQ")
REQUEST_SIZE, RESPONSE_SIZE = _REQUEST.size, _RESPONSE.size
_LARGEST = 2**62
_PAGE_START = 8  # bytes
_LONGEST_REFUSAL = 2_000  # characters


class Task(NamedTuple):
    """A request without the bytes of the file."""

    kind: str
    limits: DocumentLimits
    size: int


class ResponseHead(NamedTuple):
    """The beginning of a response: how it ended, how long it is, and whether its reader goes on."""

    status: bytes
    ends: int
    cpu_s: float  # of the reader, since it started
    pages: int
    text_size: int

    @property
    def content_size(self) -> int:
        """How many bytes follow."""
        return _PAGE_START * self.pages + self.text_size


def request_head(task: Task) -> bytes:
    """The bytes that go before those of the file."""
    limits = task.limits
    counts = (limits.max_pages, limits.max_characters, limits.max_memory_mb)
    return _REQUEST.pack(KINDS.index(task.kind), *(min(n, _LARGEST) for n in counts), limits.max_cpu_s, task.size)


def task_of(head: bytes) -> Task:
    """A request as the reader sees it."""
    kind, pages, characters, memory_mb, cpu_s, size = _REQUEST.unpack(head)
    limits = DocumentLimits(max_pages=pages, max_characters=characters, max_memory_mb=memory_mb, max_cpu_s=cpu_s)
    return Task(KINDS[kind], limits, size)


def response(status: bytes, text: str, pages: tuple[int, ...] = (), *, ends: bool, cpu_s: float) -> bytes:
    """A whole response; half a character, which nobody could write down, becomes a replacement mark."""
    if status == REFUSED and len(text) > _LONGEST_REFUSAL:
        text = text[: _LONGEST_REFUSAL - 4] + " ..."
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    return _RESPONSE.pack(status, ends, cpu_s, len(pages), len(content)) + array("Q", pages).tobytes() + content


def response_head(raw: bytes, limits: DocumentLimits) -> ResponseHead | None:
    """The beginning of a response; None for one of more than the limits allow, which no reader of ours sends."""
    head = ResponseHead(*_RESPONSE.unpack(raw))
    most_pages, most = (limits.max_pages, limits.max_characters) if head.status == TEXT else (0, _LONGEST_REFUSAL)
    return head if head.pages <= most_pages and head.text_size <= 4 * most else None


def content_of(head: ResponseHead, content: bytes) -> tuple[str, tuple[int, ...]]:
    """The text and the starts of its pages."""
    split = _PAGE_START * head.pages
    return content[split:].decode(), tuple(array("Q", content[:split]))
