"""A live pass over an input: as many calls in flight as the gate allows, refilled the moment one ends.

Reads the input only as far as there is room, gives every item a task of its own, and ends cleanly whatever
happens: the end of the input, the breaker, an interruption, a journal that cannot be written.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial

from batchwork.core.errors import BatchworkError
from batchwork.core.intake import Work
from batchwork.core.stats import Tally
from batchwork.core.words import counted
from batchwork.engine.item import ItemCarrier
from batchwork.engine.parts import Parts
from batchwork.engine.read_ahead import Later
from batchwork.engine.run import Run
from batchwork.engine.waits import Waits

_log = logging.getLogger(__name__)
_BREATHE_EVERY = 512  # settled rows passed over before the loop gets a turn
_HELD_PER_SLOT = 4  # items that wait to be tried again or for money, per place in the window


class LiveRun(Run):
    """One pass over an input, call by call."""

    def __init__(self, parts: Parts, tally: Tally) -> None:
        super().__init__(parts, tally)
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Event()
        self._caller = parts.gate.join(
            bound=parts.policy.max_in_flight, on_room=self._room.set, on_pause=self._on_pause
        )
        self._waits = Waits(parts.clock)
        self._carrier = ItemCarrier(parts, tally, self._caller, wait=self._waits.wait, pause=self._on_pause)
        self._most_open = parts.policy.max_in_flight * (1 + _HELD_PER_SLOT)
        self._starting = 0

    async def run(self, source: Iterator[Work | Later | None], *, is_input: bool = True) -> None:
        """See everything through that the source yields; calls in flight are finished before an error is raised."""
        try:
            self.exhausted = await self._read(source)
        except BatchworkError as error:
            self.stop(error)
        except BaseException:  # cancelled, or interrupted inside the user's iterator: end cleanly, then let it pass
            self._close()
            raise
        finally:
            try:
                await self._drain()
            finally:
                await self._abandon()
                self._p.gate.leave(self._caller)
                self._record_end(is_input=is_input)
        if self._error is not None:
            raise self._error
        await self._p.journal.durable()

    def interrupt(self) -> None:
        """First time: admit nothing more, let calls in flight finish. Second time: leave at once."""
        self._end_early()
        self.interrupted = True

    def cancel(self) -> None:
        """The same; only, it is recorded that whoever called did not want the rest any more."""
        self._end_early()
        self.cancelled = True

    def _end_early(self) -> None:
        if self.interrupted or self.cancelled:
            for task in self._tasks:
                task.cancel()
        self._close()

    def wake(self) -> None:
        """Whoever takes the outcomes can take more, or the input has more."""
        self._room.set()

    async def _read(self, source: Iterator[Work | Later | None]) -> bool:
        """Start work as there is room for it; whether the source was read to its end."""
        passed = 0
        for work in source:
            if work is None:
                passed += 1
                if passed % _BREATHE_EVERY == 0:
                    await self._p.clock.sleep(0)
                    # Rows that have moved are facts, too, and must not pile up in memory.
                    await self._p.journal.durable()
            elif isinstance(work, Later):
                self._room.clear()
                await self._room.wait()
            else:
                if (slices := self._p.slices) is not None:
                    await self._until(partial(slices.may_start, work.index))
                if self._caller.closed:
                    return False
                self._start(work)
                if not self._has_room():
                    await self._until(self._has_room)
            if self._caller.closed:
                return False
        return True

    def _has_room(self) -> bool:
        # A task started in this turn has not reached the gate yet, but it will stand in line there. Who stepped aside
        # for money does not keep others away.
        taken = self._caller.in_flight + len(self._caller.queue) + self._starting
        if self._p.policy.retry_in_place:
            taken += self._waits.count
        if self.tally.open >= self._most_open or taken >= self._caller.bound:
            return False
        return self._p.has_room is None or self._p.has_room()

    async def _until(self, may_go_on: Callable[[], bool]) -> None:
        while not self._caller.closed and not may_go_on():
            self._room.clear()
            await self._room.wait()

    def _start(self, work: Work) -> None:
        self.tally.open += 1
        self._starting += 1
        if self._p.slices is not None:
            self._p.slices.start(work.index)
        task = self._loop.create_task(self._carry(work))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def _carry(self, work: Work) -> None:
        self._starting -= 1
        try:
            await self._carrier.carry(work)
        except BatchworkError as error:
            self.stop(error)
        finally:
            self._p.journal.release(work.item)
            self.tally.open -= 1
            if self._p.slices is not None:
                self._p.slices.end(work.index)
            self._room.set()

    def _close(self) -> None:
        """No new calls; whoever waits for one is turned away, whoever waits to retry wakes up."""
        self.tally.is_stopping = True
        self._p.gate.close(self._caller)
        self._waits.close()
        self._room.set()

    async def _drain(self) -> None:
        """Wait for what is under way: without end while the run is open, for so long once it is closed."""
        await self._until(lambda: not self.tally.open)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._p.policy.drain_s if self._caller.closed else None)

    async def _abandon(self) -> None:
        """Leave what has not ended; the journal knows that its fate is open."""
        if not self._tasks:
            return
        _log.warning("leaving %s that did not end in %g s", counted(len(self._tasks), "call"), self._p.policy.drain_s)
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
