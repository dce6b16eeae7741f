"""What every journal promises, over every journal there is."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from batchwork.core.event import Admitted, Attempted, Ended
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake
from batchwork.core.outcome import Status
from batchwork.core.request import Attachment, Message, Request, Schema, digest
from tests.support.journals import (
    BEGAN,
    JOURNALS,
    OUTCOMES,
    Pass,
    failed,
    row,
    run_pass,
    settle,
    succeeded,
)
from tests.support.virtual_time import run_virtual

Make = Callable[[Path], Any]


@pytest.fixture(params=[*JOURNALS, "postgres_journal"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    make: Make = request.getfixturevalue(request.param) if isinstance(request.param, str) else request.param
    opened = make(tmp_path / "j.db")
    yield opened
    opened.close()


def _texts(journal: Any, **which: Any) -> list[str]:
    return [entry.request.messages[0].content for entry in journal.entries(**which)]


def _rows(*texts: str) -> list[tuple[str, int | None]]:
    return [(text, None) for text in texts]


def test_a_new_journal_is_empty(journal: Any) -> None:
    standing = journal.begin(BEGAN)
    assert (standing.spent_nano, standing.unconfirmed_nano, standing.recovered) == (0, 0, 0)
    assert list(journal.entries()) == []
    assert journal.count() == 0


def test_rows_come_back_in_input_order_whatever_order_they_settled_in(journal: Any) -> None:
    journal.begin(BEGAN)
    items = [journal.place(n, row(f"p{n}")).item for n in range(5)]
    for n in (3, 0, 4, 1, 2):
        settle(journal, items[n], succeeded(n, f"answer {n}"))
    assert [entry.outcome.text for entry in journal.entries()] == [f"answer {n}" for n in range(5)]


def test_equal_rows_are_different_items(journal: Any) -> None:
    states = run_pass(journal, Pass(_rows("a", "a", "a"), ["succeeded"] * 3))
    assert len({state.item for state in states}) == 3
    assert [state.occurrence for state in states] == [0, 1, 2]


def test_a_rerun_finds_its_own(journal: Any) -> None:
    first = run_pass(journal, Pass(_rows("a", "b", "a"), ["succeeded", "failed", "skipped"]))
    again = run_pass(journal, Pass(_rows("a", "b", "a")))
    assert [state.item for state in again] == [state.item for state in first]
    assert [state.status for state in again] == [Status.SUCCEEDED, Status.FAILED, Status.SKIPPED]


def test_an_item_is_found_at_its_place(journal: Any) -> None:
    items = [state.item for state in run_pass(journal, Pass(_rows("a", "b", "a"), ["succeeded"]))]
    assert journal.count() == 3
    assert [journal.at(place).item for place in range(3)] == items
    assert journal.at(3) is None


def test_a_shifted_row_is_found_and_stands_in_its_new_place(journal: Any) -> None:
    run_pass(journal, Pass(_rows("a", "b", "c"), ["succeeded"] * 3))
    run_pass(journal, Pass(_rows("new", "a", "b", "c"), ["succeeded"]))
    assert _texts(journal) == ["new", "a", "b", "c"]
    assert [entry.outcome.index for entry in journal.entries()] == [0, 1, 2, 3]
    assert journal.counts()[Status.SUCCEEDED] == 4


def test_a_shorter_input_leaves_no_places_behind_and_deletes_nothing(journal: Any) -> None:
    run_pass(journal, Pass(_rows("a", "b", "c"), ["succeeded"] * 3))
    run_pass(journal, Pass(_rows("a")))
    assert _texts(journal) == ["a"]
    back = run_pass(journal, Pass(_rows("a", "b", "c")))
    assert [state.status for state in back] == [Status.SUCCEEDED] * 3


def test_an_input_that_was_not_read_to_its_end_takes_nothing_away(journal: Any) -> None:
    run_pass(journal, Pass(_rows("a", "b", "c"), ["succeeded"] * 3))
    run_pass(journal, Pass(_rows("a", "b", "c"), read=1))
    assert _texts(journal) == ["a", "b", "c"]


def test_changed_columns_are_kept_without_asking_again(journal: Any) -> None:
    run_pass(journal, Pass([("a", 1)], ["succeeded"]))
    (state,) = run_pass(journal, Pass([("a", 2)]))
    (entry,) = journal.entries()
    assert state.status is Status.SUCCEEDED
    assert (entry.columns, entry.outcome.text) == ({"c": 2}, "yes")


def test_a_call_that_was_cut_off_is_booked_at_its_worst_case(journal: Any) -> None:
    run_pass(journal, Pass(_rows("a", "b"), ["cut off", "succeeded"]))
    standing = journal.begin(BEGAN)
    assert (standing.spent_nano, standing.unconfirmed_nano, standing.recovered) == (111, 100, 1)
    again = journal.begin(BEGAN)
    assert (again.spent_nano, again.recovered) == (111, 0)


def test_a_call_that_nobody_waits_for_any_more_can_be_booked_before_the_next_run(journal: Any) -> None:
    run_pass(journal, Pass(_rows("a", "b"), ["cut off", "succeeded"]))
    assert [journal.book_lost_calls(), journal.book_lost_calls()] == [1, 0]
    standing = journal.begin(BEGAN)
    assert (standing.spent_nano, standing.unconfirmed_nano, standing.recovered) == (111, 100, 0)


def test_money_adds_up_over_attempts_and_runs(journal: Any) -> None:
    run_pass(journal, Pass(_rows("a", "b"), ["attempted", "succeeded"]))
    run_pass(journal, Pass(_rows("a", "b"), ["succeeded"]))
    assert (journal.totals().spent_nano, journal.totals().unconfirmed_nano) == (29, 7)
    assert [entry.paid_nano for entry in journal.entries()] == [18, 11]


@pytest.mark.parametrize("kind", OUTCOMES)
def test_every_kind_of_outcome_comes_back_as_it_was(journal: Any, kind: str) -> None:
    journal.begin(BEGAN)
    outcome = OUTCOMES[kind](0)
    settle(journal, journal.place(0, row("a")).item, outcome)
    (entry,) = journal.entries()
    assert entry.outcome == outcome
    assert entry.status is outcome.status


def test_a_reopened_item_is_pending_and_the_latest_outcome_counts(journal: Any) -> None:
    journal.begin(BEGAN)
    item = journal.place(0, row("a")).item
    settle(journal, item, failed(0))
    journal.release(item)
    assert journal.reopen(item).status is Status.PENDING
    (pending,) = journal.entries()
    settle(journal, item, succeeded(0))
    (settled,) = journal.entries()
    assert (pending.outcome, settled.outcome.text) == (None, "yes")


def test_entries_can_be_cut_and_filtered(journal: Any) -> None:
    run_pass(journal, Pass(_rows(*"abcdef"), ["succeeded", "failed"] * 3))
    assert _texts(journal, start=2, stop=4) == ["c", "d"]
    assert _texts(journal, start=5) == ["f"]
    assert _texts(journal, statuses=frozenset({Status.FAILED})) == ["b", "d", "f"]
    assert _texts(journal, start=9, stop=20) == []
    assert [entry.index for entry in journal.entries(stop=2, bodies=False)] == [0, 1]


def test_outcomes_are_the_same_with_and_without_what_was_asked_also_after_places_have_moved(journal: Any) -> None:
    texts, outcomes = [f"p{n}" for n in range(70)], ["succeeded", "failed", "deferred"] * 23 + ["succeeded"]
    run_pass(journal, Pass(_rows(*texts), outcomes))
    run_pass(journal, Pass(_rows(*reversed(texts)), ["succeeded"] * 70))
    whole = list(journal.entries())
    assert [entry.request.messages[0].content for entry in whole] == texts[::-1]
    assert [(entry.index, entry.outcome) for entry in journal.entries(asked=False)] == [
        (entry.index, entry.outcome) for entry in whole
    ]
    assert {entry.outcome.index for entry in whole} == set(range(70))


def test_a_bad_row_has_a_place_and_an_outcome_but_no_request(journal: Any) -> None:
    journal.begin(BEGAN)
    state = journal.place(0, Intake.bad("not JSON", {"line": 7}))
    settle(journal, state.item, failed(0))
    (entry,) = journal.entries()
    assert (entry.request, entry.columns, entry.status) == (None, {"line": 7}, Status.FAILED)


@pytest.mark.parametrize(
    "columns",
    [{"n": 10**30}, {"text": "lone \ud800"}, {"deep": {"list": [1, None, 2.5, "x"]}}, {}, {"ünï": "c\0de"}],
)
def test_columns_come_back_as_they_were(journal: Any, columns: dict[str, Any]) -> None:
    journal.begin(BEGAN)
    journal.place(0, row("a", columns))
    (entry,) = journal.entries()
    assert entry.columns == columns


def test_a_whole_request_comes_back(journal: Any) -> None:
    request = Request(
        messages=(Message("user", [{"type": "text", "text": "hi"}]), Message("assistant", "so")),
        model="mock:echo",
        system="long " * 100,
        max_tokens=7,
        schema=Schema.of({"type": "object"}, name="thing"),
        documents=(
            Attachment(media_type="text/plain", digest=digest(b"1"), text="the text", title="T", citations=True),
            Attachment(media_type="application/pdf", digest=digest(b"1"), data=b"%PDF"),
        ),
        sampling={"temperature": 0.5},
        extra_body={"top_k": 3},
        label="row 7",
    )
    journal.begin(BEGAN)
    journal.place(0, Intake(fingerprint=request.fingerprint, request=request, columns=None))
    (entry,) = journal.entries()
    assert entry.request == request


def test_durable_returns_when_nothing_is_queued_and_after_something_is(journal: Any) -> None:
    async def main() -> int:
        await journal.durable()
        journal.begin(BEGAN)
        item = journal.place(0, row("a")).item
        await journal.durable()
        settle(journal, item, succeeded(0))
        await journal.durable()
        return int(journal.count())

    assert run_virtual(main()) == 1


def test_an_attempt_frees_its_reservation_and_counts(journal: Any) -> None:
    journal.begin(BEGAN)
    state = journal.place(0, row("a"))
    journal.record(Admitted(item=state.item, reserved_nano=50))
    assert state.reserved_nano == 50
    journal.record(Attempted(item=state.item, kind=FailureKind.TIMEOUT, charged_nano=20))
    assert (state.reserved_nano, state.paid_nano, state.attempts) == (0, 20, 1)


def test_the_end_of_one_run_does_not_take_the_places_of_the_next(journal: Any) -> None:
    journal.begin(BEGAN)
    journal.place(0, row("a"))
    journal.record(Ended(inputs=1))
    journal.begin(BEGAN)
    journal.place(0, row("a"))
    journal.place(1, row("b"))
    assert _texts(journal) == ["a", "b"]
