"""Collects the results of a batch: each is booked, judged and settled as a live call is, or goes to a later batch."""

import logging

from batchwork.core.decision import Decision, Move
from batchwork.core.event import Settled
from batchwork.core.failure import Failure
from batchwork.core.outcome import Deferred, Failed, Status
from batchwork.core.reply import Reply
from batchwork.engine.batch import BatchContext, SealedBatch
from batchwork.engine.judge import Judge
from batchwork.engine.life import Life
from batchwork.engine.settler import Settler

_log = logging.getLogger(__name__)
_SYNC_EVERY = 256  # outcomes that share one wait for the disk


class Collector:
    """Takes in the results of all batches of a run."""

    def __init__(self, context: BatchContext) -> None:
        self._context = context
        self._p = context.parts
        self._tally = context.tally
        self._judge = Judge(self._p)
        self.settler = Settler(self._p, self._tally)
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
        reserved = batch.worst.get(name)
        worst = self._context.worst.nano(life.request) if reserved is None else reserved
        if batch.ticket.asked_again:
            self.settler.unbook_lost(life, worst)
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
        self.settler.record_attempt(life, result, decision.failure)
        if decision.pause is not None:
            self._context.pause(decision.pause)
            return
        life.is_resent = True
        if decision.move is Move.ASK_AGAIN:
            life.ask_again(decision.turns)
        self._context.again.append(life)

    async def settle_unsent(self, life: Life, outcome: Deferred | Failed) -> None:
        """There is no money for an item, or no batch can hold it."""
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
