"""A provider batch of which nothing is known but its number: order and place come from the custom ids.

It is followed, judged and settled by the same parts as a batch run; only, nothing is ever sent.
"""

import asyncio
import logging

import msgspec

from batchwork.assembly import open_engine
from batchwork.core.batch_book import index_of
from batchwork.core.bounds import WorstCase
from batchwork.core.decision import Move
from batchwork.core.errors import BackendError, BatchworkError, ConfigError, RunPaused
from batchwork.core.event import BatchSubmitted
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Intake
from batchwork.core.outcome import AnyOutcome
from batchwork.core.ports import BatchBackend, BatchProgress, Totals
from batchwork.core.pricing import charge_for
from batchwork.core.reply import Reply
from batchwork.core.request import Request, digest
from batchwork.core.words import ATTACHED
from batchwork.engine.attempt import within
from batchwork.engine.engine import Engine
from batchwork.engine.follower import BatchFollower, Unreachable
from batchwork.engine.judge import Judge
from batchwork.engine.life import Life
from batchwork.engine.settler import Settler
from batchwork.engine.waits import Waits
from batchwork.manager.job_run import Watcher
from batchwork.manager.options import PreparedJob
from batchwork.manager.results import BatchResults, Question
from batchwork.manager.state_file import StateView
from batchwork.notify import Notifier
from batchwork.results import SomePlaces

_log = logging.getLogger(__name__)
_ANSWERED = frozenset({FailureKind.REJECTED, FailureKind.AUTH})  # about this batch: no later look will say otherwise


class _Collector:
    """Settles the results of the batch, each at the place that its custom id names."""

    def __init__(
        self, engine: Engine, batch_id: str, request: Request, *, question: Question, given: int | None
    ) -> None:
        self._question = question
        self._worst = WorstCase(engine.price, engine.backend.traits)
        self.given = given  # how many items the caller knows of; None: none
        self.total: int | None = None  # how many the provider counts
        self.outcomes: dict[int, AnyOutcome] = {}
        self.priced = engine.price is not None
        self._engine = engine
        self._batch_id = batch_id
        self._request = request
        self._judge = Judge(engine, sends=False)
        self._settler = Settler(engine, engine.tally)

    def is_complete(self, problem: Failure | None) -> bool:
        """Whether everything was read, after a download with this problem."""
        return problem is None and len(self.outcomes) >= (self.total or 0)

    async def take(self, name: str, result: Reply | Failure) -> None:
        """Take in one result. ConfigError: the batch is another one than whoever attached believes."""
        index = index_of(name)
        if index is None:
            raise ConfigError(f"batch {self._batch_id} holds {name!r}, which is not a request of ours")
        if self.given is not None and index >= self.given:
            raise ConfigError(
                f"batch {self._batch_id} holds item {index}, but only {self.given} were given: give them all"
            )
        if index not in self.outcomes:
            self.settle(index, result)

    def settle(self, index: int, result: Reply | Failure) -> None:
        """Book, judge and settle one item."""
        fingerprint = digest(f"{self._batch_id} {index}".encode())
        row = Intake(fingerprint=fingerprint, request=self._request, columns=None)
        state = self._engine.journal.place(index, row)
        life = Life.known(state, self._request)
        # The provider may not say what it bills: then only the request says how much it can be, where it is given.
        has_usage = not charge_for(result, price=self._engine.price, worst_nano=1).unconfirmed
        request = None if has_usage else self._question(index)
        self._settler.book(life, result, worst_nano=0 if request is None else self._worst.nano(request))
        decision = self._judge.of_line(life, result)
        outcome: AnyOutcome
        if decision.move is Move.ACCEPT:
            assert isinstance(result, Reply)
            outcome = self._settler.succeeded(life, result, decision.value)
        else:
            assert decision.failure is not None
            outcome = self._settler.failed(life, decision.failure)
        if not has_usage and not life.unconfirmed:
            self.priced = False
            outcome = msgspec.structs.replace(outcome, cost_nano=None)
        self.outcomes[index] = outcome
        self._settler.show(self._settler.record_outcome(life, outcome))


class AttachedRun:
    """Waits for a batch and takes its answers in."""

    def __init__(self, batch_id: str, job: PreparedJob, *, knows_inputs: bool) -> None:
        if not isinstance(batch_id, str) or not batch_id:
            raise ConfigError(f"batch_id is the provider's id of a batch, got {batch_id!r}")
        self._batch_id = batch_id
        self._job = job
        self._plan = plan = job.plan
        self._knows_inputs = knows_inputs
        request = Request.ask("-", model=plan.model, schema=job.finisher.schema)
        self._request = request if (quoting := job.finisher.quoting) is None else quoting.asked(request)
        self._watchers: list[Watcher] = []
        self._cancelled = asyncio.Event()
        self.view = StateView.of_one_job(plan.model, 0)

    def watch(self, watcher: Watcher) -> None:
        """Have one more watcher; the batch's number is known from the start."""
        self._watchers.append(watcher)
        watcher.heard(BatchSubmitted(chunk=0, batch_id=self._batch_id))

    def cancel(self) -> None:
        """Cancel it at the provider; what it has finished is taken in."""
        self._cancelled.set()

    async def execute(self) -> BatchResults:
        """Wait for its end, take everything in, and send the notice of it where one is wanted.

        Raises BackendError where the provider does not know the batch, does not let us see it, or has none of its
        results; RunPaused where it could not be asked for too long.
        """
        target = self._job.supplied.notify
        notifier = None if target is None else Notifier(target, {"model": self._plan.model, "journal": None})
        if notifier is None:
            return await self._execute(None)
        try:
            results = await self._execute(notifier)
        except BatchworkError as error:
            await notifier.broke_off(error)
            raise
        await notifier.closed(None)
        return results

    async def _execute(self, notifier: Notifier | None) -> BatchResults:
        try:
            async with open_engine(self._plan, self._job.supplied) as engine:
                if notifier is not None:
                    priced = engine.price is not None
                    notifier.opened(engine.tally, engine.clock, engine.journal, ceiling_nano=None, priced=priced)
                backend = engine.backend
                if not isinstance(backend, BatchBackend) or not backend.traits.batches:
                    raise ConfigError(f"{self._plan.model} has no batches to attach to")
                given = len(self._job.inputs) if self._knows_inputs else None
                collector = _Collector(engine, self._batch_id, self._request, question=self._question, given=given)
                canceller = asyncio.create_task(self._cancel_when_asked(backend))
                try:
                    await self._follow(engine, backend, collector)
                finally:
                    canceller.cancel()
                    if notifier is not None:
                        notifier.take_stock()
                at = engine.clock.utc()
        finally:
            for watcher in self._watchers:
                watcher.closed()
        places, priced = sorted(collector.outcomes), collector.priced
        self.view = StateView.of_one_job(self._plan.model, len(places))
        self.view.priced, self.view.unconfirmed_nano = priced, engine.tally.unconfirmed_nano if priced else 0
        for place, index in enumerate(places):  # a batch may be one of several of its job
            outcome = collector.outcomes[index]
            self.view.total_nano += (outcome.cost_nano or 0) if priced else 0
            self.view.settled(place, outcome.status, outcome.cost_nano, at, outcome.error)
        source = SomePlaces(engine.journal, places)
        if not priced:  # a sum that lacks some of its parts is no sum
            source.totals = lambda: Totals(spent_nano=0, unconfirmed_nano=0)
        return BatchResults(source, self._job.finisher, priced=priced, question=self._question)

    async def _cancel_when_asked(self, backend: BatchBackend) -> None:
        await self._cancelled.wait()
        try:
            await within(self._plan.policy.timeout_s, backend.cancel_batch(self._batch_id))
        except BackendError as error:
            _log.warning("cannot cancel batch %s: %s", self._batch_id, error.failure)

    async def _follow(self, engine: Engine, backend: BatchBackend, collector: _Collector) -> None:
        follower = BatchFollower(engine, backend, engine.tally, Waits(engine.clock))
        ended = await follower.until_ended(self._batch_id, unknown_wait_s=0.0)
        if isinstance(ended, BatchProgress):
            if ended.failure is not None:
                raise BackendError(ended.failure)
            collector.total = ended.total
            lost = await follower.collect(
                self._batch_id, collector.take, is_complete=collector.is_complete, unlisted=ended.unlisted
            )
            if isinstance(lost, Failure):
                self._lose(lost, collector)
                return
            ended = lost
        if isinstance(ended, Unreachable):
            if ended.failure.kind in _ANSWERED:
                raise BackendError(ended.failure)
            raise RunPaused(**ended.pause.at(ATTACHED))

    def _lose(self, failure: Failure, collector: _Collector) -> None:
        """Some results cannot be had: which ones is known only where the batch holds all that was given."""
        outcomes = collector.outcomes
        if collector.given is not None and collector.total == collector.given:
            for index in set(range(collector.given)) - outcomes.keys():
                collector.settle(index, failure)
        elif not outcomes:
            raise BackendError(failure)
        else:
            _log.warning("batch %s: %d results, and some are missing: %s", self._batch_id, len(outcomes), failure)

    def _question(self, index: int) -> Request | None:
        """What was asked about an item, where whoever attached has given it."""
        return self._job.inputs.request(index) if self._knows_inputs else None
