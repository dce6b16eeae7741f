"""Send one request once, under a deadline, and turn whatever happens into a value."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Backend, Clock
from batchwork.core.reply import Reply
from batchwork.core.request import Request

T = TypeVar("T")
_log = logging.getLogger(__name__)
_HAIR_S = 0.001  # a timer may fire so much early


class Deadlines:
    """The deadlines of all calls of a run, with one timer between them.

    They share one timeout, so the call that started first is due first. A timer per call (`asyncio.timeout`) would cost
    every call what only one in thousands needs.
    """

    def __init__(self, clock: Clock, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._clock = clock
        self._due: dict[asyncio.Task[Any], float] = {}  # in the order in which they are due
        self._stop_timer: Callable[[], None] | None = None

    def start(self, task: asyncio.Task[Any], now: float) -> None:
        """The task makes a call now; it is cancelled when the call has not ended in time."""
        self._due[task] = now + self.timeout_s
        if self._stop_timer is None:
            self._stop_timer = self._clock.call_later(self.timeout_s, self._look)

    def end(self, task: asyncio.Task[Any]) -> bool:
        """The call has ended; whether that was by its deadline, whose cancellation is then undone."""
        if self._due.pop(task, None) is None:
            task.uncancel()
            return True
        if not self._due and self._stop_timer is not None:
            self._stop_timer()
            self._stop_timer = None
        return False

    def _look(self) -> None:
        self._stop_timer = None
        now = self._clock.now()
        for task, due in list(self._due.items()):
            if due > now + _HAIR_S:
                self._stop_timer = self._clock.call_later(due - now, self._look)
                return
            del self._due[task]
            task.cancel()


async def attempt(
    backend: Backend, request: Request, *, deadlines: Deadlines, now: float, ceiling_nano: int | None
) -> Reply | Failure:
    """The backend's reply, or its failure."""
    task = asyncio.current_task()
    assert task is not None
    expired = False
    deadlines.start(task, now)
    try:
        try:
            return await backend.complete(request, ceiling_nano=ceiling_nano)
        finally:
            expired = deadlines.end(task)
    except BackendError as error:
        return error.failure
    except asyncio.CancelledError:
        if not expired or task.cancelling():  # somebody else wants this task to end
            raise
        return _timed_out(deadlines.timeout_s)
    except TimeoutError:
        return _timed_out(deadlines.timeout_s)
    except Exception as error:  # a backend may be foreign code: its defect is this item's failure, not the run's end
        _log.exception("the backend %s raised %s", backend.traits.name, type(error).__name__)
        return Failure(kind=FailureKind.INTERNAL, message=f"{type(error).__name__} in the backend", unconfirmed=True)


def _timed_out(seconds: float) -> Failure:
    """The provider may still be working on it, and bill it."""
    return Failure(kind=FailureKind.TIMEOUT, message=f"no answer within {seconds:g} s", unconfirmed=True)


async def within(timeout_s: float, call: Awaitable[T]) -> T:
    """A call about a batch under a deadline; one that takes too long raises BackendError as well."""
    try:
        async with asyncio.timeout(timeout_s):
            return await call
    except TimeoutError as error:
        raise BackendError(_timed_out(timeout_s)) from error
