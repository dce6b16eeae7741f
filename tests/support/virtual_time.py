"""An event loop whose time passes only when nothing else is to be done: hours in a moment, the same every time.

It knows batchwork's two real threads, the input's and the journal's, by their names alone, so that `make perf-against`
can use it with other commits of the package.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_COMMITTING = "_commit_group"  # how the task that waits for the journal's thread is called, in older commits with an s
_REAL_PATIENCE_S = 20.0
_READ_S = 0.05  # an input is read in a real thread: give it real time before virtual time moves on
_GLANCE_S = 0.001


class _VirtualSelector(selectors.DefaultSelector):
    """Never waits for a timer: moves the loop's clock to it instead."""

    now = 0.0

    def __init__(self, is_committing: Callable[[], bool]) -> None:
        super().__init__()
        self._is_committing = is_committing

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return super().select(0)
        if timeout is None or self._is_committing():  # a commit takes real time, which must not pass for virtual
            ready = super().select(_REAL_PATIENCE_S)
            if not ready:
                raise RuntimeError("everybody waits and no timer is set: the code under test hangs")
            return ready
        ready = super().select(0) or self._await_readers()
        if not ready:
            self.now += timeout
        return ready

    def _await_readers(self) -> list[tuple[selectors.SelectorKey, int]]:
        """An input is read in a real thread: let it rest or bring something, unless it is blocked."""
        for _ in range(int(_READ_S / _GLANCE_S)):
            readers = [thread for thread in threading.enumerate() if thread.name == "input"]
            if not any(thread.is_reading for thread in readers):  # type: ignore[attr-defined]
                break
            if ready := super().select(_GLANCE_S):
                return ready
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with its own time, which starts at 0."""

    def __init__(self) -> None:
        self._virtual = _VirtualSelector(self._is_committing)
        super().__init__(self._virtual)

    def _is_committing(self) -> bool:
        """Whether a journal waits for its thread, which a disk or a busy machine may keep for any time."""
        if not any(thread.name.startswith("journal") for thread in threading.enumerate()):
            return False
        return any(task.get_coro().__name__.startswith(_COMMITTING) for task in asyncio.all_tasks(self))

    def time(self) -> float:
        return self._virtual.now

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait for real threads in real time: Python 3.12 and later set a timer, which virtual time would run out."""
        await super().shutdown_default_executor()


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def virtual_now() -> float:
    """Virtual seconds since the loop was made."""
    return asyncio.get_running_loop().time()
