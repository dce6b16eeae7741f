"""Collects the results of a batch: books, judges and settles each item by its custom id.

What is to be asked again or tried again goes to a later batch. The charge, the verdict and the outcome are made by the
settler and the judge that live calls have.
"""

import logging
from collections import deque
from collections.abc import Callable

from batchwork.core.bounds import WorstCase
from batchwork.core.breaker import Pause
from batchwork.core.decision import Decision, Move
from batchwork.core.event import Settled
from batchwork.core.failure import Failure
from batchwork.core.outcome import Deferred, Failed, Status
from batchwork.core.reply import Reply
from batchwork.core.stats import Tally
from batchwork.engine.batch import SealedBatch
from batchwork.engine.judge import Judge
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts
from batchwork.engine.settler import Settler

_log = logging.getLogger(__name__)
_SYNC_EVERY = 256  # outcomes that share one wait for the disk


class Collector:
    """Takes in the results of all batches of a run."""

    def __init__(
        self,
        parts: Parts,
        tally: Tally,
        worst: WorstCase,
        *,
        again: deque[Life],
        pause: Callable[[Pause], None],
    ) -> None:
        self._p = parts
        self._tally = tally
        self._worst = worst
        self._again = again
        self._pause = pause
        self._judge = Judge(parts)
        self.settler = Settler(parts, tally)
        self._unshown: list[Settled] = []

    async def take(self, batch: SealedBatch, name: str, result: Reply | Failure) -> None:
        """Take in one result."""
        item = batch.waiting.pop(name, None)
        if item is None:
            _log.debug("batch %s told of %s, which is not or no longer waited for", batch.ticket.batch_id, name)
            return
        state = self._p.journal.take(item)
        try:
            if state.status not in (Status.PENDING, Status.DEFERRED):
                return  # taken in before a crash
            life = batch.lives.get(name) or Life.known(state, self._p.journal.request_of(item))
            self._book(batch, name, life, result)
            await self._follow(life, result, self._judge.of_line(life, result))
        finally:
            self._p.journal.release(item)

    def _book(self, batch: SealedBatch, name: str, life: Life, result: Reply | Failure) -> None:
        """The item's share of the reservation becomes what it really cost."""
        reserved = batch.worst(name)
        worst = self._worst.nano(life.request) if reserved is None else reserved
        if batch.ticket.asked_again:
            self.settler.take_back(life, worst)
            self._p.gate.ledger.settle(0, -worst)
        else:
            self._tally.calls += 1
        self.settler.book(life, result, worst_nano=worst)
        self._p.gate.ledger.settle(batch.release(reserved or 0), life.charged_nano)

    async def _follow(self, life: Life, result: Reply | Failure, decision: Decision) -> None:
        """Do what was decided."""
        if decision.move is Move.ACCEPT:
            assert isinstance(result, Reply)
            outcome = self.settler.succeeded(life, result, decision.value)
            await self.show(self.settler.record_outcome(life, outcome))
            return
        assert decision.failure is not None
        if decision.move is Move.FAIL:
            await self.show(self.settler.record_outcome(life, self.settler.failed(life, decision.failure)))
            return
        self.settler.record_attempt(life, decision.failure)
        if decision.pause is not None:
            self._pause(decision.pause)
            return
        self._tally.retries += 1
        if decision.move is Move.ASK_AGAIN:
            life.ask_again(decision.turns)
        self._again.append(life)

    async def defer(self, life: Life, worst_nano: int) -> None:
        """There is no money for this item."""
        await self._settle_unsent(life, self.settler.deferred(life, worst_nano))

    async def fail(self, life: Life, failure: Failure) -> None:
        """No batch can hold this item."""
        await self._settle_unsent(life, self.settler.failed(life, failure))

    async def _settle_unsent(self, life: Life, outcome: Deferred | Failed) -> None:
        self._p.journal.take(life.item)
        event = self.settler.record_outcome(life, outcome)
        self._p.journal.release(life.item)
        await self.show(event)

    async def show(self, event: Settled) -> None:
        """An outcome is recorded: it is shown once it is on disk, many at a time."""
        self._unshown.append(event)
        if len(self._unshown) >= _SYNC_EVERY:
            await self.sync()

    async def sync(self) -> None:
        """On disk, then shown."""
        if not self._unshown:
            return
        settled, self._unshown = self._unshown, []
        try:
            await self._p.journal.durable()
        except BaseException:
            self._unshown = settled + self._unshown
            raise
        for event in settled:
            self.settler.show(event)
