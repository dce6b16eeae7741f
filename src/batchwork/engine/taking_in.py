"""Take in what an ended batch has to give: by custom id, checked and recorded like a live answer.

What was not executed, what may be tried again and what is to be asked again goes back to ride in a later batch.
"""

from __future__ import annotations

import logging

import msgspec

from batchwork.core.breaker import Breaker, Pause
from batchwork.core.event import Attempted, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Work
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.ports import Verdict
from batchwork.core.pricing import Price
from batchwork.core.reply import Reply
from batchwork.core.retry import wait_before_retry
from batchwork.core.stats import Tally
from batchwork.engine.parts import Parts
from batchwork.engine.riders import Carriage, Rider
from batchwork.engine.settling import Settler

_log = logging.getLogger(__name__)
_SYNC_EVERY = 256  # answers that share one wait for the disk


class Intaker:
    """Turns a batch's answers into outcomes."""

    def __init__(self, parts: Parts, tally: Tally, price: Price | None) -> None:
        self._p = parts
        self._tally = tally
        self._price = price
        self._breaker = Breaker(parts.policy)
        self._settler = Settler(parts, tally)
        self._unseen: list[Settled] = []

    async def take(self, carriage: Carriage, name: str, said: Reply | Failure) -> Rider | Pause | None:
        """One answer: a rider that rides again, a reason to pause the run, or nothing more to do."""
        item = carriage.waiting.pop(name, None)
        if item is None:
            _log.warning("batch %s told of %s, which is not or no longer waited for", carriage.ticket.batch_id, name)
            return None
        state = self._p.journal.take(item)
        try:
            if state.status not in (Status.PENDING, Status.DEFERRED):
                return None  # taken in before a crash
            rider = carriage.riders.get(name) or Rider.known(state, self._p.journal.request_of(item))
            self._book(rider, said)
            if isinstance(said, Reply):
                return await self._judge(rider, said)
            return await self._class(rider, said)
        finally:
            self._p.journal.release(item)

    def _book(self, rider: Rider, said: Reply | Failure) -> None:
        charged = 0 if said.usage is None or self._price is None else self._price.cost(said.usage)
        rider.book(charged, said.usage)
        rider.deferred = False
        self._tally.calls += 1
        self._tally.charged_nano += rider.charged_nano
        self._p.gate.ledger.settle(0, rider.charged_nano)
        if said.usage is not None:
            self._tally.input_tokens += said.usage.input_tokens
            self._tally.output_tokens += said.usage.output_tokens

    async def _judge(self, rider: Rider, reply: Reply) -> Rider | None:
        self._breaker.answered()
        verdict = Verdict() if self._p.checker is None else self._p.checker.check(rider.request, reply)
        if verdict.failure is None:
            outcome = self._settler.succeeded(rider.index, rider, reply, verdict.value)
            await self._note(rider.item, outcome, rider.charged_nano)
            return None
        if not verdict.reask or rider.reasks >= self._p.policy.reasks:
            await self.fail(rider, msgspec.structs.replace(verdict.failure, reply=reply))
            return None
        self._again(rider, verdict.failure)
        rider.reask(verdict.reask)
        return rider

    async def _class(self, rider: Rider, failure: Failure) -> Rider | Pause | None:
        """The same table as for live calls; only what was not executed is special."""
        if failure.kind is FailureKind.EXPIRED:
            rider.expiries += 1
            if rider.expiries > self._p.policy.batch.max_expiries:
                await self.fail(rider, failure)
                return None
            self._again(rider, failure)
            return rider
        pause = self._breaker.failed(failure, self._p.clock.now())
        if pause is not None:
            self._again(rider, failure)
            return pause
        rider.failures += 1
        wait_s = wait_before_retry(
            failure,
            attempts=rider.failures,
            refusals=rider.failures,
            elapsed_s=0.0,
            policy=self._p.policy.retry,
            dice=0.0,
        )
        if wait_s is None:
            await self.fail(rider, failure)
            return None
        self._again(rider, failure)
        return rider

    def _again(self, rider: Rider, failure: Failure) -> None:
        """This one rides again, or waits for the next run; what it cost so far is written down."""
        self._p.journal.record(Attempted(item=rider.item, kind=failure.kind, charged_nano=rider.charged_nano))
        rider.charged_nano = 0

    async def defer(self, rider: Rider, worst_nano: int) -> None:
        """No money for this one; what was deferred and is deferred again stands in the journal already."""
        outcome = self._settler.deferred(rider.index, rider, worst_nano)
        await self._note(rider.item, outcome, rider.charged_nano, stands=rider.deferred)

    async def fail_unsent(self, work: Work) -> None:
        """A row that cannot even be asked."""
        await self._note(work.item, self._settler.unsent(work), 0)

    async def fail(self, rider: Rider, failure: Failure) -> None:
        """This one ends in a failure."""
        await self._note(rider.item, self._settler.failed(rider.index, rider, failure), rider.charged_nano)

    async def _note(self, item: int, outcome: AnyOutcome, charged_nano: int, *, stands: bool = False) -> None:
        """Record an outcome, unless it stands in the journal; it is told once it is on disk, many at a time."""
        event = self._settler.event(item, outcome, charged_nano)
        if not stands:
            self._p.journal.take(item)
            self._p.journal.record(event)
            self._p.journal.release(item)
        self._unseen.append(event)
        if len(self._unseen) >= _SYNC_EVERY:
            await self.sync()

    async def sync(self) -> None:
        """On disk, then told."""
        if not self._unseen:
            return
        settled, self._unseen = self._unseen, []
        await self._p.journal.durable()
        for event in settled:
            self._settler.show(event)
