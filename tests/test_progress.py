"""Progress in words."""

from __future__ import annotations

import pytest

from batchwork.progress import JobCounts, Snapshot, lines


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
        " · 1 failed · 2 deferred · ETA 35 s · waiting 3 s"
    )


@pytest.mark.parametrize(("total", "fresh"), [(None, 5), (10, 0)])
def test_no_end_is_foretold_where_nobody_can_tell(total: int | None, fresh: int) -> None:
    seen = Snapshot(
        done=5, total=total, fresh=fresh, elapsed_s=1.0, spent_nano=0, ceiling_nano=None, failed=0, deferred=0
    )
    assert seen.eta_s is None
