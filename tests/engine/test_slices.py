"""Which job an item belongs to, and whether one more job may be under way."""

from __future__ import annotations

from batchwork.engine.slices import Slices


def test_a_further_job_waits_until_one_is_done() -> None:
    slices = Slices(width=10, most_open=2)
    slices.start(0)
    slices.start(10)
    assert not slices.may_start(20)
    assert slices.may_start(9), "its job is under way"
    slices.end(0)
    assert slices.may_start(20)


def test_who_watches_is_told_of_every_start() -> None:
    seen: list[int] = []
    Slices(width=1, most_open=1, on_start=seen.append).start(3)
    assert seen == [3]
