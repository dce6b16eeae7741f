"""Which job an item belongs to, and whether one more job may be under way."""

from __future__ import annotations

from batchwork.engine.lanes import Lanes


def test_a_further_job_waits_until_one_is_done() -> None:
    lanes = Lanes(width=10, most_open=2)
    lanes.start(0)
    lanes.start(10)
    assert not lanes.may_start(20)
    assert lanes.may_start(9), "its job is under way"
    lanes.end(0)
    assert lanes.may_start(20)


def test_who_watches_is_told_of_every_start() -> None:
    seen: list[int] = []
    Lanes(width=1, most_open=1, on_start=seen.append).start(3)
    assert seen == [3]
