"""The only formatter of progress: numbers of a run in, words for people out. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from batchwork.core.money import show
from batchwork.core.outcome import Status
from batchwork.core.stats import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run at one instant, ready to be shown."""

    done: int
    total: int | None
    per_s: float
    in_flight: int
    failed: int
    deferred: int
    cost: str
    eta_s: float | None
    waiting: str | None

    @property
    def fraction(self) -> float | None:
        """How much of the input has an outcome."""
        return None if not self.total else min(1.0, self.done / self.total)


def snapshot(tally: Tally, *, elapsed_s: float, now: float, ceiling_nano: int | None, priced: bool) -> Snapshot:
    """What can be said about a run after `elapsed_s` seconds."""
    settled = sum(tally.settled.values())
    per_s = settled / elapsed_s if elapsed_s > 0 else 0.0
    left = None if tally.total is None else max(0, tally.total - tally.done)
    cost = show(tally.spent_nano) if priced else "cost unknown"
    if ceiling_nano is not None:
        cost += f" of {show(ceiling_nano)}"
    waiting = tally.notice or None
    if tally.waiting_until is not None and tally.waiting_until > now:
        waiting = f"waiting {duration(tally.waiting_until - now)} as the provider asks ({tally.waiting_for})"
    return Snapshot(
        done=tally.done,
        total=tally.total,
        per_s=per_s,
        in_flight=tally.in_flight,
        failed=tally.settled[Status.FAILED],
        deferred=tally.settled[Status.DEFERRED],
        cost=cost,
        eta_s=left / per_s if left is not None and per_s > 0 else None,
        waiting=waiting,
    )


def line(seen: Snapshot) -> str:
    """One line that says how far a run is."""
    of = "" if seen.total is None else f"/{seen.total:,} ({100 * (seen.fraction or 0):.1f}%)"
    parts = [f"{seen.done:,}{of} done", f"{seen.per_s:,.1f}/s", f"{seen.in_flight:,} in flight", seen.cost]
    parts.append(f"{seen.failed:,} failed")
    if seen.deferred:
        parts.append(f"{seen.deferred:,} deferred")
    if seen.eta_s is not None:
        parts.append(f"ETA {duration(seen.eta_s)}")
    if seen.waiting:
        parts.append(seen.waiting)
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """A length of time as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """All jobs of a manager at one instant, ready to be shown."""

    done: int
    total: int
    jobs_completed: int
    jobs_failed: int
    jobs_total: int
    jobs_in_progress: int
    spent_nano: int | None  # None: the price is not known
    ceiling_nano: int | None
    eta_s: float | None
    failed: int
    deferred: int


def five_lines(seen: Jobs) -> list[str]:
    """The five lines that a manager shows while it works."""
    percent = 100 * seen.done / seen.total if seen.total else 100.0
    cost = "unknown" if seen.spent_nano is None else show(seen.spent_nano)
    if seen.ceiling_nano is not None and seen.spent_nano is not None:
        of_limit = 100 * seen.spent_nano / seen.ceiling_nano if seen.ceiling_nano else 100.0
        cost += f" / {show(seen.ceiling_nano)} ({of_limit:.1f}% of limit)"
    failed = f"Failed: {seen.failed:,} items"
    if seen.deferred:
        failed += f", deferred: {seen.deferred:,} items"
    jobs = f"Jobs: {seen.jobs_completed:,}/{seen.jobs_total:,} completed"
    if seen.jobs_failed:
        jobs += f", {seen.jobs_failed:,} failed"
    return [
        f"Processing: {seen.done:,}/{seen.total:,} items ({percent:.1f}%)",
        f"{jobs}, {seen.jobs_in_progress:,} in progress",
        f"Cost: {cost}",
        f"ETA: {_eta(seen)}",
        failed,
    ]


def _eta(seen: Jobs) -> str:
    if seen.done >= seen.total:
        return "done"
    if seen.eta_s is None:
        return "unknown"
    whole = round(seen.eta_s)
    if whole < 60:
        return f"~{whole} sec"
    if whole < 3600:
        return f"~{whole // 60} min {whole % 60} sec"
    return f"~{whole // 3600} h {whole % 3600 // 60} min"


def stopping(*, in_flight: int, batches: bool, cancels: bool = False) -> str:
    """What the first Ctrl-C does, and what a second one would."""
    if batches:
        kept = f"{in_flight:,} items at the provider {'are cancelled' if cancels else 'go on there'}"
    else:
        kept = f"{in_flight:,} calls in flight are let finish"
    return f"stopping: {kept}, press Ctrl-C again to leave at once"
