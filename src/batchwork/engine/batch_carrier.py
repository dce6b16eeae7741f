"""See one batch through: create, follow, collect, close. Decides nothing: it asks those who do, and records it."""

import logging
from collections.abc import Callable
from functools import partial

import msgspec

from batchwork.core.batch_book import LOST, UNSURE, Ticket
from batchwork.core.breaker import Breaker
from batchwork.core.errors import BackendError, JournalFencedError
from batchwork.core.event import BatchClosed, BatchSubmitted, BatchUploaded
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import Operation, Trait, traits_of
from batchwork.core.ports import BatchProgress, BatchTag, SharedJournal, Sighting
from batchwork.engine.attempt import within
from batchwork.engine.batch import BatchContext, SealedBatch
from batchwork.engine.batch_creator import BatchCreator, Unseen
from batchwork.engine.collector import Collector
from batchwork.engine.follower import BatchFollower, Unreachable, looks, out_of_sight, stalled
from batchwork.engine.life import Life

_log = logging.getLogger(__name__)
_SAME_CLOCK_S, _ANOTHER_CLOCK_S = 600.0, 86_400.0  # by how much a clock may differ from itself


class BatchCarrier:
    """Carries the batches of one run, several at a time."""

    def __init__(self, context: BatchContext, collector: Collector, *, shrink: Callable[[int], None]) -> None:
        self._context = context
        self._p = context.parts
        self._collector = collector
        self._shrink = shrink
        self._pause = context.pause
        self._where = self._p.backend.traits.where
        self._follower = BatchFollower(self._p, context.backend, context.tally, context.waits)
        self._creator = BatchCreator(context, sight=self._follower.sight)
        self._running: set[int] = set()  # batches that the provider has taken, as far as is known
        self._told_of_queue = False

    async def carry(self, batch: SealedBatch) -> None:
        """From its intent to its end; or to nothing, when the run closes first and the next one takes it up."""
        batch_id = batch.ticket.batch_id or await self._create(batch)
        if batch_id is None:
            return
        self._running.add(batch.ticket.chunk)
        try:
            await self._collect(batch_id, batch)
        finally:
            self._running.discard(batch.ticket.chunk)

    async def _create(self, batch: SealedBatch) -> str | None:
        """The provider's id for the batch; None when it has none: refused, absent, unseen, or the run closes first."""
        # An intent of an earlier run was made by a clock that may have been set since.
        slack_s = _SAME_CLOCK_S if batch.lines else _ANOTHER_CLOCK_S
        while True:
            answer = await self._creator.create(
                batch.lines, lambda: self._tag(batch.ticket, slack_s), partial(self._keep_file, batch)
            )
            is_full = isinstance(answer, Failure) and answer.kind is FailureKind.RATE_LIMITED
            if not is_full or not await self._wait_for_room():
                break
        is_own, batch.lines, ticket = bool(batch.lines), [], batch.ticket
        if answer is Sighting.ABSENT and not is_own and isinstance(self._p.journal, SharedJournal):
            answer = await self._p.journal.made_late(ticket.chunk) or answer
        if isinstance(answer, str):
            await self._keep(ticket, answer)
            if self._context.is_cancelled():
                await self.cancel(answer)
            return answer
        if isinstance(answer, Unseen):
            self._pause(out_of_sight(self._tag(ticket, 0.0).name, answer.failure, self._where))
        elif isinstance(answer, Failure):
            if traits_of(answer.kind, Operation.CREATE) & (Trait.RETRYABLE | Trait.HOPELESS):
                self._stop_creating(batch, answer)
            else:
                await self._refuse(batch, answer)
        elif answer is Sighting.ABSENT:
            self._send_again(batch)
            self._close_batch(batch, "absent")
        return None

    async def _keep(self, ticket: Ticket, batch_id: str) -> None:
        """The provider has the batch: on disk, or, where this process was taken over, in the hands of who follows it.

        Who has given it up has sent its items again, so that it must not run.
        """
        journal = self._p.journal
        journal.record(BatchSubmitted(chunk=ticket.chunk, batch_id=batch_id))
        try:
            await journal.durable()
        except JournalFencedError:
            if isinstance(journal, SharedJournal) and not await journal.hand_over(ticket.chunk, batch_id):
                await self.cancel(batch_id)
            raise

    async def _keep_file(self, batch: SealedBatch, file_id: str) -> None:
        """A batch will be made of this file: on disk before it is, so that it is known by its file afterwards."""
        self._p.journal.record(BatchUploaded(chunk=batch.ticket.chunk, file_id=file_id))
        await self._p.journal.durable()
        batch.ticket = msgspec.structs.replace(batch.ticket, file_id=file_id)

    async def cancel(self, batch_id: str) -> None:
        """Ask the provider to stop a batch; what it has finished is collected."""
        try:
            await within(self._p.policy.timeout_s, self._context.backend.cancel_batch(batch_id))
        except BackendError as error:
            _log.warning("cannot cancel batch %s: %s", batch_id, error.failure)

    async def _collect(self, batch_id: str, batch: SealedBatch) -> None:
        if not batch.waiting:  # everything was read before a crash, or given up
            await self._end_batch(batch, UNSURE)
            return
        there = await self._follower.until_ended(batch_id, unknown_wait_s=self._p.policy.batch.adopt_wait_s)
        if isinstance(there, BatchProgress):
            if there.failure is not None:
                await self._refuse(batch, there.failure, there.bad_lines)
                return
            take = partial(self._collector.take, batch)
            missing = await self._follower.collect(
                batch_id, take, is_complete=lambda _: not batch.waiting, unlisted=there.unlisted
            )
            if isinstance(missing, Failure):
                await self._give_up_results(batch, missing)
            elif not batch.waiting:
                await self._end_batch(batch, "collected")
            there = missing if isinstance(missing, Unreachable) else there
        if isinstance(there, Unreachable):
            self._pause(there.pause)

    async def _give_up_results(self, batch: SealedBatch, failure: Failure) -> None:
        """What could not be read is lost; what was asked for once more, in vain, is sent again."""
        if batch.ticket.asked_again:
            self._send_again(batch)
        for name in list(batch.waiting):
            await self._collector.take(batch, name, failure)
        await self._end_batch(batch, LOST)

    def _stop_creating(self, batch: SealedBatch, failure: Failure, how: str = "absent") -> None:
        """No batch is taken, whatever is in it: its items stay pending."""
        pause = Breaker(self._p.policy).failed(failure, self._p.clock.now())
        self._close_batch(batch, how)
        self._pause(pause or stalled(failure, self._where))

    async def _refuse(
        self, batch: SealedBatch, failure: Failure, bad_lines: tuple[tuple[int, Failure], ...] = ()
    ) -> None:
        """The provider took none of it: where it says for which lines, they alone are at fault."""
        if failure.kind is FailureKind.RATE_LIMITED and not bad_lines:
            await self._leave_queue(batch, failure)
            return
        names = batch.ticket.custom_ids
        by_line = dict(zip(batch.ticket.lines or range(1, len(names) + 1), names, strict=True))
        for number, problem in bad_lines:
            if (name := by_line.get(number)) is not None:
                await self._collector.take(batch, name, problem)
        if bad_lines:
            self._send_again(batch)
        elif failure.kind is FailureKind.TOO_LONG and len(names) > 1:
            self._shrink(len(names) // 2)
            self._send_again(batch)
        for name in list(batch.waiting):
            await self._collector.take(batch, name, failure)
        await self._end_batch(batch, "refused")
        if self._context.again and (wait_s := self._creator.wait_after(failure, 1)) is not None:
            await self._context.waits.wait(wait_s)

    async def _leave_queue(self, batch: SealedBatch, failure: Failure) -> None:
        """There was no room for it in the provider's queue, which says nothing about its items.

        It goes again when another one has ended; where there is none, smaller, and at last the run pauses.
        """
        self._running.discard(batch.ticket.chunk)
        count = len(batch.ticket.items)
        if not await self._wait_for_room():
            if count == 1:
                self._stop_creating(batch, failure, "refused")
                return
            self._shrink(count // 2)
        self._send_again(batch)
        await self._end_batch(batch, "refused")

    async def _wait_for_room(self) -> bool:
        """Wait until a batch of this run has ended, which makes room for another; False where none is under way."""
        running = set(self._running)
        if running and not self._told_of_queue:
            self._told_of_queue = True
            _log.warning("the provider's queue is full: further batches go as those that are under way end")
        for pause_s in looks(self._p.policy.batch):
            if self._context.waits.is_closed or not running <= self._running:
                break
            if not running:
                return False
            await self._context.waits.wait(pause_s)
        return True

    def _send_again(self, batch: SealedBatch) -> None:
        """What the batch does not answer goes into another one."""
        for name, item in batch.waiting.items():
            life = batch.lives.get(name)
            if life is None:
                life = Life.known(self._p.journal.take(item), self._p.journal.request_of(item))
                self._p.journal.release(item)
            self._context.again.append(life)
        batch.waiting.clear()

    async def _end_batch(self, batch: SealedBatch, how: str) -> None:
        self._close_batch(batch, how)  # on disk with the last of its items: how it ended says what a retry may ask
        await self._collector.sync()
        await self._p.journal.durable()

    def _close_batch(self, batch: SealedBatch, how: str) -> None:
        self._p.journal.record(BatchClosed(chunk=batch.ticket.chunk, how=how))
        self._p.gate.ledger.settle(batch.reserved_nano, 0)

    def _tag(self, ticket: Ticket, slack_s: float) -> BatchTag:
        return BatchTag(
            looked_at=self._p.clock.utc(),
            slack_s=slack_s,
            run_id=self._context.journal_id,
            chunk=ticket.chunk,
            custom_ids=ticket.custom_ids,
            intended_at=ticket.at,
            known=frozenset(self._p.journal.batches.ids),
            file_id=ticket.file_id,
        )
