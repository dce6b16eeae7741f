"""The opened parts of one run: one backend behind one gate, writing one journal. It starts passes over inputs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from batchwork.core.event import Event, RunInput
from batchwork.core.failure import FailureKind
from batchwork.core.intake import InputRow, Work
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.ports import Backend, BatchBackend, Checker, Journal, SharedJournal, Standing
from batchwork.core.stats import Tally
from batchwork.engine.batch_run import BatchRun
from batchwork.engine.live_run import LiveRun
from batchwork.engine.parts import Parts
from batchwork.engine.read_ahead import Later, ReadAhead
from batchwork.engine.run import Run
from batchwork.engine.sharing import Sharing
from batchwork.engine.slices import Slices
from batchwork.engine.worklist import open_inputs, reopen_items
from batchwork.notify import NoticeTarget
from batchwork.plan import Plan

# What a retry takes up: what failed or was deferred, and what an interrupted run or retry left pending.
_AGAIN = frozenset({Status.FAILED, Status.DEFERRED, Status.PENDING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """What a caller hands to one run beside its plan: callbacks, and objects of its own."""

    checker: Checker | None = None
    response_model: Any = None  # a Pydantic model that answers become instances of, when somebody looks
    backend: Backend | None = None  # the user's own; None: chosen by the model's name
    journal: Journal | None = None  # one in memory that is gone on with
    slices: Slices | None = None  # how the input is divided into jobs; made for one run
    remembered: Mapping[str, Any] = field(default_factory=dict)  # kept in the journal beside the plan's settings
    input: RunInput = field(default_factory=RunInput)
    notify: NoticeTarget | None = None  # where the end, a pause and the budget are told
    view: bool = False  # shown by a viewer of its own, from its start to its end
    on_event: Callable[[Event], None] | None = None
    on_settled: Callable[[AnyOutcome], None] | None = None
    has_room: Callable[[], bool] | None = None  # whether whoever takes the outcomes can take more


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine(Parts):
    """The opened parts of one run, which `assembly.open_engine` opens and closes; makes passes over an input."""

    plan: Plan
    standing: Standing
    tally: Tally

    @property
    def uses_batches(self) -> bool:
        """Whether calls go through provider batches: asked for, and the backend has them."""
        return self.plan.mode == "batch" and self.backend.traits.batches

    def start(self) -> Run:
        """A new pass over an input, in provider batches or live; `process` or `again` sees it through."""
        if self.uses_batches and isinstance(self.backend, BatchBackend):
            return BatchRun(self, self.backend, self.tally, journal_id=self.standing.run_id)
        return LiveRun(self, self.tally)

    async def process(
        self,
        run: Run,
        intakes: Iterable[InputRow],
        *,
        ahead: int = 0,
        retry_failed: frozenset[FailureKind] = frozenset(),
    ) -> None:
        """Read an input and see it through; one that may block is read `ahead` in a thread of its own."""
        apart = ReadAhead(intakes, window=ahead, wake=run.wake) if ahead else None
        rows = intakes if apart is None else apart
        source = open_inputs(self.journal, rows, self.tally, again=retry_failed, asks_lost=self.uses_batches)
        try:
            if isinstance(self.journal, SharedJournal) and self.journal.is_shared:
                async with self._sharing(self.journal, source, run) as shared:
                    await run.run(shared)
            else:
                await run.run(source)
        finally:
            if apart is not None:
                await apart.aclose()

    @property
    def is_helper(self) -> bool:
        """Whether another process reads the input."""
        return isinstance(self.journal, SharedJournal) and self.journal.is_joined

    async def help(self, run: Run, *, first_row: bytes | None) -> None:
        """Work on what another process places, until it is gone; where that begins with another row, refuse to."""
        assert isinstance(self.journal, SharedJournal)
        async with self._sharing(self.journal, None, run, first_row) as shared:
            await run.run(shared, is_input=False)

    def _sharing(
        self,
        journal: SharedJournal,
        source: Iterator[Work | Later | None] | None,
        run: Run,
        first_row: bytes | None = None,
    ) -> Sharing:
        return Sharing(
            journal,
            self.tally,
            source,
            clock=self.clock,
            wake=run.wake,
            stop=run.stop,
            window=self.policy.max_in_flight,
            max_wait_s=self.policy.max_wait_s,
            first_row=first_row,
            take_up=run.take_up if isinstance(run, BatchRun) else None,
        )

    async def again(self, run: Run) -> None:
        """Take the journal's failed, deferred and pending items up again."""
        counts = self.journal.counts()
        self.tally.is_retry, self.tally.total = True, sum(counts[status] for status in _AGAIN)
        await run.run(reopen_items(self.journal, _AGAIN, self.tally, asks_lost=self.uses_batches), is_input=False)
