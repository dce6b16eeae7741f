"""The only formatter of progress: a run at one instant in, words for people out. Pure."""

from dataclasses import dataclass

from batchwork.core.duration import duration
from batchwork.core.money import show
from batchwork.core.outcome import Status
from batchwork.core.stats import Tally
from batchwork.core.words import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """Where the jobs of a manager stand."""

    total: int
    completed: int
    failed: int
    in_progress: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run at one instant, ready to be shown: in one line, or in five and more where it has `jobs`."""

    done: int  # what waits for money is not
    total: int | None
    fresh: int  # outcomes of this run
    elapsed_s: float  # since it began
    failed: int
    deferred: int
    spent_nano: int | None  # None: the price is not known
    ceiling_nano: int | None
    unconfirmed_nano: int = 0
    in_flight: int | None = 0  # None: nobody can tell from outside
    is_batch: bool = False  # in flight are items of provider batches
    answered_there: int = 0  # of those, answered by the provider and not yet collected
    charged_nano: int = 0  # by this run
    held_back: int = 0  # items that wait until calls in flight give back what they have reserved of the budget
    is_stopping: bool = False  # nothing more is begun
    before: int = 0  # done by earlier runs
    calls: int = 0
    retries: int = 0
    waiting: str | None = None
    jobs: JobCounts | None = None

    @property
    def per_s(self) -> float:
        """Outcomes per second in this run."""
        return self.fresh / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def eta_s(self) -> float | None:
        """Seconds to the end at this pace, be it the end of the budget; None when nobody can tell.

        A run that stops ends when its calls do, and one that the budget holds back no longer goes at its pace.
        """
        if self.left is None or not self.per_s or self.is_stopping or self.held_back:
            return None
        return (self.left if self.affordable is None else self.affordable) / self.per_s

    @property
    def left(self) -> int | None:
        """Items that are still to come, where the total is known; what waits for money is not among them."""
        return None if self.total is None else max(0, self.total - self.done - self.deferred)

    @property
    def affordable(self) -> int | None:
        """How many more the budget pays for at what they have cost so far; None where that is all of them."""
        if not self.left or self.ceiling_nano is None or self.spent_nano is None or not self.charged_nano:
            return None
        paid = self.fresh - self.deferred
        affordable = max(0, self.ceiling_nano - self.spent_nano) * paid // self.charged_nano
        return affordable if affordable < self.left else None


def snapshot(
    tally: Tally, *, elapsed_s: float, now: float, ceiling_nano: int | None, priced: bool, held_back: int = 0
) -> Snapshot:
    """A run after `elapsed_s` seconds, by its tally."""
    waiting = tally.notice or None
    if tally.waiting_until is not None and tally.waiting_until > now:
        waiting = f"waiting {duration(tally.waiting_until - now)} as the provider asks ({tally.waiting_for})"
    settled = {status: count + tally.elsewhere.get(status, 0) for status, count in tally.settled.items()}
    return Snapshot(
        done=tally.done - settled[Status.DEFERRED],
        total=tally.total,
        fresh=sum(settled.values()),
        elapsed_s=elapsed_s,
        failed=settled[Status.FAILED],
        deferred=settled[Status.DEFERRED],
        spent_nano=tally.spent_nano if priced else None,
        unconfirmed_nano=tally.unconfirmed_nano,
        ceiling_nano=ceiling_nano,
        in_flight=tally.in_flight,
        is_batch=tally.batches is not None,
        answered_there=sum(tally.answered_there.values()),
        charged_nano=tally.charged_nano + tally.elsewhere_nano,
        held_back=held_back + tally.held_back,
        is_stopping=tally.is_stopping,
        before=tally.reused,
        calls=tally.calls,
        retries=tally.retries,
        waiting=waiting,
    )


def lines(seen: Snapshot) -> list[str]:
    """One line that says how far a run is; the founding five where it has jobs, and one about this run."""
    return [_one_line(seen)] if seen.jobs is None else _lines_of_jobs(seen, seen.jobs)


def _one_line(seen: Snapshot) -> str:
    of = "" if seen.total is None else f"/{seen.total:,} ({100 * min(1.0, seen.done / max(1, seen.total)):.1f}%)"
    cost = "cost unknown" if seen.spent_nano is None else show(seen.spent_nano)
    if seen.ceiling_nano is not None:
        cost += f" of {show(seen.ceiling_nano)}"
    resumed = f", resumed with {seen.before:,}" if seen.before else ""
    parts = [f"{seen.done:,}{of} done{resumed}", f"{seen.per_s:,.1f}/s"]
    if seen.in_flight is not None:
        answered = f" ({seen.answered_there:,} answered)" if seen.answered_there else ""
        parts.append(f"{seen.in_flight:,} {'at the provider' if seen.is_batch else 'in flight'}{answered}")
    parts += [cost + _unconfirmed(seen), f"{seen.failed:,} failed"]
    if seen.deferred:
        parts.append(counted(seen.deferred, "waits for money", "wait for money"))
    if seen.retries:
        parts.append(counted(seen.retries, "retry", "retries"))
    parts.append(f"{duration(seen.elapsed_s)} so far")
    if seen.eta_s is not None:
        parts.append(f"ETA {_at_least(seen)}{duration(seen.eta_s)}{_to_budgets_end(seen)}")
    if seen.is_stopping:
        parts.append("stopping")
    if seen.held_back:
        parts.append(_held_back(seen))
    if seen.waiting:
        parts.append(seen.waiting)
    return " · ".join(parts)


def _unconfirmed(seen: Snapshot) -> str:
    return f", {show(seen.unconfirmed_nano)} of it unconfirmed" if seen.unconfirmed_nano else ""


def _at_least(seen: Snapshot) -> str:
    """Near its end a budget lets ever fewer calls go at once."""
    return "" if seen.affordable is None else "at least "


def _to_budgets_end(seen: Snapshot) -> str:
    if seen.affordable is None:
        return ""
    return f" to the end of the budget, which pays for about {seen.affordable:,} of the {seen.left:,} left"


def _held_back(seen: Snapshot) -> str:
    waits = counted(seen.held_back, "item waits", "items wait")
    if seen.is_batch:
        return f"held back by the budget: {waits} for a later batch, until open ones give back what they have reserved"
    return f"held back by the budget: {waits} for what calls in flight have reserved"


def _lines_of_jobs(seen: Snapshot, jobs: JobCounts) -> list[str]:
    total = seen.total or 0
    percent = 100 * seen.done / total if total else 100.0
    cost = "unknown" if seen.spent_nano is None else show(seen.spent_nano)
    if seen.ceiling_nano is not None and seen.spent_nano is not None:
        of_limit = 100 * seen.spent_nano / seen.ceiling_nano if seen.ceiling_nano else 100.0
        cost += f" / {show(seen.ceiling_nano)} ({of_limit:.1f}% of limit)"
    eta = "stopping" if seen.is_stopping else "unknown"
    if seen.eta_s is not None:
        eta = f"{_at_least(seen) or '~'}{duration(seen.eta_s, second='sec')}{_to_budgets_end(seen)}"
    if seen.done + seen.deferred >= total:
        eta = counted(seen.deferred, "item waits for money", "items wait for money") if seen.deferred else "done"
    failed_jobs = f", {jobs.failed:,} failed" if jobs.failed else ""
    deferred = f", deferred: {counted(seen.deferred, 'item')}" if seen.deferred else ""
    calls = counted(seen.calls, "answer" if seen.is_batch else "call")
    parts = [f"Elapsed: {duration(seen.elapsed_s, second='sec')}", calls]
    parts += [counted(seen.retries, "retry", "retries")] if seen.retries else []
    parts += [_held_back(seen)] if seen.held_back else []
    parts += [f"resumed, {seen.before:,} already done"] if seen.before else []
    return [
        f"Processing: {seen.done:,}/{total:,} items ({percent:.1f}%)",
        f"Jobs: {jobs.completed:,}/{jobs.total:,} completed{failed_jobs}, {jobs.in_progress:,} in progress",
        f"Cost: {cost}{_unconfirmed(seen)}",
        f"ETA: {eta}",
        f"Failed: {counted(seen.failed, 'item')}{deferred}",
        *([", ".join(parts)] if seen.calls or seen.before else []),
    ]
