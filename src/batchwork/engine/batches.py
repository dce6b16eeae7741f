"""Provider batches: intent on disk, submit, ticket on disk, poll, collect by key.

The provider goes on whether we do or not, so what matters is to know at every instant what it may have of ours: the
intent is on disk before the call and the ticket right after, and what lies between the two is looked for before
anything is sent again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterator

from batchwork.core.breaker import Pause
from batchwork.core.errors import BackendError, BatchworkError
from batchwork.core.event import BatchClosed, BatchIntended, BatchSubmitted
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Work
from batchwork.core.ports import BatchBackend, BatchTag, Sighting
from batchwork.core.pricing import Price
from batchwork.core.reply import Reply
from batchwork.core.retry import REFUSALS
from batchwork.core.stats import Tally
from batchwork.core.ticket import Ticket
from batchwork.core.worst import WorstCase
from batchwork.engine import pauses
from batchwork.engine.attempt import within
from batchwork.engine.boarding import Boarded, Platform
from batchwork.engine.naps import Naps
from batchwork.engine.parts import Parts
from batchwork.engine.passing import Pass
from batchwork.engine.reading import LATER, Later
from batchwork.engine.riders import Carriage, Rider
from batchwork.engine.sending import BatchSender, Unseen, pauses_between_looks
from batchwork.engine.sight import Sight
from batchwork.engine.taking_in import Intaker

_log = logging.getLogger(__name__)
_BREATHE_EVERY = 512
_MOST_WAITING = 1000  # items that wait for money before reading on waits too
_NO_WAY_IN = REFUSALS | {FailureKind.CONNECTION}  # tried again in vain; it says nothing about the items


class BatchRun(Pass):
    """One pass over an input, through provider batches."""

    def __init__(self, parts: Parts, backend: BatchBackend, tally: Tally, *, run_id: str, price: Price | None) -> None:
        super().__init__(parts, tally)
        self._backend = backend
        self._run_id = run_id
        self._policy = parts.policy.batch
        limits = backend.batch_limits.capped(self._policy.most_items)
        self._platform = Platform(
            backend,
            limits,
            ledger=parts.gate.ledger,
            worst=WorstCase(price, overhead_tokens=parts.backend.traits.overhead_tokens),
            run_id=run_id,
            next_chunk=parts.journal.next_chunk,
            lanes=parts.lanes,
        )
        self._intake = Intaker(parts, tally, price)
        self._naps = Naps(parts.clock)
        self._sender = BatchSender(backend, parts.policy, self._naps, sight=self._sight, dice=parts.dice)
        self._again: deque[Rider] = deque()  # to ride in a later batch
        self._for_money: deque[Rider] = deque()  # to ride when there is room in the budget
        self._followers: set[asyncio.Task[None]] = set()
        self._riding: set[int] = set()
        self._cancelling: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    async def run(self, source: Iterator[Work | Later | None], *, is_input: bool = True) -> None:
        """See everything through that the source yields.

        Raises:
            BatchworkError: the input, a callback or the journal failed; the provider's batches go on and are taken up
                by the next run.
        """
        try:
            self._take_up()
            self.exhausted = await self._read(source)
            await self._finish()
            await self._intake.sync()
        except BatchworkError as error:
            self._stop(error)
        except asyncio.CancelledError:
            self._leave_at_once()
            raise
        finally:
            await self._leave()
            self._record_end(is_input=is_input)
        if self._error is not None:
            raise self._error
        await self._p.journal.durable()

    @property
    def still_running(self) -> list[str]:
        """The batches that go on at the provider."""
        return [ticket.batch_id for ticket in self._p.journal.open_batches() if ticket.batch_id is not None]

    def interrupt(self) -> None:
        """Stop here; the provider's batches go on and the next run takes them up, unless they are to be cancelled."""
        first, self.interrupted = not self.interrupted, True
        if not first:
            self._leave_at_once()
        elif self._policy.cancel_on_interrupt:
            self.cancel()
        else:
            self._naps.close()

    def _leave_at_once(self) -> None:
        """Wait for nobody: what is on disk tells the next run what the provider may have of ours."""
        self._naps.close()
        for task in (*self._followers, self._cancelling):
            if task is not None:
                task.cancel()

    def cancel(self) -> None:
        """Send nothing more, cancel what is at the provider, take in what it has finished; the rest stays pending."""
        self.cancelled = True
        self._cancelling = asyncio.create_task(self._cancel_batches())

    async def _cancel_batches(self) -> None:
        for batch_id in self.still_running:
            try:
                await within(self._p.policy.timeout_s, self._backend.cancel_batch(batch_id))
            except BackendError as error:
                _log.warning("cannot cancel batch %s: %s", batch_id, error.failure)

    def wake(self) -> None:
        """The input has more. (Batches do not wait for whoever takes the outcomes.)"""
        self._news.set()

    # -- reading and boarding -------------------------------------------------------------------

    def _take_up(self) -> None:
        """Attach to what an earlier run has left at the provider."""
        for ticket in self._p.journal.open_batches():
            self._p.gate.ledger.reserved += ticket.reserved_nano
            self._riding.update(ticket.items)
            self._follow(Carriage(ticket, {}, []))

    async def _read(self, source: Iterator[Work | Later | None]) -> bool:
        for passed, work in enumerate(source):
            if passed % _BREATHE_EVERY == 0:
                await self._p.clock.sleep(0)
            if work is LATER:
                await self._next_ending()
            elif work is not None:
                if work.item not in self._riding:
                    await self._start(work)
                self._p.journal.release(work.item)
            while len(self._for_money) >= _MOST_WAITING and self._followers and not self._closed:
                await self._next_ending()
            if self._ending:
                return False
        return True

    async def _start(self, work: Work) -> None:
        if work.request is None:
            await self._intake.fail_unsent(work)
            return
        await self._board(Rider.of(work))

    async def _board(self, rider: Rider) -> None:
        answer = self._platform.board(rider)
        if answer is Boarded.FULL:
            await self._depart()
            if self._ending:
                return
            answer = self._platform.board(rider)
        if isinstance(answer, Failure):
            await self._intake.fail(rider, answer)
        elif answer is Boarded.NO_MONEY:
            await self._intake.defer(rider, self._platform.worst(rider))
        elif answer is Boarded.NO_MONEY_NOW:
            self._for_money.append(rider)
        elif self._platform.is_full:
            await self._depart()

    async def _finish(self) -> None:
        """Send what is gathered, wait for what is under way, and let ride again what must, until nothing is left."""
        while not self._closed:
            if not self.cancelled:
                for waiting in (self._again, self._for_money):
                    for _ in range(len(waiting)):
                        await self._board(waiting.popleft())
            if not self._platform.is_empty and not self.cancelled:
                await self._depart()
            elif self._followers:
                await self._next_ending()
            elif self.cancelled or not (self._again or self._for_money):
                return

    async def _next_ending(self) -> None:
        """Wait until one batch is done with, the input has more, or the run closes."""
        self._news.clear()
        news = [asyncio.ensure_future(wait) for wait in (self._naps.closed(), self._news.wait())]
        try:
            await asyncio.wait([*news, *self._followers], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in news:
                wait.cancel()

    # -- one batch ------------------------------------------------------------------------------

    async def _depart(self) -> None:
        """Send the gathered batch, as soon as fewer than `max_parallel` are under way."""
        while len(self._followers) >= self._policy.max_parallel and not self._ending:
            await self._next_ending()
        if self._ending or self._platform.is_empty:
            return
        carriage = self._platform.depart(self._p.clock.utc())
        ticket = carriage.ticket
        self._p.journal.record(
            BatchIntended(
                chunk=ticket.chunk,
                items=ticket.items,
                custom_ids=ticket.custom_ids,
                reserved_nano=ticket.reserved_nano,
                at=ticket.intended_at,
            )
        )
        await self._p.journal.durable()
        self._riding.update(ticket.items)
        self._follow(carriage)

    def _follow(self, carriage: Carriage) -> None:
        task = asyncio.create_task(self._see_through(carriage))
        self._followers.add(task)
        self.tally.in_flight += len(carriage.ticket.items)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._followers.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._stop(error)  # a defect: never passed over in silence, and the batch stays open for the next run

    async def _see_through(self, carriage: Carriage) -> None:
        ticket = carriage.ticket
        try:
            batch_id = ticket.batch_id or await self._submit(carriage)
            if batch_id is None or not await self._until_ended(batch_id, carriage):
                return
            await self._collect(batch_id, carriage)
        except BatchworkError as error:
            self._stop(error)
        finally:
            self.tally.in_flight -= len(ticket.items)

    async def _submit(self, carriage: Carriage) -> str | None:
        """The provider's id for the batch; None when it has none: refused, absent, unseen, or the run closes first."""
        tag = self._tag(carriage.ticket)
        answer = await self._sender.send(carriage.lines, tag)
        carriage.lines = []
        if isinstance(answer, str):
            self._p.journal.record(BatchSubmitted(chunk=tag.chunk, batch_id=answer))
            await self._p.journal.durable()
            return answer
        if isinstance(answer, Unseen):
            self._on_pause(pauses.out_of_sight(tag.name, answer.failure, self._where))
        elif isinstance(answer, Failure) and answer.kind in _NO_WAY_IN:
            self._close_batch(carriage, "absent")
            self._on_pause(pauses.stalled(answer, self._where))
        elif isinstance(answer, Failure):
            await self._refuse(carriage, answer)
        elif answer is Sighting.ABSENT:
            self._again.extend(self._rider(item) for item in carriage.waiting.values())
            self._close_batch(carriage, "absent")
        return None

    async def _until_ended(self, batch_id: str, carriage: Carriage) -> bool:
        """Look at it at growing intervals; a look that fails says nothing about the batch."""
        unknown_s = 0.0
        sight = self._sight(batch_id)
        for pause_s in pauses_between_looks(self._policy):
            if self._closed:
                break
            try:
                progress = await within(self._p.policy.timeout_s, self._backend.poll_batch(batch_id))
            except BackendError as error:
                if sight.lost(error.failure):
                    self._on_pause(pauses.out_of_sight(batch_id, error.failure, self._where))
                    return False
                if error.failure.kind is FailureKind.REJECTED:
                    # It may be another key, another address, or a list that lags. Its answers may be paid for, so
                    # neither is anything sent again nor is anything given up without being asked.
                    if unknown_s >= self._policy.adopt_wait_s:
                        self._on_pause(pauses.not_known(batch_id, error.failure))
                        return False
                    unknown_s += pause_s
            else:
                sight.seen()
                if progress.ended and progress.failure is not None:
                    await self._refuse(carriage, progress.failure)
                    return False
                if progress.ended:
                    return True
            await self._naps.take(pause_s)
        return False

    async def _collect(self, batch_id: str, carriage: Carriage) -> None:
        """Take everything in; a download that breaks off is begun again, and knows what it has."""
        tries = 0
        while carriage.waiting and not self._closed:
            tries += 1
            try:
                async for name, said in self._backend.collect_batch(batch_id):
                    await self._take_in(carriage, name, said)
                break
            except BackendError as error:
                wait_s = self._sender.wait_after(error.failure, tries)
                if wait_s is None:
                    self._on_pause(pauses.no_results(batch_id, error.failure))
                    return
                await self._naps.take(wait_s)
        if self._closed and carriage.waiting:
            return
        for name in list(carriage.waiting):  # ended, and yet not told of: it rides again like one not executed
            missing = Failure(kind=FailureKind.EXPIRED, message="the batch ended without a word about this item")
            await self._take_in(carriage, name, missing)
        await self._intake.sync()
        self._close_batch(carriage, "collected")

    async def _take_in(self, carriage: Carriage, name: str, said: Reply | Failure) -> None:
        result = await self._intake.take(carriage, name, said)
        if isinstance(result, Rider):
            if not self.cancelled:
                self._again.append(result)
        elif isinstance(result, Pause):
            self._on_pause(result)

    async def _refuse(self, carriage: Carriage, failure: Failure) -> None:
        """The provider took none of it: each item is classed as if it had been refused alone."""
        for name in list(carriage.waiting):
            await self._take_in(carriage, name, failure)
        await self._intake.sync()
        self._close_batch(carriage, "refused")
        if self._again and (wait_s := self._sender.wait_after(failure, 1)) is not None:
            await self._naps.take(wait_s)

    def _close_batch(self, carriage: Carriage, how: str) -> None:
        self._p.journal.record(BatchClosed(chunk=carriage.ticket.chunk, how=how))
        self._p.gate.ledger.settle(carriage.ticket.reserved_nano, 0)
        again = {rider.item for rider in self._again}  # they ride on, and must not be read from the input as well
        self._riding.difference_update(item for item in carriage.ticket.items if item not in again)

    def _rider(self, item: int) -> Rider:
        state = self._p.journal.take(item)
        self._p.journal.release(item)
        return Rider.known(state, self._p.journal.request_of(item))

    def _tag(self, ticket: Ticket) -> BatchTag:
        return BatchTag(
            run_id=self._run_id, chunk=ticket.chunk, custom_ids=ticket.custom_ids, intended_at=ticket.intended_at
        )

    def _sight(self, batch: str) -> Sight:
        return Sight(batch, where=self._where, policy=self._p.policy, clock=self._p.clock)

    @property
    def _where(self) -> str:
        return self._p.backend.traits.where

    # -- ending ---------------------------------------------------------------------------------

    @property
    def _closed(self) -> bool:
        return self._naps.is_closed

    @property
    def _ending(self) -> bool:
        return self.cancelled or self._naps.is_closed

    def _close(self) -> None:
        self._naps.close()

    async def _leave(self) -> None:
        """Let followers end where they are: asleep they wake, and what they are taking in they finish, in bounds."""
        if self._cancelling is not None:
            await asyncio.wait([self._cancelling])
        if self._followers:
            await asyncio.wait(self._followers, timeout=self._p.policy.drain_s)
        if self._followers:
            self._leave_at_once()
            await asyncio.wait(self._followers)
