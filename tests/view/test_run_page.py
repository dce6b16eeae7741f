"""The page about a run: what it says of one that goes on, was cut off and resumed, stands still, or has ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from batchwork.core.event import Admitted, Attempted, BatchIntended, BatchSubmitted, Began, Ended, RunInput
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Deferred
from batchwork.core.reply import Limit, ReportedLimits
from batchwork.journal import SqliteJournal
from batchwork.view.distribution import distribution_of
from batchwork.view.run_figures import RunPage
from batchwork.view.run_page import run_page
from batchwork.view.watch import JournalWatch
from tests.support.journals import row, settle, succeeded

NOW = 1_000_000.0


class Story:
    """A journal whose time is told."""

    def __init__(self, folder: Path) -> None:
        self.path, self.now = folder / "run.db", NOW
        self.journal = SqliteJournal(self.path, utc=lambda: self.now)

    def begin(self, *, after: float = 0.0, inputs: int | None = None, **settings: object) -> None:
        self.now += after
        known = RunInput(total=inputs)
        began = Began(run_id="r", model="mock:echo", max_cost_nano=10**9, input=known, settings=settings)
        self.journal.begin(began)

    def place(self, place: int) -> int:
        return self.journal.place(place, row(f"p{place}")).item

    def settle(self, place: int, *, after: float = 1.0, cost: int = 1000) -> None:
        item = self.place(place)
        self.now += after
        settle(self.journal, item, succeeded(place, cost=cost), charged=cost)

    def page(self, *, is_written: bool = False) -> RunPage:
        self.journal.flush()
        if not is_written:
            self.journal.close()
        with closing(JournalWatch(self.path, self.path.parent)) as watch:
            while watch.catch_up():
                pass
            return run_page(watch, now=self.now)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


def test_a_run_that_goes_on_has_a_rate_an_end_in_sight_and_a_forecast(story: Story) -> None:
    story.begin(inputs=20)
    for place in range(10):
        story.settle(place)
    page = story.page(is_written=True)
    story.journal.close()
    assert (page.state, page.total, page.done, page.read) == ("running", 20, 10, 10)
    assert page.rate_per_s == pytest.approx(1.0, abs=0.2)
    assert page.eta_s == pytest.approx(10.0, abs=2.5)
    assert (page.spent_nano, page.forecast_nano, page.ceiling_nano) == (10_000, 20_000, 10**9)
    assert sum(page.series.succeeded) == 10


@pytest.mark.parametrize(
    ("stated", "told", "allowed"),
    [
        ({"rpm": 60}, None, [("calls", 60.0, "as stated")]),
        ({"rpm": 60}, 50.0, [("calls", 50.0, "as the provider tells")]),
        ({"rpm": 60, "input_tpm": 9}, 70.0, [("calls", 60.0, "as stated"), ("tokens in", 9.0, "as stated")]),
        ({}, 50.0, [("calls", 50.0, "as the provider tells")]),
        ({}, None, []),
    ],
)
def test_the_allowed_rate_is_the_lower_one_and_says_whose_it_is(
    story: Story, stated: dict[str, float], told: float | None, allowed: list[tuple[str, float, str]]
) -> None:
    story.begin(**stated)
    outcome = succeeded(0)
    if told is not None:
        limits = ReportedLimits(requests=Limit(per_minute=told, remaining=7))
        outcome = replace(outcome, reply=replace(outcome.reply, limits=limits))
    settle(story.journal, story.place(0), outcome)
    assert [(one.what, one.per_minute, one.source) for one in story.page().allowed] == allowed


def test_a_run_that_was_cut_off_is_told_so_and_its_resume_stands_on_the_time_line(story: Story) -> None:
    story.begin()
    story.settle(0, after=5.0)
    story.journal.record(Admitted(item=story.place(1), reserved_nano=50))
    story.begin(after=3600.0)  # what was in flight is booked now, an hour after the kill
    story.settle(1)
    story.journal.record(Ended(inputs=2))
    page = story.page()
    assert [(run.state, run.how) for run in page.runs] == [("cut_off", "Cut off"), ("finished", "Finished")]
    assert page.runs[1].pause_before_s == pytest.approx(3600.0)
    assert page.elapsed_s == pytest.approx(6.0), "the hour between them is no work"
    assert [(at, text) for at, text in page.series.breaks] == [(5.0, "cut off, resumed after 1 h 0 min")]


def test_a_run_that_nobody_writes_any_more_is_cut_off(story: Story) -> None:
    story.begin()
    story.settle(0)
    page = story.page()
    assert (page.state, "again" in page.remedy) == ("cut_off", True)


def _paused(story: Story) -> None:
    story.journal.record(
        Ended(stopped="paused", reason="No key.", remedy="Set one (or raise {max_wait}), then {again}.")
    )


def _deferred(story: Story) -> None:
    settle(story.journal, story.place(0), Deferred(index=0, needed_nano=5))
    story.journal.record(Ended(inputs=1, stopped="budget"))


def _retried(story: Story) -> None:
    failure = Attempted(item=story.place(0), kind=FailureKind.SERVER, message="it broke")
    story.journal.record(failure)


def _in_batch(story: Story) -> None:
    item = story.place(0)
    story.journal.record(BatchIntended(chunk=1, items=(item,), custom_ids=("x",), reserved_nano=0, at=NOW))
    story.journal.record(BatchSubmitted(chunk=1, batch_id="batch_1"))


@pytest.mark.parametrize(
    ("happens", "text"),
    [
        (_paused, "Set one (or raise --max-wait), then run the same command again."),
        (_deferred, "1 item waits for money"),
        (_retried, "1 item waits to be tried again: server: it broke"),
        (_in_batch, "1 batch is at the provider (1 item)"),
    ],
)
def test_what_a_run_waits_for_is_said_with_its_remedy(
    story: Story, happens: Callable[[Story], None], text: str
) -> None:
    story.begin()
    happens(story)
    page = story.page()
    assert text in [page.remedy, *(wait.text for wait in page.waits)]


def test_a_run_that_waits_for_a_shared_account_says_so(story: Story) -> None:
    story.begin(account=["team"])
    _deferred(story)
    page = story.page()
    assert "or when the shared account team can pay, for the deferred ones." in page.remedy
    assert page.waits[0].remedy.endswith("or when the shared account team can pay.")


def test_a_journal_without_a_run_has_a_page_as_well(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "run.db", utc=lambda: NOW)
    journal.close()
    with closing(JournalWatch(tmp_path / "run.db", tmp_path)) as watch:
        watch.catch_up()
        assert run_page(watch, now=NOW).headline == "No run has begun on this journal"


@pytest.mark.parametrize("count", [1, 7, 1000, 80_000])
def test_percentiles_are_true_and_every_value_is_in_one_bin(count: int) -> None:
    values = np.random.default_rng(3).lognormal(0.3, 0.8, count)
    seen = distribution_of(values)
    assert seen is not None
    assert sum(seen.counts) == count
    assert len(seen.edges) == len(seen.counts) + 1
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        assert seen.percentiles[name] == pytest.approx(float(np.quantile(values, share)), rel=0.01)


def test_what_is_never_above_zero_has_no_distribution() -> None:
    assert distribution_of(np.zeros(5)) is None
