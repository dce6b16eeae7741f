"""Progress in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchwork.core.outcome import Status
from batchwork.core.stats import Tally
from batchwork.progress import JobCounts, Snapshot, lines, snapshot


def test_the_lines_are_those_of_the_founding_document() -> None:
    seen = Snapshot(
        done=2345,
        total=5000,
        fresh=2655,
        elapsed_s=135.2,
        spent_nano=4_470_000_000,
        ceiling_nano=10_000_000_000,
        failed=12,
        deferred=0,
        jobs=JobCounts(total=50, completed=23, failed=0, in_progress=3),
    )
    assert lines(seen) == [
        "Processing: 2,345/5,000 items (46.9%)",
        "Jobs: 23/50 completed, 3 in progress",
        "Cost: $4.47 / $10.00 (44.7% of limit)",
        "ETA: ~2 min 15 sec",
        "Failed: 12 items",
    ]


def test_a_run_without_jobs_has_one_line() -> None:
    seen = Snapshot(
        done=30,
        total=100,
        fresh=20,
        elapsed_s=10.0,
        spent_nano=None,
        ceiling_nano=2_000_000_000,
        failed=1,
        deferred=2,
        in_flight=5,
        waiting="waiting 3 s",
    )
    (line,) = lines(seen)
    assert line == (
        "30/100 (30.0%) done · 2.0/s · 5 in flight · cost unknown of $2.00"
        " · 1 failed · 2 wait for money · 10 s so far · ETA 34 s · waiting 3 s"
    )


def test_a_resumed_run_says_what_was_done_before_its_retries_and_what_nobody_has_confirmed() -> None:
    seen = Snapshot(
        done=30,
        total=60,
        fresh=10,
        elapsed_s=10.0,
        spent_nano=2_000_000_000,
        unconfirmed_nano=1_500_000_000,
        ceiling_nano=None,
        failed=0,
        deferred=0,
        before=20,
        calls=11,
        retries=1,
    )
    (line,) = lines(seen)
    assert line == (
        "30/60 (50.0%) done, resumed with 20 · 1.0/s · 0 in flight · $2.00, $1.50 of it unconfirmed · 0 failed"
        " · 1 retry · 10 s so far · ETA 30 s"
    )
    of_manager = lines(replace(seen, jobs=JobCounts(total=6, completed=3, failed=0, in_progress=1)))
    assert of_manager[2] == "Cost: $2.00, $1.50 of it unconfirmed"
    assert of_manager[5] == "Elapsed: 10 sec, 11 calls, 1 retry, resumed, 20 already done"


def test_near_the_end_of_a_budget_the_eta_is_that_of_the_budget() -> None:
    seen = Snapshot(
        done=50,
        total=100,
        fresh=50,
        elapsed_s=10.0,
        spent_nano=900_000_000,
        charged_nano=500_000_000,
        ceiling_nano=1_000_000_000,
        failed=0,
        deferred=0,
        in_flight=20,
        is_batch=True,
    )
    (line,) = lines(seen)
    so_far = " · 20 at the provider · $0.90 of $1.00 · 0 failed · 10 s so far"
    of_budget = " to the end of the budget, which pays for about 10 of the 50 left"
    assert line.endswith(f"{so_far} · ETA at least 2 s{of_budget}")
    (held,) = lines(replace(seen, held_back=3))
    assert held.endswith(
        f"{so_far} · held back by the budget: 3 items wait for a later batch, until open ones give back what they have"
        " reserved"
    )
    (stopping,) = lines(replace(seen, is_stopping=True))
    assert stopping.endswith(f"{so_far} · stopping")
    assert replace(seen, ceiling_nano=2_000_000_000).affordable is None


def test_what_waits_for_money_is_not_done() -> None:
    seen = Snapshot(
        done=28,
        total=40,
        fresh=40,
        elapsed_s=10.0,
        spent_nano=1,
        ceiling_nano=1,
        failed=1,
        deferred=12,
        jobs=JobCounts(total=4, completed=2, failed=0, in_progress=0),
    )
    processing, _, _, eta, failed = lines(seen)
    assert (processing, eta) == ("Processing: 28/40 items (70.0%)", "ETA: 12 items wait for money")
    assert failed == "Failed: 1 item, deferred: 12 items"


@pytest.mark.parametrize(("total", "fresh"), [(None, 5), (10, 0)])
def test_no_end_is_foretold_where_nobody_can_tell(total: int | None, fresh: int) -> None:
    seen = Snapshot(
        done=5, total=total, fresh=fresh, elapsed_s=1.0, spent_nano=0, ceiling_nano=None, failed=0, deferred=0
    )
    assert seen.eta_s is None


def test_what_other_processes_have_done_of_the_same_run_is_shown_with_ours() -> None:
    tally = Tally(total=100, reused=10, charged_nano=20_000_000, spent_before_nano=10_000_000)
    tally.settled[Status.SUCCEEDED] = 20
    tally.elsewhere, tally.elsewhere_nano = {Status.SUCCEEDED: 29, Status.FAILED: 1, Status.DEFERRED: 5}, 30_000_000
    seen = snapshot(tally, elapsed_s=10.0, now=0.0, ceiling_nano=100_000_000, priced=True)
    assert lines(seen) == [
        "60/100 (60.0%) done, resumed with 10 · 5.5/s · 0 in flight · $0.06 of $0.10 · 1 failed"
        " · 5 wait for money · 10 s so far · ETA 6 s"
    ]
