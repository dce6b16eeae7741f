"""The numbers of a job or of all jobs of a manager: `JobStats` for programs, a snapshot for the display."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

from batchwork.core.money import to_dollars
from batchwork.core.ports import Totals
from batchwork.core.stats import Accounting, RunFigures
from batchwork.core.words import Door
from batchwork.manager.state_file import COMPLETED, FAILED, PROCESSING, SUCCEEDED, StateView
from batchwork.progress import JobCounts, Snapshot
from batchwork.summary import Summary, grouped

_NO_RUN = RunFigures()


@dataclass(frozen=True, kw_only=True, eq=False)
class JobStats(dict[str, Any]):
    """Where every item is: completed + failed + deferred + pending = total.

    As attributes money is exact (Decimal); by name everything is as JSON has it, so that `json.dumps` takes it.
    """

    total_items: int
    completed_items: int = 0
    failed_items: int = 0
    deferred_items: int = 0
    pending_items: int = 0
    is_complete: bool = False  # a job has ended, however; a manager has nothing left to do
    total_cost: Decimal | None = Decimal(0)  # None: the price is not known
    unconfirmed_cost: Decimal = Decimal(0)  # of it: calls that may not be billed, booked at their worst case
    max_cost: Decimal | None = None
    cost_limit_reached: bool = False
    jobs_total: int = 1
    jobs_completed: int = 0  # with nothing left to do, and not all of it failed
    jobs_failed: int = 0  # every item of it failed
    jobs_in_progress: int = 0
    batch_id: str | None = None  # of a job alone: the provider's latest
    deferred: tuple[int, ...] = ()  # the places of the items that were over budget
    failures: Mapping[str, int] = field(default_factory=dict)  # failed items by kind, the most frequent first
    # Of the latest run:
    done_before: int = 0  # items that earlier runs had settled
    sent_items: int = 0
    calls: int = 0
    retries: int = 0
    refusals: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    elapsed_s: float = 0.0  # once it has ended

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            plain = float(value) if isinstance(value, Decimal) else value
            self[each.name] = list(plain) if isinstance(plain, tuple) else plain


def stats_of(
    view: StateView, *, max_cost: Decimal | None = None, batch_id: str | None = None, is_complete: bool | None = None
) -> JobStats:
    """The numbers of a view."""
    spent = view.spent_nano
    counts, run = _accounting(view), _figures(view) or _NO_RUN
    left = counts.deferred + counts.pending
    return JobStats(
        total_items=view.total,
        completed_items=counts.succeeded,
        failed_items=counts.failed,
        deferred_items=counts.deferred,
        pending_items=counts.pending,
        is_complete=not left if is_complete is None else is_complete,
        total_cost=None if spent is None else to_dollars(spent),
        unconfirmed_cost=to_dollars(view.unconfirmed_nano),
        max_cost=max_cost,
        cost_limit_reached=bool(counts.deferred),
        jobs_total=len(view.state.jobs),
        jobs_completed=view.job_counts[COMPLETED],
        jobs_failed=view.job_counts[FAILED],
        jobs_in_progress=view.job_counts[PROCESSING],
        batch_id=batch_id,
        deferred=tuple(sorted(view.deferred)),
        failures={group.kind.value: group.count for group in grouped(_errors(view))},
        done_before=run.reused,
        sent_items=run.sent,
        calls=run.calls,
        retries=run.retries,
        refusals=run.refusals,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        elapsed_s=run.elapsed_s,
    )


def summary_of(view: StateView, door: Door, *, ceiling_nano: int | None, accounts: tuple[str, ...] = ()) -> Summary:
    """What a manager's runs have come to."""
    needed = [view.needed.get(index, 0) for index in view.deferred]
    return Summary(
        accounting=_accounting(view),
        totals=Totals(spent_nano=view.total_nano, unconfirmed_nano=view.unconfirmed_nano),
        priced=view.priced,
        door=door,
        ceiling_nano=ceiling_nano,
        accounts=accounts,
        failures=grouped(_errors(view)),
        figures=_figures(view),
        needed_nano=sum(needed) if all(needed) else 0,
        least_nano=min(needed, default=0),
    )


def _accounting(view: StateView) -> Accounting:
    succeeded, failed, deferred = view.counts[SUCCEEDED], view.counts[FAILED], len(view.deferred)
    counts = {"succeeded": succeeded, "failed": failed, "deferred": deferred, "skipped": 0}
    return Accounting(inputs=view.total, pending=view.total - succeeded - failed - deferred, **counts)


def _figures(view: StateView) -> RunFigures | None:
    return view.figures if view.tally is None else view.tally.figures(view.tally.elapsed_s or 0.0)


def _errors(view: StateView) -> Iterator[str | None]:
    jobs = view.state.jobs if view.counts[FAILED] else ()
    return (item.error for job in jobs for item in job.items if item.status == FAILED)


def with_jobs(view: StateView, run: Snapshot) -> Snapshot:
    """A run at one instant with the jobs of its manager, what earlier runs have done included."""
    counts = view.job_counts
    return replace(
        run,
        done=view.counts[SUCCEEDED] + view.counts[FAILED],
        failed=view.counts[FAILED],
        deferred=len(view.deferred),
        spent_nano=view.spent_nano,
        unconfirmed_nano=view.unconfirmed_nano,
        jobs=JobCounts(
            total=len(view.state.jobs),
            completed=counts[COMPLETED],
            failed=counts[FAILED],
            in_progress=counts[PROCESSING],
        ),
    )
