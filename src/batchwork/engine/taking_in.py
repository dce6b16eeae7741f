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
from batchwork.core.outcome import AnyOutcome, Deferred, Failed, Status, Succeeded
from batchwork.core.ports import Verdict
from batchwork.core.pricing import Price
from batchwork.core.reply import Reply
from batchwork.core.retry import wait_before_retry
from batchwork.core.stats import Tally
from batchwork.engine.parts import Parts
from batchwork.engine.riders import Carriage, Rider
from batchwork.engine.telling import tell

_log = logging.getLogger(__name__)
_SYNC_EVERY = 256  # answers that share one wait for the disk


class Intaker:
    """Turns a batch's answers into outcomes."""

    def __init__(self, parts: Parts, tally: Tally, price: Price | None) -> None:
        self._p = parts
        self._tally = tally
        self._price = price
        self._breaker = Breaker(parts.policy)
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
            rider = carriage.riders.get(name) or Rider(
                item=item,
                index=state.index if state.index is not None else 0,
                request=self._p.journal.request_of(item),
                paid_nano=state.paid_nano,
                attempts=state.attempts,
            )
            charged = 0
            if said.usage is not None and self._price is not None:
                charged = self._price.cost(said.usage)
            self._book(rider, said, charged)
            if isinstance(said, Reply):
                return await self._judge(rider, said, charged)
            return await self._class(rider, said, charged)
        finally:
            self._p.journal.release(item)

    def _book(self, rider: Rider, said: Reply | Failure, charged: int) -> None:
        rider.attempts += 1
        rider.deferred = False
        rider.paid_nano += charged
        self._tally.calls += 1
        self._tally.charged_nano += charged
        self._p.gate.ledger.settle(0, charged)
        if said.usage is not None:
            rider.usage = said.usage if rider.usage is None else rider.usage + said.usage
            self._tally.input_tokens += said.usage.input_tokens
            self._tally.output_tokens += said.usage.output_tokens

    async def _judge(self, rider: Rider, reply: Reply, charged: int) -> Rider | None:
        self._breaker.answered()
        verdict = Verdict() if self._p.checker is None else self._p.checker.check(rider.request, reply)
        if verdict.failure is None:
            outcome = Succeeded(
                index=rider.index,
                reply=reply,
                parsed=verdict.value,
                attempts=rider.attempts,
                cost_nano=self._known(rider.paid_nano),
                usage=rider.usage,
                label=rider.request.label,
            )
            await self._settle(rider.item, outcome, charged)
            return None
        if not verdict.reask or rider.reasks >= self._p.policy.reasks:
            await self.fail(rider, msgspec.structs.replace(verdict.failure, reply=reply), charged)
            return None
        self._p.journal.record(Attempted(item=rider.item, kind=verdict.failure.kind, charged_nano=charged))
        rider.reasks += 1
        asked = rider.original
        rider.request = msgspec.structs.replace(asked, messages=(*asked.messages, *verdict.reask))
        return rider

    async def _class(self, rider: Rider, failure: Failure, charged: int) -> Rider | Pause | None:
        """The same table as for live calls; only what was not executed is special."""
        if failure.kind is FailureKind.EXPIRED:
            rider.expiries += 1
            if rider.expiries > self._p.policy.batch.max_expiries:
                await self.fail(rider, failure, charged)
                return None
            self._p.journal.record(Attempted(item=rider.item, kind=failure.kind))
            return rider
        pause = self._breaker.failed(failure, self._p.clock.now())
        if pause is not None:
            self._p.journal.record(Attempted(item=rider.item, kind=failure.kind, charged_nano=charged))
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
            await self.fail(rider, failure, charged)
            return None
        self._p.journal.record(Attempted(item=rider.item, kind=failure.kind, charged_nano=charged))
        return rider

    async def defer(self, rider: Rider, worst_nano: int) -> None:
        """No money for this one."""
        outcome = Deferred(
            index=rider.index,
            needed_nano=worst_nano,
            attempts=rider.attempts,
            cost_nano=self._known(rider.paid_nano),
            label=rider.request.label,
        )
        await self._settle(rider.item, outcome, 0, stands=rider.deferred)

    async def fail_unsent(self, work: Work, failure: Failure) -> None:
        """A row that cannot even be asked."""
        cost = self._known(work.paid_nano)
        outcome = Failed(index=work.index, failure=failure, attempts=work.attempts, cost_nano=cost)
        await self._settle(work.item, outcome, 0)

    async def fail(self, rider: Rider, failure: Failure, charged: int) -> None:
        """This one ends in a failure."""
        outcome = Failed(
            index=rider.index,
            failure=msgspec.structs.replace(failure, limits=None),
            attempts=rider.attempts,
            cost_nano=self._known(rider.paid_nano),
            usage=rider.usage,
            label=rider.request.label,
        )
        await self._settle(rider.item, outcome, charged)

    async def _settle(self, item: int, outcome: AnyOutcome, charged: int, *, stands: bool = False) -> None:
        """Record an outcome, unless it stands in the journal; it is told once it is on disk, many at a time."""
        event = Settled(item=item, outcome=outcome, charged_nano=charged)
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
            self._tally.count(event.outcome)
            tell(self._p.on_event, event)
            if self._p.on_settled is not None:
                self._p.on_settled(event.outcome)

    def _known(self, nano: int) -> int | None:
        return nano if self._p.price is not None else nano or None
