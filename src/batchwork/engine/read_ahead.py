"""Read an input in a thread of its own, a little ahead, so that one that blocks holds up no call in flight.

The two sides share a deque and meet rarely: the thread rests when it is far enough ahead and goes on when half of that
is taken; whoever takes is woken only when there was nothing left to take.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from enum import Enum
from typing import Final, Generic, Literal, TypeVar

T = TypeVar("T")
_MOST_AHEAD = 256
_PATIENCE_S = 1.0  # a read that blocks for longer is left behind


class Later(Enum):
    """Nothing is there yet."""

    LATER = "later"
    DRY = "dry"  # and nothing more comes but what others give up


LATER: Final = Later.LATER
DRY: Final = Later.DRY


class ReadAhead(threading.Thread, Generic[T]):
    """An iterator over `source` that never blocks: it yields `LATER` when nothing is there yet.

    Made and used inside the loop, where it calls `wake` when there is more. It reads at most `window` ahead.
    """

    def __init__(self, source: Iterable[T], *, window: int, wake: Callable[[], None]) -> None:
        super().__init__(target=copy_context().run, args=(self._read,), name="input", daemon=True)
        self._source: Iterable[T] | None = source
        self._most = min(_MOST_AHEAD, window)
        self._few = self._most // 2
        self._wake = wake
        self._loop = asyncio.get_running_loop()
        self._gone = self._loop.create_future()
        self._ready: deque[T] = deque()
        self._error: BaseException | None = None
        self._room = threading.Event()
        self._resting = self._hungry = self._leaving = self._ended = False
        self.start()

    # -- in the loop ----------------------------------------------------------------------------

    def __iter__(self) -> Iterator[T | Literal[Later.LATER]]:
        return self

    def __next__(self) -> T | Literal[Later.LATER]:
        if self._resting and len(self._ready) <= self._few:
            self._resting = False
            self._room.set()
        if self._ready:
            return self._ready.popleft()
        ended, self._hungry = self._ended, True
        if self._ready:  # it came between the two looks
            self._hungry = False
            return self._ready.popleft()
        if not ended:
            return LATER
        if self._error is not None:
            raise self._error
        raise StopIteration

    @property
    def is_reading(self) -> bool:
        """Whether the thread is at work: it neither rests nor has it ended."""
        return not self._resting and not self._ended

    async def aclose(self) -> None:
        """Let go of the source; a read that blocks is left behind."""
        self._leaving = True
        self._room.set()
        await asyncio.wait([self._gone], timeout=_PATIENCE_S)

    # -- in the thread --------------------------------------------------------------------------

    def _read(self) -> None:
        try:
            self._read_on()
        except BaseException as error:  # handed to whoever takes
            self._error = error
        finally:
            self._ended = True
            self._call(self._end)

    def _read_on(self) -> None:
        source, self._source = self._source, None
        assert source is not None
        for row in source:
            self._ready.append(row)
            if self._hungry:
                self._hungry = False
                self._call(self._wake)
            if len(self._ready) >= self._most:
                self._rest()
            if self._leaving:
                return

    def _rest(self) -> None:
        self._room.clear()
        self._resting = True
        if len(self._ready) > self._few and not self._leaving:
            self._room.wait()
        self._resting = False

    def _end(self) -> None:
        self._gone.set_result(None)
        self._wake()

    def _call(self, what: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended before us
            self._loop.call_soon_threadsafe(what)
