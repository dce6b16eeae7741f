"""The JSON view of a run at `state_path`: its shape, and the fold from events to it. The truth is the journal.

A view is built from what the journal holds and moved on by the events of the run; whoever shows progress, counts items
or writes the file reads the same one. Items are replaced, never changed, so that another thread can write it meanwhile.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from batchwork.core.batch_book import Ticket, index_of
from batchwork.core.event import Attempted, BatchClosed, BatchIntended, BatchSubmitted, Event, Settled
from batchwork.core.money import NANO
from batchwork.core.outcome import Deferred, Status
from batchwork.core.ports import JournalView, Totals
from batchwork.core.stats import RunFigures, Tally

PENDING, PROCESSING, SUCCEEDED, FAILED, COMPLETED = "pending", "processing", "succeeded", "failed", "completed"
OVER_BUDGET = "deferred: over max_cost"
_NONE: Mapping[int, Any] = {}
_EXPLAINED = frozenset({Status.FAILED, Status.DEFERRED, Status.SKIPPED})


class ItemView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One item as the file shows it."""

    original_index: int
    content: Any = None
    status: str = PENDING
    error: str | None = None
    cost: float | None = None
    completed_at: str | None = None


class JobView(msgspec.Struct, kw_only=True):
    """One job as the file shows it. `batch_id` is the provider's latest for it, None when it ran live."""

    index: int
    batch_id: str | None = None
    batch_ids: list[str] = []
    status: str = PENDING
    items: list[ItemView]
    job_cost: float | None = 0.0  # None: what an item of it cost is not known
    started_at: str | None = None
    completed_at: str | None = None


class OpenBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A provider batch that is not done with: enough to take it up where the journal is not at hand."""

    batch_id: str | None  # None: it was about to be submitted
    custom_ids: tuple[str, ...]
    reserved: float
    intended_at: float

    def places(self) -> list[int]:
        """The places of its items."""
        return [place for place in map(index_of, self.custom_ids) if place is not None]


class State(msgspec.Struct, kw_only=True):
    """The whole file, with the fields of the founding document and what tells this input from another."""

    manager_id: str
    created_at: str
    model: str
    items_per_job: int
    max_cost: float | None = None
    save_results_dir: str | None = None
    batch_kwargs: dict[str, Any] = {}
    inputs_digest: str = ""
    jobs: list[JobView] = []
    open_batches: list[OpenBatch] = []
    total_cost: float | None = 0.0  # None: the price is not known
    unconfirmed_cost: float = 0.0  # of it: calls that may not be billed, booked at their worst case
    last_updated: str = ""


_decode = msgspec.json.Decoder(State).decode
_encode = msgspec.json.Encoder().encode


def read_state(path: Path) -> State | None:
    """The state in a file; None when it is not one (cut off, edited, empty). Raises OSError."""
    try:
        return _decode(path.read_bytes())
    except msgspec.MsgspecError:
        return None


@dataclass(slots=True)
class _Job:
    """What a job adds up to while its items move."""

    view: JobView
    counts: Counter[str]
    nano: int = 0

    def restate(self) -> None:
        """What its items make of it: with nothing to do any more it is completed, or failed when nothing else is."""
        counts, total = self.counts, len(self.view.items)
        if counts[PROCESSING]:
            self.view.status = PROCESSING
        elif counts[SUCCEEDED] + counts[FAILED] < total:
            self.view.status = PENDING
        else:
            self.view.status = FAILED if counts[FAILED] == total else COMPLETED


class StateView:
    """A run as people see it: items in jobs of `items_per_job`."""

    def __init__(self, state: State, contents: Iterable[Any]) -> None:
        self.state = state
        self._width = state.items_per_job
        items = [ItemView(original_index=index, content=content) for index, content in enumerate(contents)]
        slices = [items[start : start + self._width] for start in range(0, len(items), self._width)]
        state.jobs = [JobView(index=index, items=part) for index, part in enumerate(slices)]
        self._jobs = [_Job(job, Counter({PENDING: len(job.items)})) for job in state.jobs]
        self._chunks: dict[int, list[int]] = {}  # places by provider batch
        self._open: dict[int, OpenBatch] = {}  # provider batches that are not closed
        self._nano: dict[int, int] = {}  # what an item cost, to count a second try once
        self.counts: Counter[str] = Counter({PENDING: len(items)})
        self.job_counts: Counter[str] = Counter({PENDING: len(self._jobs)})
        self.deferred: set[int] = set()
        self.needed: dict[int, int] = {}  # the worst case of an item that was deferred in this run
        self.total_nano = self.unconfirmed_nano = 0
        self.tally: Tally | None = None  # of the run that moves it
        self.figures: RunFigures | None = None  # of an earlier run
        self.priced = True  # what calls cost is known
        self.total = len(items)

    @classmethod
    def of_one_job(cls, model: str, count: int) -> Self:
        """The view of a job that writes no state file, and so needs no contents."""
        state = State(manager_id="", created_at="", model=model, items_per_job=max(1, count))
        return cls(state, [None] * count)

    # -- from events ----------------------------------------------------------------------------

    def apply(self, event: Event, at: float) -> None:
        """Move on by one event."""
        if isinstance(event, Settled | Attempted):
            self.total_nano += event.charged_nano
            self.unconfirmed_nano += event.charged_nano if event.unconfirmed else 0
        if isinstance(event, Settled):
            outcome = event.outcome
            if isinstance(outcome, Deferred):
                self.needed[outcome.index] = outcome.needed_nano
            self.settled(outcome.index, outcome.status, outcome.cost_nano, at, outcome.error)
        elif isinstance(event, BatchIntended):
            self.recall(event.chunk, event.custom_ids)
            for index in self._chunks[event.chunk]:
                if self.item(index).status != SUCCEEDED:
                    self.started(index, at)
            self._follow(event.chunk, None, event.custom_ids, event.reserved_nano, event.at)
        elif isinstance(event, BatchSubmitted):
            self.submitted(event.chunk, event.batch_id)
        elif isinstance(event, BatchClosed):
            self._open.pop(event.chunk, None)
            for index in self._chunks.pop(event.chunk, ()):
                if self.item(index).status == PROCESSING:
                    self._move(index, PENDING)

    def started(self, index: int, at: float) -> None:
        """An item is being worked on."""
        job = self._job(index)
        job.view.started_at = job.view.started_at or stamp(at)
        self._move(index, PROCESSING)

    def settled(self, index: int, status: Status, nano: int | None, at: float | None, error: str | None) -> None:
        """An item has its outcome."""
        if status is Status.DEFERRED:
            self._move(index, PENDING, error=OVER_BUDGET, cost_nano=nano)
            self.deferred.add(index)
        else:
            self._move(index, SUCCEEDED if status is Status.SUCCEEDED else FAILED, error=error, cost_nano=nano, at=at)

    def recall_batch(self, event: Event) -> None:
        """Something that an earlier run recorded about a provider batch."""
        if isinstance(event, BatchIntended):
            self.recall(event.chunk, event.custom_ids)
        elif isinstance(event, BatchSubmitted):
            self.submitted(event.chunk, event.batch_id)

    def recall(self, chunk: int, custom_ids: Iterable[str]) -> None:
        """These items are, or were, in a provider batch."""
        places = (index_of(name) for name in custom_ids)
        self._chunks[chunk] = [place for place in places if place is not None and place < self.total]

    def taken_up(self, ticket: Ticket) -> None:
        """A provider batch of an earlier run goes on: what of it is not settled is under way."""
        self.recall(ticket.chunk, ticket.custom_ids)
        self._follow(ticket.chunk, ticket.batch_id, ticket.custom_ids, ticket.reserved_nano, ticket.at)
        for index in self._chunks[ticket.chunk]:
            if self.item(index).status == PENDING:
                self.started(index, ticket.at)

    def _follow(self, chunk: int, batch_id: str | None, names: tuple[str, ...], nano: int, at: float) -> None:
        self._open[chunk] = OpenBatch(batch_id=batch_id, custom_ids=names, reserved=nano / NANO, intended_at=at)

    def submitted(self, chunk: int, batch_id: str) -> None:
        """The provider has given the batch its number."""
        if chunk in self._open:
            self._open[chunk] = msgspec.structs.replace(self._open[chunk], batch_id=batch_id)
        for number in {self.job_of(index) for index in self._chunks.get(chunk, ())}:
            job = self._jobs[number].view
            job.batch_id = batch_id
            if batch_id not in job.batch_ids:
                job.batch_ids = [*job.batch_ids, batch_id]

    def restore(
        self, journal: JournalView, totals: Totals, *, priced: bool, times: Mapping[int, float] = _NONE
    ) -> None:
        """Bring it up to a journal, which is the truth: its money, its places, when they settled, why some failed."""
        self.priced, self.total_nano, self.unconfirmed_nano = priced, totals.spent_nano, totals.unconfirmed_nano
        errors = errors_in(journal) if journal.count() else _NONE
        for entry in journal.entries(bodies=False):
            index, status, nano, at = entry.index, entry.status, entry.paid_nano, times.get(entry.index)
            if index >= self.total or status is Status.PENDING:
                continue
            known = nano or self.priced or status is Status.DEFERRED
            self.settled(index, status, nano if known else None, at, errors.get(index))
            job = self._job(index).view
            if at is not None and status is not Status.DEFERRED:
                job.started_at = min(job.started_at or stamp(at), stamp(at))

    def forget_processing(self) -> None:
        """The run has ended: what is in no provider batch that goes on is pending again."""
        keep = {index for chunk in self._open for index in self._chunks[chunk]}
        for job in self._jobs:
            if job.counts[PROCESSING]:
                for item in list(job.view.items):
                    if item.status == PROCESSING and item.original_index not in keep:
                        self._move(item.original_index, PENDING)

    # -- looking --------------------------------------------------------------------------------

    def item(self, index: int) -> ItemView:
        """One item."""
        return self._job(index).view.items[index % self._width]

    def is_settled(self, job: int) -> bool:
        """Whether every item of a job has ended, were it for lack of money."""
        counts, items = self._jobs[job].counts, self._jobs[job].view.items
        left = len(items) - counts[SUCCEEDED] - counts[FAILED]
        if not left or not self.deferred:
            return not left
        return left == sum(item.original_index in self.deferred for item in items)

    def job_of(self, index: int) -> int:
        """The job of an item."""
        return index // self._width

    @property
    def done(self) -> int:
        """Items that have ended, were it for lack of money."""
        return self.counts[SUCCEEDED] + self.counts[FAILED] + len(self.deferred)

    @property
    def spent_nano(self) -> int | None:
        """What was paid; None when it is not known, which is never zero."""
        return self.total_nano if self.priced or self.total_nano else None

    def encoded(self, at: float) -> bytes:
        """The file's content."""
        spent = self.spent_nano
        self.state.open_batches = list(self._open.values())
        self.state.total_cost = None if spent is None else spent / NANO
        self.state.unconfirmed_cost = self.unconfirmed_nano / NANO
        self.state.last_updated = stamp(at)
        return _encode(self.state)

    # -- moving ---------------------------------------------------------------------------------

    def _job(self, index: int) -> _Job:
        return self._jobs[index // self._width]

    def _move(
        self,
        index: int,
        status: str,
        *,
        error: str | None = None,
        cost_nano: int | None = None,
        at: float | None = None,
    ) -> None:
        job = self._job(index)
        before = job.view.items[index % self._width]
        self.deferred.discard(index)
        for counts in (self.counts, job.counts):
            counts[before.status] -= 1
            counts[status] += 1
        if cost_nano is not None:
            job.nano += cost_nano - self._nano.get(index, 0)
            self._nano[index] = cost_nano
            job.view.job_cost = job.nano / NANO
        elif status in (SUCCEEDED, FAILED):
            job.view.job_cost = None
        job.view.items[index % self._width] = ItemView(
            original_index=index,
            content=before.content,
            status=status,
            error=error,
            cost=None if cost_nano is None else cost_nano / NANO,
            completed_at=None if at is None else stamp(at),
        )
        was = job.view.status
        job.restate()
        if job.view.status != was:
            self.job_counts[was] -= 1
            self.job_counts[job.view.status] += 1
        done = job.view.status in (COMPLETED, FAILED)
        job.view.completed_at = (stamp(at) if at is not None else job.view.completed_at) if done else None


def errors_in(journal: JournalView) -> dict[int, str]:
    """Why there is no answer, by place."""
    entries = ((entry.index, entry.outcome) for entry in journal.entries(statuses=_EXPLAINED))
    return {index: outcome.error or "" for index, outcome in entries if outcome is not None}


def stamp(utc: float) -> str:
    """A time as the file shows it."""
    return datetime.fromtimestamp(utc, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
