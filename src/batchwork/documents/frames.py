"""The bytes that go between a reader of documents and the process that asks it: fixed headers, then the content.

A request carries the kind of the file, its limits and its bytes. An answer carries the text with its page starts, or
why there is none. Both sides import this and nothing else of each other.
"""

import struct
from array import array
from dataclasses import dataclass

from batchwork.documents.document import DocumentLimits

READY = b"+"  # the first byte of a reader that has started
TEXT, REFUSED, OUT_OF_MEMORY = b"t", b"r", b"m"
KINDS = ("pdf", "docx", "html")
_REQUEST = struct.Struct("!BQQQdQ")
_ANSWER = struct.Struct("!cBdQQ")
REQUEST_SIZE, ANSWER_SIZE = _REQUEST.size, _ANSWER.size
_LARGEST = 2**62
_PAGE_START = 8  # bytes
_LONGEST_REFUSAL = 2_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a reader is asked for, without the bytes of the file."""

    kind: str
    limits: DocumentLimits
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHead:
    """What an answer announces: how it ended, how long it is, and whether its reader goes on."""

    status: bytes
    ends: bool
    cpu_s: float  # of the reader, since it started
    pages: int
    size: int


def request_head(task: Task) -> bytes:
    """The bytes that go before those of the file."""
    limits = task.limits
    counts = (limits.max_pages, limits.max_characters, limits.max_memory_mb)
    return _REQUEST.pack(KINDS.index(task.kind), *(min(n, _LARGEST) for n in counts), limits.max_cpu_s, task.size)


def task_of(head: bytes) -> Task:
    """A request as the reader sees it."""
    kind, pages, characters, memory_mb, cpu_s, size = _REQUEST.unpack(head)
    limits = DocumentLimits(max_pages=pages, max_characters=characters, max_memory_mb=memory_mb, max_cpu_s=cpu_s)
    return Task(kind=KINDS[kind], limits=limits, size=size)


def answer(status: bytes, text: str, pages: tuple[int, ...] = (), *, ends: bool, cpu_s: float) -> bytes:
    """A whole answer; half a character, which nobody could write down, becomes a replacement mark."""
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    return _ANSWER.pack(status, ends, cpu_s, len(pages), len(content)) + array("Q", pages).tobytes() + content


def answer_head(head: bytes) -> AnswerHead:
    """What the first bytes of an answer announce."""
    status, ends, cpu_s, pages, size = _ANSWER.unpack(head)
    return AnswerHead(status=status, ends=bool(ends), cpu_s=cpu_s, pages=pages, size=size)


def content_size(head: AnswerHead, limits: DocumentLimits) -> int | None:
    """How many bytes follow; None for more than the limits allow, which no reader of ours sends."""
    if head.status == TEXT:
        allowed = head.pages <= limits.max_pages and head.size <= 4 * limits.max_characters
    else:
        allowed = head.pages == 0 and head.size <= 4 * _LONGEST_REFUSAL
    return _PAGE_START * head.pages + head.size if allowed else None


def content_of(head: AnswerHead, content: bytes) -> tuple[str, tuple[int, ...]]:
    """The text and the starts of its pages."""
    split = _PAGE_START * head.pages
    return content[split:].decode(), tuple(array("Q", content[:split]))


def shortened(reason: str) -> str:
    """A reason that fits into an answer."""
    return reason if len(reason) <= _LONGEST_REFUSAL else reason[: _LONGEST_REFUSAL - 4] + " ..."
