"""The numbers of a job or of all jobs of a manager: `JobStats` for programs, a snapshot for the display."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from batchwork.core.money import to_dollars
from batchwork.manager.state_file import COMPLETED, FAILED, PROCESSING, SUCCEEDED, StateView
from batchwork.progress import JobCounts, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStats(Mapping[str, Any]):
    """Where every item is: completed + failed + deferred + pending = total. Read as attributes or by name."""

    total_items: int
    completed_items: int = 0
    failed_items: int = 0
    deferred_items: int = 0
    pending_items: int = 0
    total_cost: Decimal | None = Decimal(0)  # None: the price is not known
    max_cost: Decimal | None = None
    cost_limit_reached: bool = False
    jobs_total: int = 1
    jobs_completed: int = 0  # with nothing left to do, and not all of it failed
    jobs_failed: int = 0  # every item of it failed
    jobs_in_progress: int = 0
    deferred: tuple[int, ...] = ()  # the places of the items that were over budget

    def __getitem__(self, name: str) -> Any:
        if name not in tuple(self):
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self))

    def __len__(self) -> int:
        return len(fields(self))


def stats_of(view: StateView, *, max_cost: Decimal | None = None) -> JobStats:
    """The numbers of a view."""
    spent = view.spent_nano
    deferred = len(view.deferred)
    completed, failed = view.counts[SUCCEEDED], view.counts[FAILED]
    return JobStats(
        total_items=view.total,
        completed_items=completed,
        failed_items=failed,
        deferred_items=deferred,
        pending_items=view.total - completed - failed - deferred,
        total_cost=None if spent is None else to_dollars(spent),
        max_cost=max_cost,
        cost_limit_reached=bool(deferred),
        jobs_total=len(view.state.jobs),
        jobs_completed=view.job_counts[COMPLETED],
        jobs_failed=view.job_counts[FAILED],
        jobs_in_progress=view.job_counts[PROCESSING],
        deferred=tuple(sorted(view.deferred)),
    )


def with_jobs(view: StateView, run: Snapshot) -> Snapshot:
    """A run at one instant with the jobs of its manager, what earlier runs have done included."""
    counts = view.job_counts
    return replace(
        run,
        done=view.done,
        failed=view.counts[FAILED],
        deferred=len(view.deferred),
        spent_nano=view.spent_nano,
        jobs=JobCounts(
            total=len(view.state.jobs),
            completed=counts[COMPLETED],
            failed=counts[FAILED],
            in_progress=counts[PROCESSING],
        ),
    )
