"""One process that reads documents, seen from the process that asks it.

Enforces its limits: while it works, its time and memory are looked at from outside, and one that is beyond them is
ended. A reader that has failed in any way is not asked again.
"""

import importlib.util
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from batchwork.clock import stopwatch
from batchwork.core.errors import DocumentError
from batchwork.documents.document import DocumentLimits
from batchwork.documents.frames import (
    OUT_OF_MEMORY,
    READY,
    REFUSED,
    RESPONSE_SIZE,
    Task,
    content_of,
    request_head,
    response_head,
)
from batchwork.documents.usage import usage_of
from batchwork.settings import library_paths

_ENTRY = Path(__file__).with_name("child.py")
_LOOK_EVERY_S = 0.02
_START_S = 30.0
_CHUNK = 1 << 20
_MEGABYTE = 1_000_000
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class ReaderKilled(Exception):
    """Somebody else ended the process; the document has nothing to do with it, as far as one can know."""


class _Ended(Exception):
    """The process has closed its end."""


class ReaderProcess:
    """A process that reads one document after the other; a DocumentError when none starts. Not for two threads."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own entry, with the interpreter we run in
                _command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=library_paths(),
                bufsize=0,
                process_group=0,  # Ctrl-C in a terminal is for us, and we end it
            )
        except OSError as error:
            raise DocumentError(f"cannot be read: no process starts for it: {error.strerror or error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._pipes = (self._process.stdin, self._process.stdout)
        self._sink, self._source = (pipe.fileno() for pipe in self._pipes)
        self._cpu_s = 0.0
        self.is_usable = True
        os.set_blocking(self._sink, False)
        os.set_blocking(self._source, False)
        try:
            self._receive(len(READY), _deadline())
        except _Ended:
            self.end()
            raise DocumentError(f"cannot be read: {sys.executable} does not start as its reader") from None
        except BaseException:
            self.end()
            raise

    def ask(self, task: Task, data: bytes) -> tuple[str, tuple[int, ...]]:
        """The text of a document and where its pages start; a DocumentError or ReaderKilled says why there is none."""
        self.is_usable = False  # until it has answered in full
        look = _watch(self._process.pid, task.limits, self._cpu_s)
        try:
            self._send(request_head(task), look)
            self._send(data, look)
            head = response_head(self._receive(RESPONSE_SIZE, look), task.limits)
            if head is None:
                raise DocumentError("makes its reader send more than its limits allow; it is damaged")
            text, pages = content_of(head, self._receive(head.content_size, look))
        except _Ended:
            raise self._obituary(task.limits) from None
        self._cpu_s = head.cpu_s
        self.is_usable = not head.ends
        if head.status == OUT_OF_MEMORY:
            raise DocumentError(_beyond_memory(task.limits))
        if head.status == REFUSED:
            raise DocumentError(text)
        return text, pages

    def is_alive(self) -> bool:
        """Whether the process still waits for a document."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the process and collect it. It has nothing to lose."""
        self.is_usable = False
        self._process.kill()
        self._process.wait()
        self._close()

    def forget(self) -> None:
        """Let go of it in a copy of this process, which did not start it and must not end it."""
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for pipe in self._pipes:
            pipe.close()

    def _send(self, data: bytes, look: Callable[[], None]) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._sink, rest[:_CHUNK]) :]
            except BlockingIOError:
                _wait(self._sink, select.POLLOUT, look)
            except BrokenPipeError:
                raise _Ended from None

    def _receive(self, size: int, look: Callable[[], None]) -> bytes:
        received = bytearray()
        while len(received) < size:
            try:
                chunk = os.read(self._source, min(size - len(received), _CHUNK))
            except BlockingIOError:
                _wait(self._source, select.POLLIN, look)
                continue
            if not chunk:
                raise _Ended
            received += chunk
        return bytes(received)

    def _obituary(self, limits: DocumentLimits) -> Exception:
        """Why a process that should have answered has ended."""
        self._process.kill()  # its end of the pipe is closed, so it is ending anyway
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            return DocumentError(_beyond_cpu(limits))
        if status in [-number for number in _FROM_OUTSIDE]:
            return ReaderKilled(f"signal {-status}")
        if status == -signal.SIGABRT:  # what a library does that is refused memory before anybody has seen it grow
            return DocumentError(f"makes its reader give up (SIGABRT): it {_beyond_memory(limits)}, or it is damaged")
        if status < 0:
            return DocumentError(f"makes its reader crash ({signal.Signals(-status).name}); it is damaged")
        return DocumentError(f"makes its reader end without an answer (status {status}); it is damaged")


def _deadline() -> Callable[[], None]:
    """A look at a process that starts; raises when that takes too long."""
    elapsed = stopwatch()

    def look() -> None:
        if elapsed() > _START_S:
            raise _Ended

    return look


def _watch(pid: int, limits: DocumentLimits, cpu_before_s: float) -> Callable[[], None]:
    """A look at a process that works on a document, to be taken again and again; raises when a limit is broken."""
    elapsed = stopwatch()

    def look() -> None:
        if elapsed() > limits.max_wall_s:
            raise DocumentError(f"is not read after {limits.max_wall_s:g} s; raise max_wall_s to give it more")
        usage = usage_of(pid)
        if usage is None:
            return
        if usage.cpu_s - cpu_before_s > limits.max_cpu_s:
            raise DocumentError(_beyond_cpu(limits))
        if usage.memory > limits.max_memory_mb * _MEGABYTE:
            raise DocumentError(_beyond_memory(limits))

    return look


def _beyond_cpu(limits: DocumentLimits) -> str:
    return f"takes more than {limits.max_cpu_s:g} s of computing time to read; raise max_cpu_s to give it more"


def _beyond_memory(limits: DocumentLimits) -> str:
    return f"takes more than {limits.max_memory_mb} MB of memory to read; raise max_memory_mb to give it more"


def _wait(pipe: int, event: int, look: Callable[[], None]) -> None:
    poll = select.poll()
    poll.register(pipe, event)
    if not poll.poll(_LOOK_EVERY_S * 1000):
        look()


def _command() -> list[str]:
    """The interpreter, cut off from environment and working folder, our entry, and where its one library lies."""
    if getattr(sys, "frozen", False) or not sys.executable:
        raise DocumentError("cannot be read: this program was built without an interpreter that could read it")
    found = pdf_library()
    library = [] if found is None else [str(found)]
    return [sys.executable, "-I", "-S", *(["-B"] if sys.dont_write_bytecode else []), str(_ENTRY), *library]


def pdf_library() -> Path | None:
    """The folder that pypdfium2 is installed in; None where it is not."""
    try:
        found = importlib.util.find_spec("pypdfium2")
    except (ImportError, ValueError):
        return None
    return None if found is None or found.origin is None else Path(found.origin).parent.parent
