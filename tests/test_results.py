"""Results are read from the journal while they are looked at."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import batchwork
from batchwork import Request, RunPaused, Status
from batchwork.core.errors import AccountingError
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake
from batchwork.core.prompt import intakes
from batchwork.core.reply import Reply, Usage
from batchwork.core.runstate import ItemState
from batchwork.journal import MemoryJournal
from batchwork.options import defaults_of, plan_of, supplied_of
from batchwork.results import EveryPlace
from batchwork.run_session import RunSession
from tests.support.runs import PRICE, down, run_all, texts_of
from tests.support.scripted import Scripted, failure, reply
from tests.support.virtual_time import run_virtual


def test_the_journal_stays_open_while_only_the_iterator_of_the_results_is_held(tmp_path: Path) -> None:
    texts = [r.text for r in batchwork.run(["a", "b", "c"], model="mock:echo", journal=tmp_path / "j.db")]
    assert texts == ["a", "b", "c"]


@given(st.sets(st.integers(0, 30)), st.integers(0, 25), st.integers(0, 30), st.none() | st.integers(0, 30))
def test_every_place_of_an_input_is_there_whatever_was_read_of_it(
    read: set[int], total: int, start: int, stop: int | None
) -> None:
    journal = MemoryJournal()
    for index in sorted(read):
        request = Request.ask(str(index))
        journal.place(index, Intake(fingerprint=request.fingerprint, request=request, columns=None))
    every = EveryPlace(journal, total)
    assert every.count() == total
    found = list(every.entries(start, stop))
    assert [entry.index for entry in found] == list(range(start, min(total, total if stop is None else stop)))
    assert [entry.request is not None for entry in found] == [entry.index in read for entry in found]


def test_outcomes_stand_in_input_order_whatever_order_they_ended_in() -> None:
    backend = Scripted(latency=lambda prompt: 100.0 - int(prompt), free=True)
    assert texts_of(run_all(map(str, range(50)), backend=backend)) == [str(n) for n in range(50)]


def test_results_are_a_sequence(tmp_path: Path) -> None:
    for journal in (None, tmp_path / "j.db"):
        results = batchwork.run(list("abcdefghij"), model="mock:echo", journal=journal)
        whole = list("abcdefghij")
        assert len(results) == 10
        assert results[0].text == "a"
        assert results[-1].text == "j"
        for cut in (slice(2, 5), slice(None, None, -1), slice(-3, None), slice(8, 2, -2), slice(5, 5), slice(3, 99)):
            assert texts_of(results[cut]) == whole[cut]
        for beyond in (10, -11):
            with pytest.raises(IndexError, match="10 results"):
                results[beyond]


def test_results_need_no_name_to_be_iterated(tmp_path: Path) -> None:
    assert [r.text for r in batchwork.run(["a", "b"], model="mock:echo", journal=tmp_path / "j.db")] == ["a", "b"]


def test_an_outcome_tells_what_it_cost_and_how_it_came() -> None:
    (only,) = run_all(["hello"], backend=Scripted(lambda *_: reply("hi"), latency=2.0), price=PRICE)
    assert (only.status, only.text, only.attempts, only.error) == (Status.SUCCEEDED, "hi", 1, None)
    assert (only.cost, only.latency_s) == (Decimal("0.000015"), 2.0)
    assert only.usage == Usage(input_tokens=10, output_tokens=5)


def test_a_truncated_plain_answer_succeeds_and_says_so() -> None:
    said = Reply(text="half an", usage=Usage(input_tokens=1, output_tokens=1), truncated=True)
    (only,) = run_all(["x"], backend=Scripted(lambda *_: said, free=True))
    assert (only.status, only.truncated) == (Status.SUCCEEDED, True)


def test_the_accounting_has_every_input_once() -> None:
    results = run_all(["a", "bad", 5, "a"], backend=down("bad"), price=PRICE, retries=0)
    assert str(results.accounting) == "4 inputs = 2 succeeded + 2 failed + 0 deferred + 0 skipped"


class Forgetful(MemoryJournal):
    """Loses the second row."""

    def place(self, index: int, intake: Intake) -> ItemState:
        state = super().place(index, intake)
        if index == 1:
            del self._state.places[index]
        return state


@pytest.mark.parametrize("answer", [lambda *_: reply(), lambda *_: failure(FailureKind.AUTH)])
def test_a_row_that_is_lost_is_never_passed_over_in_silence(answer: Any) -> None:
    options: Any = {"model": "mock:echo", "backend": Scripted(answer, free=True), "max_in_flight": 3}
    supplied = replace(supplied_of(options), journal=Forgetful())
    with pytest.raises(AccountingError, match=r"were read, but the journal holds"):
        run_virtual(
            RunSession(plan_of(options), intakes(map(str, range(50)), defaults_of(options)), supplied).execute()
        )


def test_a_shorter_input_that_ends_early_adds_up_beside_what_an_earlier_run_has_left(tmp_path: Path) -> None:
    options: dict[str, Any] = {"journal": tmp_path / "j.db", "max_in_flight": 1}
    run_all(list("abcdef"), backend=Scripted(free=True), **options)
    backend = Scripted(lambda *_: failure(FailureKind.AUTH), free=True)
    with pytest.raises(RunPaused) as caught:
        run_all(list("axyz"), backend=backend, **options)
    assert caught.value.results.accounting.inputs == len(caught.value.results)


def test_results_with_gaps_are_still_a_sequence(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    run_all(["a", "b", "c", "d"], backend=Scripted(free=True), journal=path)
    backend = Scripted(lambda *_: failure(FailureKind.AUTH), free=True)
    with pytest.raises(RunPaused) as caught:
        run_all(["c", "new", "more"], backend=backend, journal=path, max_in_flight=1)
    results = caught.value.results
    listed = [outcome.index for outcome in results]
    assert listed == [0, 1, 3]
    assert [results[n].index for n in range(len(results))] == listed
    assert [outcome.index for outcome in results[::-1]] == listed[::-1]


def test_a_journal_can_be_read_without_a_run(tmp_path: Path) -> None:
    batchwork.run(["a", "b"], model="mock:echo", journal=tmp_path / "j.db").close()
    results = batchwork.open_results(tmp_path / "j.db")
    assert [outcome.text for outcome in results] == ["a", "b"]
    assert results.accounting.succeeded == 2


def test_there_are_no_results_without_a_journal(tmp_path: Path) -> None:
    with pytest.raises(batchwork.JournalError, match=r"nothing\.db"):
        batchwork.open_results(tmp_path / "nothing.db")
    assert not list(tmp_path.iterdir())
