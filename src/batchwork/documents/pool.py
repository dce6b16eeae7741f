"""The few processes that read documents: started when first needed, used again, ended when nobody needs them.

Any thread may ask. One that has failed, was ended or has grown is replaced by a new one at the next document.
"""

import atexit
import os
import threading

from batchwork.clock import stopwatch
from batchwork.core.errors import DocumentError
from batchwork.documents.frames import Task
from batchwork.documents.reader_process import ReaderKilled, ReaderProcess

_MOST = 4
_IDLE_S = 15.0


class ReaderPool:
    """At most `most` readers; one that has waited for `idle_s` is ended."""

    def __init__(self, *, most: int | None = None, idle_s: float = _IDLE_S) -> None:
        self._most = most or max(1, min(_MOST, os.cpu_count() or 1))
        self._idle_s = idle_s
        self._reset()
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self.close)

    def _reset(self) -> None:
        self._change = threading.Condition()
        # With when it was put back; the one used last is taken first.
        self._idle: list[tuple[ReaderProcess, float]] = []
        self._busy: set[ReaderProcess] = set()
        self._places = self._most
        self._timer: threading.Timer | None = None
        self._now = stopwatch()

    def read(self, task: Task, data: bytes) -> tuple[str, tuple[int, ...]]:
        """The text of a document and where its pages start, or a DocumentError: also when no process can be started."""
        for _ in range(2):  # once more when it is killed: the document has done nothing
            reader = self._take()
            try:
                return reader.ask(task, data)
            except ReaderKilled as killed:
                signal = str(killed)
            finally:
                self._put_back(reader)
        raise DocumentError(
            f"cannot be read: the process that reads it is ended from outside ({signal}), as a system does that is"
            " short of memory"
        )

    def close(self) -> None:
        """End the processes that nobody uses. A busy one ends when it is put back, or with this process."""
        with self._change:
            readers = [reader for reader, _ in self._idle]
            self._idle.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for reader in readers:
            reader.end()

    def _take(self) -> ReaderProcess:
        with self._change:
            while self._places == 0:
                self._change.wait()
            self._places -= 1
            while self._idle:
                reader, _ = self._idle.pop()
                if reader.is_alive():
                    self._busy.add(reader)
                    return reader
                reader.end()
        try:
            reader = ReaderProcess()
        except BaseException:
            self._free_place()
            raise
        with self._change:
            self._busy.add(reader)
        return reader

    def _free_place(self) -> None:
        with self._change:
            self._places += 1
            self._change.notify()

    def _put_back(self, reader: ReaderProcess) -> None:
        if not reader.is_usable:
            reader.end()
        with self._change:
            self._busy.discard(reader)
            if reader.is_usable:
                self._idle.append((reader, self._now()))
                self._set_timer(self._idle_s)
        self._free_place()

    def _set_timer(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = threading.Timer(seconds, self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        with self._change:
            self._timer = None
            now = self._now()
            tired = [reader for reader, since in self._idle if now - since >= self._idle_s]
            self._idle = [(reader, since) for reader, since in self._idle if now - since < self._idle_s]
            if self._idle:
                self._set_timer(self._idle_s - (now - self._idle[0][1]))
        for reader in tired:
            reader.end()

    def _after_fork(self) -> None:
        """A copy of this process starts its own; the ones it has copied are not its."""
        readers = [*self._busy, *(reader for reader, _ in self._idle)]
        self._reset()
        for reader in readers:
            reader.forget()
