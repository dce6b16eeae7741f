"""One pass over an input through provider batches: intent on disk, create, ticket on disk, follow, collect by key.

The provider goes on whether we do or not, so what matters is to know at every instant what it may have of ours: the
intent is on disk before the call and the ticket right after, and what lies between the two is looked for before
anything is sent again.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator

from batchwork.core.batch_book import Ticket
from batchwork.core.bounds import WorstCase
from batchwork.core.duration import duration
from batchwork.core.errors import BatchworkError
from batchwork.core.event import BatchIntended
from batchwork.core.failure import Failure
from batchwork.core.intake import Work
from batchwork.core.ports import BatchBackend, FileBatchBackend
from batchwork.core.stats import Tally
from batchwork.core.words import counted
from batchwork.engine.batch import BatchContext, SealedBatch
from batchwork.engine.batch_builder import Added, BatchBuilder
from batchwork.engine.batch_carrier import BatchCarrier
from batchwork.engine.collector import Collector
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts
from batchwork.engine.read_ahead import DRY, LATER, Later
from batchwork.engine.run import Run
from batchwork.engine.waits import Waits

_log = logging.getLogger(__name__)
_BREATHE_EVERY = 512
_MOST_WAITING = 1000  # items that wait for money before reading on waits too


class BatchRun(Run):
    """A pass over an input in provider batches. Made once, run once."""

    def __init__(self, parts: Parts, backend: BatchBackend, tally: Tally, *, journal_id: str) -> None:
        super().__init__(parts, tally)
        tally.batches = 0
        self._policy = parts.policy.batch
        self._backend = backend
        self._waits = Waits(parts.clock)
        self._again: deque[Life] = deque()  # for a later batch
        context = BatchContext(
            parts=parts,
            backend=backend,
            tally=tally,
            waits=self._waits,
            worst=WorstCase(parts.price, parts.backend.traits),
            journal_id=journal_id,
            again=self._again,
            pause=self._on_pause,
            is_cancelled=lambda: self.cancelled,
        )
        self._builder = BatchBuilder(context)
        self._collector = Collector(context)
        self._carrier = BatchCarrier(context, self._collector, shrink=self._builder.shrink)
        self._for_money: deque[Life] = deque()  # for a batch when there is room in the budget
        self._largest = 0  # items in the largest batch of this run
        self._warned = False
        self._taken_up: set[int] = set()  # batches that an earlier run has left
        self._in_open_batches: set[int] = set()  # of an earlier run: not to be read from the input as well
        self._cancelling: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._caller = parts.gate.join(bound=1, on_room=self._news.set, on_pause=self._on_pause)

    async def run(self, source: Iterator[Work | Later | None], *, is_input: bool = True) -> None:
        """See everything through that the source yields; after an error the next run takes the open batches up."""
        try:
            self._take_up()
            self.exhausted = await self._read(source)
            self._ask_lost_batches()
            await self._finish()
            await self._collector.sync()
        except BatchworkError as error:
            self.stop(error)
        except asyncio.CancelledError:
            self._leave_at_once()
            raise
        finally:
            await self._leave()
            self._p.gate.leave(self._caller)
            self._record_end(is_input=is_input)
        if self._error is not None:
            raise self._error
        await self._p.journal.durable()

    @property
    def still_running(self) -> list[str]:
        """The batches that go on at the provider."""
        return [ticket.batch_id for ticket in self._p.journal.batches.open() if ticket.batch_id is not None]

    def interrupt(self) -> None:
        """Stop here; the provider's batches go on and the next run takes them up, unless they are to be cancelled."""
        first, self.interrupted = not self.interrupted, True
        if not first:
            self._leave_at_once()
        elif self._policy.cancel_on_interrupt:
            self.cancel()
        else:
            self._close()

    def _leave_at_once(self) -> None:
        """Wait for nobody: what is on disk tells the next run what the provider may have of ours."""
        self._close()
        for task in (*self._tasks, self._cancelling):
            if task is not None:
                task.cancel()

    def cancel(self) -> None:
        """Send nothing more, cancel what is at the provider, take in what it has finished; the rest stays pending."""
        self.cancelled = self.tally.is_stopping = True
        self._cancelling = asyncio.create_task(self._cancel_batches())

    async def _cancel_batches(self) -> None:
        for batch_id in self.still_running:
            await self._carrier.cancel(batch_id)

    def wake(self) -> None:
        """The input has more. (Batches do not wait for whoever takes the outcomes.)"""
        self._news.set()

    # -- reading and building -------------------------------------------------------------------

    def _take_up(self) -> None:
        """Attach to what an earlier run has left at the provider."""
        for ticket in self._p.journal.batches.open():
            if ticket.chunk not in self._taken_up:
                self.take_up(ticket, None)

    def take_up(self, ticket: Ticket, fenced_s: float | None) -> None:
        """Attach to one batch. Where its process may have been about to make it when it was fenced off, so long ago, it
        is looked for only when that can have come to no batch any more.
        """
        if self._waits.is_closed:
            return
        batch = SealedBatch(ticket, {}, [])
        self._p.gate.ledger.take_over(batch.reserved_nano)
        self._in_open_batches.update(ticket.items)
        self._taken_up.add(ticket.chunk)
        is_made = ticket.batch_id is not None
        # No batch is made of a file that is not on record.
        is_unmade = isinstance(self._backend, FileBatchBackend) and ticket.file_id is None
        wait_s = 0.0 if fenced_s is None or is_made or is_unmade else 2.0 * self._p.policy.timeout_s - fenced_s
        if wait_s > 0.0:
            _log.warning(
                "a process that ended without a word was about to make a batch of %s: it is looked for in %s, when it"
                " must have arrived",
                *(counted(len(ticket.items), "item"), duration(wait_s)),
            )
        self._follow(batch, wait_s=wait_s)

    async def _read(self, source: Iterator[Work | Later | None]) -> bool:
        for passed, work in enumerate(source):
            if work is DRY or (work is LATER and self._for_money):
                if not await self._step():
                    await self._next_ending()
            elif work is LATER:  # before anything else is awaited: the news of more must not be missed
                await self._next_ending()
            elif isinstance(work, Work):
                if work.item not in self._in_open_batches:
                    await self._start(work)
                self._p.journal.release(work.item)
            if passed % _BREATHE_EVERY == 0:
                await self._p.clock.sleep(0)
            while len(self._for_money) >= _MOST_WAITING and not self._ending:
                if self._tasks:
                    await self._next_ending()
                elif not self._builder.is_empty:  # which holds the money that they wait for
                    await self._send()
                else:
                    break
            if self._ending:
                return False
        return True

    async def _start(self, work: Work) -> None:
        if work.request is None:
            await self._collector.show(self._collector.settler.record_unsent(work))
        else:
            await self._add(Life.of(work), is_patient=not self._for_money)

    def _ask_lost_batches(self) -> None:
        """Ask once more for results that were given up, before anything of them is sent again."""
        for ticket in self._p.journal.batches.open():
            if ticket.asked_again and ticket.chunk not in self._taken_up:
                self._follow(SealedBatch(ticket, {}, []))

    async def _add(self, life: Life, *, is_patient: bool = True) -> None:
        """Let an item join; `is_patient` waits for what an account that is shared with others says to it."""
        answer = self._builder.add(life)
        if answer is Added.FULL:
            await self._send()
            if self._ending:
                return
            answer = self._builder.add(life)
        while is_patient and answer is Added.NO_MONEY_NOW and self._p.gate.ledger.may_grow and not self._ending:
            await self._next_ending()
            while self._p.gate.ledger.is_asking and not self._ending:
                await self._next_ending()
            answer = self._builder.add(life)
            is_patient = not (self._tasks or self._builder.size)
        if isinstance(answer, Failure):
            await self._collector.settle_unsent(life, self._collector.settler.failed(life, answer))
        elif answer is Added.NO_MONEY:
            await self._defer(life)
        elif answer is Added.NO_MONEY_NOW:
            self._for_money.append(life)
            self._hold_back()
            if self._p.gate.ledger.may_grow and not self._tasks:
                await self._send()  # others may wait for what is set aside here
        elif self._builder.is_full:
            await self._send()

    def _hold_back(self) -> None:
        """Tell how many wait for money; of the first, at length: what follows may take a day for each batch."""
        self.tally.held_back = len(self._for_money)
        if self._warned:
            return
        self._warned = True
        fits = self.tally.in_flight + self._builder.size
        total = "" if self.tally.total is None else f" of {self.tally.total - self.tally.reused:,}"
        _log.warning(
            "the budget holds %s%s at once, at their worst case: the rest goes in further batches, one after another,"
            " each of which may take the provider a day; a higher --max-cost (max_cost=) or a lower --max-tokens"
            " (max_tokens=) sends more at once",
            *(counted(fits, "item"), total),
        )

    @property
    def _waits_for_room(self) -> bool:
        """Whether others are under way that have more to give back than what a batch of a handful is worth."""
        return bool(self._tasks and self._for_money) and 2 * self._builder.size < self._largest

    async def _defer(self, life: Life) -> None:
        await self._collector.settle_unsent(life, self._collector.settler.deferred(life, self._builder.worst(life)))

    async def _finish(self) -> None:
        """Send what is gathered, wait for what is under way, and send again what must be, until nothing is left."""
        while not self._waits.is_closed and await self._step():
            pass

    async def _step(self) -> bool:
        """Send or wait once; False: there is nothing to send, and nothing to wait for."""
        if not self.cancelled:
            for waiting in (self._again, self._for_money):
                for nth in range(len(waiting)):
                    await self._add(waiting.popleft(), is_patient=not nth)
        self.tally.held_back = len(self._for_money)
        if not self._builder.is_empty and not self.cancelled and not self._waits_for_room:
            await self._send()
        elif self._tasks:
            await self._next_ending()
        elif self.cancelled or not (self._again or self._for_money):
            return False
        elif self._p.gate.ledger.may_grow:
            await self._next_ending()
        elif not self._again:  # nothing is under way that could make room
            for life in self._for_money:
                await self._defer(life)
            self._for_money.clear()
            self.tally.held_back = 0
        return True

    async def _next_ending(self) -> None:
        """Wait until one batch is done with, the input has more, or the run closes."""
        self._news.clear()
        if not self._waits.is_closed:
            await self._news.wait()

    # -- one batch ------------------------------------------------------------------------------

    async def _send(self) -> None:
        """Send the gathered batch, as soon as fewer than `max_parallel` are under way."""
        while len(self._tasks) >= self._policy.max_parallel and not self._ending:
            await self._next_ending()
        if self._ending or self._builder.is_empty:
            return
        if self._largest == 0 and (notice := self._p.backend.traits.batch_notice) is not None:
            _log.warning("%s", notice)
        batch = self._builder.seal(at=self._p.clock.utc())
        ticket = batch.ticket
        self._largest = max(self._largest, len(ticket.items))
        self._p.journal.record(
            BatchIntended(
                chunk=ticket.chunk,
                items=ticket.items,
                custom_ids=ticket.custom_ids,
                reserved_nano=ticket.reserved_nano,
                at=ticket.at,
                worst_nano=ticket.worst_nano,
            )
        )
        await self._p.journal.durable()
        fresh = sum(not life.is_resent for life in batch.lives.values())
        self.tally.sent += fresh
        self.tally.batches = (self.tally.batches or 0) + 1
        self.tally.retries += len(batch.lives) - fresh
        self._follow(batch)

    def _follow(self, batch: SealedBatch, *, wait_s: float = 0.0) -> None:
        task = asyncio.create_task(self._see_through(batch, wait_s))
        self._tasks.add(task)
        self.tally.in_flight += len(batch.ticket.items)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        super()._ended(task)  # after a defect the batch stays open for the next run
        self._news.set()

    async def _see_through(self, batch: SealedBatch, wait_s: float) -> None:
        try:
            if wait_s > 0.0:
                await self._waits.wait(wait_s)
                if self._waits.is_closed:
                    return
            await self._carrier.carry(batch)
        except BatchworkError as error:
            self.stop(error)
        finally:
            self.tally.in_flight -= len(batch.ticket.items)

    # -- ending ---------------------------------------------------------------------------------

    @property
    def _ending(self) -> bool:
        return self.cancelled or self._waits.is_closed

    def _close(self) -> None:
        self.tally.is_stopping = True
        self._waits.close()
        self._news.set()

    async def _leave(self) -> None:
        """Let followers end where they are: asleep they wake, and what they are taking in they finish, in bounds."""
        if self._cancelling is not None:
            await asyncio.wait([self._cancelling])
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._p.policy.drain_s)
        if self._tasks:
            self._leave_at_once()
            await asyncio.wait(self._tasks)
