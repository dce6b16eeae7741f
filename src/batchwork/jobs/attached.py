"""Take up one provider batch of which nothing is known but its number: order and place come from the custom ids."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec

from batchwork.assembly import open_engine
from batchwork.core.errors import BackendError, ConfigError, RunPaused
from batchwork.core.event import BatchSubmitted
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.outcome import AnyOutcome, Failed, Succeeded
from batchwork.core.ports import BatchBackend, Clock, Entry, Totals
from batchwork.core.pricing import Price
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.core.ticket import index_of
from batchwork.engine import pauses
from batchwork.engine.attempt import within
from batchwork.engine.sending import pauses_between_looks
from batchwork.engine.sight import Sight
from batchwork.jobs.answers import BatchResults, Ending
from batchwork.jobs.asked import Asked
from batchwork.jobs.running import Watcher
from batchwork.statefile import State, StateView

_PASSING = frozenset(
    {
        FailureKind.CONNECTION,
        FailureKind.TIMEOUT,
        FailureKind.SERVER,
        FailureKind.OVERLOADED,
        FailureKind.RATE_LIMITED,
    }
)


class AttachedRun:
    """Waits for a batch and takes its answers in."""

    def __init__(self, batch_id: str, asked: Asked, *, knows_inputs: bool) -> None:
        if not isinstance(batch_id, str) or not batch_id:
            raise ConfigError(f"batch_id is the provider's id of a batch, got {batch_id!r}")
        self._batch_id = batch_id
        self._plan = plan = asked.plan
        self._asked = asked
        self._knows_inputs = knows_inputs
        self._request = Request.ask("-", model=plan.model, schema=asked.finisher.schema)
        self._watchers: list[Watcher] = []
        self._cancelled = asyncio.Event()
        self.view = StateView(_state(plan.model, 1, batch_id), ())

    def watch(self, watcher: Watcher) -> None:
        """Tell this one, too, and at once what is known from the start: the batch's number."""
        self._watchers.append(watcher)
        watcher.heard(BatchSubmitted(chunk=0, batch_id=self._batch_id))

    def cancel(self) -> None:
        """Cancel it at the provider; what it has finished is taken in."""
        self._cancelled.set()

    async def execute(self) -> BatchResults:
        """Wait for its end and take everything in.

        Raises:
            BackendError: the provider does not know the batch, or does not let us see it.
            RunPaused: the provider could not be asked for too long.
        """
        try:
            async with open_engine(self._plan) as engine:
                backend = engine.backend
                if not isinstance(backend, BatchBackend) or not backend.traits.batches:
                    raise ConfigError(f"{self._plan.model} has no batches to attach to")
                await self._until_ended(backend, backend.traits.where, engine.clock)
                outcomes = [
                    self._judged(name, said, engine.price) async for name, said in backend.collect_batch(self._batch_id)
                ]
                at, priced = engine.clock.utc(), engine.price is not None
        finally:
            for watcher in self._watchers:
                watcher.closed()
        outcomes.sort(key=lambda outcome: outcome.index)
        self.view = StateView(_state(self._plan.model, max(1, len(outcomes)), self._batch_id), [None] * len(outcomes))
        self.view.priced = priced
        for place, outcome in enumerate(outcomes):  # a batch may be one of several of its job
            self.view.total_nano += outcome.cost_nano or 0
            self.view.settled(msgspec.structs.replace(outcome, index=place), at)
        return BatchResults(_Listed(outcomes), self._asked.finisher, asked=self._question, ending=Ending(priced=priced))

    def _question(self, index: int) -> Request | None:
        """What was asked about an item, as far as whoever attached told us."""
        return self._asked.inputs.request(index, self._asked.defaults) if self._knows_inputs else None

    async def _until_ended(self, backend: BatchBackend, where: str, clock: Clock) -> None:
        policy = self._plan.policy
        sight = Sight(self._batch_id, where=where, policy=policy, clock=clock)
        for pause_s in pauses_between_looks(policy.batch):
            if self._cancelled.is_set():
                await backend.cancel_batch(self._batch_id)
                self._cancelled.clear()
            try:
                progress = await within(policy.timeout_s, backend.poll_batch(self._batch_id))
            except BackendError as error:
                if error.failure.kind not in _PASSING:
                    raise
                if sight.lost(error.failure):
                    pause = pauses.out_of_sight(self._batch_id, error.failure, where)
                    raise RunPaused(reason=pause.reason, remedy=pause.remedy, cause=pause.cause) from error
            else:
                sight.seen()
                if progress.ended and progress.failure is not None:
                    raise BackendError(progress.failure)
                if progress.ended:
                    return
            try:
                async with asyncio.timeout(pause_s):
                    await self._cancelled.wait()
            except TimeoutError:
                continue

    def _judged(self, name: str, said: Reply | Failure, price: Price | None) -> AnyOutcome:
        index = index_of(name)
        if index is None:
            raise ConfigError(f"batch {self._batch_id} holds {name!r}, which is not a request of ours")
        if self._knows_inputs and index >= len(self._asked.inputs):
            given = len(self._asked.inputs)
            raise ConfigError(f"batch {self._batch_id} holds item {index}, but only {given} were given: give them all")
        cost = None if price is None else 0
        if said.usage is not None and price is not None:
            cost = price.cost(said.usage)
        if isinstance(said, Reply):
            said = msgspec.structs.replace(said, body=None)  # nobody wants raw results of it
        if isinstance(said, Failure):
            return Failed(index=index, failure=said, attempts=1, cost_nano=cost, usage=said.usage)
        checker = self._plan.checker
        verdict = None if checker is None else checker.check(self._request, said)
        if verdict is not None and verdict.failure is not None:
            failure = msgspec.structs.replace(verdict.failure, reply=said)
            return Failed(index=index, failure=failure, attempts=1, cost_nano=cost, usage=said.usage)
        parsed = None if verdict is None else verdict.value
        return Succeeded(index=index, reply=said, parsed=parsed, attempts=1, cost_nano=cost, usage=said.usage)


class _Listed:
    """Outcomes in memory, where results are read from."""

    def __init__(self, outcomes: list[AnyOutcome]) -> None:
        self._outcomes = outcomes

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Entry]:
        """Places in order."""
        for outcome in self._outcomes[start:stop]:
            yield Entry(
                index=outcome.index,
                item=outcome.index,
                status=outcome.status,
                paid_nano=outcome.cost_nano or 0,
                attempts=outcome.attempts,
                outcome=outcome,
            )

    def count(self) -> int:
        """How many there are."""
        return len(self._outcomes)

    def totals(self) -> Totals:
        """The money."""
        return Totals(spent_nano=sum(o.cost_nano or 0 for o in self._outcomes), unconfirmed_nano=0)

    def close(self) -> None:
        """Nothing to let go."""


def _state(model: str, width: int, batch_id: str) -> State:
    return State(manager_id=batch_id, created_at="", model=model, items_per_job=width)
