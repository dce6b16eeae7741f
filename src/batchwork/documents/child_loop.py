"""The loop of a process that reads documents: one request after the other on its input, a response each on its output.

The process that asks watches time and memory from outside; the limits set here are the system's own behind that, and
keep a reader from leaving files.
"""

import math
import os
import resource
import time

from batchwork.core.errors import DocumentError
from batchwork.documents.content import decode_text
from batchwork.documents.document import DocumentLimits
from batchwork.documents.docx import docx_text
from batchwork.documents.frames import OUT_OF_MEMORY, READY, REFUSED, REQUEST_SIZE, TEXT, Task, response, task_of
from batchwork.documents.html import html_text
from batchwork.documents.pdf import pdf_text
from batchwork.documents.picture import picture_json
from batchwork.documents.usage import usage_of

_RETIRED_ABOVE = 120_000_000  # bytes; a reader that keeps more than that is not asked again
_BACKSTOP = 2  # the system refuses memory at twice the limit; at the limit itself we are ended by name
_MEGABYTE = 1_000_000


def serve(source: int, sink: int) -> None:
    """Answer until the input ends, or until this process has grown too large to be asked again."""
    stream = os.fdopen(source, "rb", closefd=False)
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(kind, (0, 0))
    os.write(sink, READY)
    while len(head := stream.read(REQUEST_SIZE)) == REQUEST_SIZE:
        task = task_of(head)
        _limit(task)
        status, text, pages = _read(task, stream.read(task.size))
        ends = status == OUT_OF_MEMORY or _has_grown()
        rest = memoryview(response(status, text, pages, ends=ends, cpu_s=time.process_time()))
        while rest:
            rest = rest[os.write(sink, rest) :]
        if ends:
            return


def extract(kind: str, data: bytes, limits: DocumentLimits) -> tuple[str, tuple[int, ...]]:
    """The text, and where its pages start, or a DocumentError; a kind is one of `frames.KINDS`."""
    if kind == "pdf":
        return pdf_text(data, limits)
    if kind == "docx":
        return docx_text(data, limits), ()
    if kind == "picture":
        return picture_json(data, limits), ()
    return html_text(decode_text(data), limits), ()


def _read(task: Task, data: bytes) -> tuple[bytes, str, tuple[int, ...]]:
    try:
        return TEXT, *extract(task.kind, data, task.limits)
    except DocumentError as error:
        return REFUSED, str(error), ()
    except MemoryError:
        return OUT_OF_MEMORY, "", ()
    except Exception as error:  # the edge of a process: whatever a file does to its reader is that file's error
        return REFUSED, f"is damaged: {type(error).__name__}: {error}", ()


def _limit(task: Task) -> None:
    memory = task.limits.max_memory_mb * _MEGABYTE * _BACKSTOP
    seconds = math.ceil(time.process_time() + task.limits.max_cpu_s) + 1
    for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, seconds)):
        hard = resource.getrlimit(kind)[1]
        try:
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
        except (ValueError, OSError):
            continue  # not every system takes every limit; the process that asks watches as well


def _has_grown() -> bool:
    usage = usage_of(os.getpid())
    return usage is not None and usage.memory > _RETIRED_ABOVE
