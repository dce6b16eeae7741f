"""What a run costs: the ceiling, what is deferred, prices that are not known."""

from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import Request
from batchwork.core.event import Settled
from batchwork.core.failure import FailureKind
from batchwork.journal import JournalReader
from batchwork.options import plan_of, supplied_of
from batchwork.run_session import RunSession
from tests.support.batch_provider import BatchProvider
from tests.support.runs import PRICE, dear, run_all, statuses_of
from tests.support.scripted import Scripted, failure, reply
from tests.support.virtual_time import run_virtual


def test_a_budget_is_a_ceiling_and_what_does_not_fit_is_deferred(tmp_path: Path) -> None:
    backend = Scripted(lambda *_: reply(), latency=1.0)
    results = run_all(map(str, range(100)), backend=backend, max_cost="0.0005", **dear(journal=tmp_path / "j.db"))
    assert results.stopped == "budget"
    assert results.total_cost is not None
    assert results.total_cost <= Decimal("0.0005")
    assert results.accounting.deferred == 100 - len(backend.asked)
    assert 20 < len(backend.asked) < 34
    assert "no longer fits" in str(results[99].error)


def test_what_was_deferred_is_taken_up_with_more_money_and_the_ceiling_holds_over_both(tmp_path: Path) -> None:
    path, asked = tmp_path / "j.db", []
    for max_cost in ("0.0005", "0.0005", "0.0009", "1"):
        backend = Scripted(lambda *_: reply())
        results = run_all(map(str, range(100)), backend=backend, max_cost=max_cost, **dear(journal=path))
        asked.append(len(backend.asked))
        assert results.total_cost is not None
        assert results.total_cost <= Decimal(max_cost)
    assert asked[1] == 0
    assert sum(asked) == 100
    assert results.stopped is None


@pytest.mark.parametrize("mode", ["live", "batch"])
@pytest.mark.parametrize("retry_failed", [False, True])
def test_a_rerun_without_new_money_tells_what_is_deferred_and_does_not_grow_the_journal(
    mode: str, retry_failed: bool, tmp_path: Path
) -> None:
    path, told = tmp_path / "j.db", []
    options: dict[str, Any] = {"max_cost": 0, "price": PRICE, "journal": path, "mode": mode}
    for _ in range(3):
        streamed: list[int] = []
        results = run_all(
            map(str, range(50)),
            backend=BatchProvider().client(),
            retry_failed=retry_failed,
            on_event=lambda event: streamed.append(event.item) if isinstance(event, Settled) else None,  # noqa: B023
            **options,
        )
        assert (results.stopped, results.accounting.deferred) == ("budget", 50)
        with closing(JournalReader(path)) as reader:
            told.append((sum(1 for _ in reader.events()), len(streamed)))
    assert told == [(102, 50), (104, 50), (106, 50)]  # a run's beginning and end are all that is new
    backend = Scripted(lambda *_: reply())
    assert (
        statuses_of(run_all(map(str, range(50)), backend=backend, **options | {"max_cost": 1, "mode": "live"}))
        == ["succeeded"] * 50
    )


def test_a_retry_without_new_money_does_not_grow_the_journal(tmp_path: Path) -> None:
    path, counts = tmp_path / "j.db", []
    options: Any = {"model": "mock:echo", "backend": Scripted(), "max_cost": 0, "price": PRICE, "journal": path}
    run_all(["a", "b"], **options)
    for _ in range(2):
        run_virtual(RunSession(plan_of(options), None, supplied_of(options)).execute()).close()
        with closing(JournalReader(path)) as reader:
            counts.append(sum(1 for _ in reader.events()))
    assert counts[1] == counts[0] + 2


def test_no_money_at_all_defers_everything_and_sends_nothing() -> None:
    backend = Scripted()
    results = run_all(["a", "b"], backend=backend, max_cost=0, price=PRICE)
    assert (statuses_of(results), backend.asked) == (["deferred"] * 2, [])


def test_many_deferred_items_are_soon_done(tmp_path: Path) -> None:
    backend = Scripted()
    results = run_all(map(str, range(3000)), backend=backend, max_cost=0, price=PRICE, journal=tmp_path / "j.db")
    assert results.accounting.deferred == 3000


def test_a_cut_off_call_is_booked_at_its_worst_case() -> None:
    cut = failure(FailureKind.CONNECTION, unconfirmed=True)
    backend = Scripted(lambda prompt, call: cut if call == 1 else reply())
    results = run_all(["a"], backend=backend, **dear())
    assert results.unconfirmed_cost > Decimal("0.00005")
    assert results.total_cost == results.unconfirmed_cost + Decimal("0.000015")
    assert results[0].cost == results.total_cost


def test_an_unknown_price_with_a_budget_is_an_error_that_says_how_to_state_one() -> None:
    with pytest.raises(batchwork.PriceUnknownError, match="--price IN,OUT"):
        run_all(["a"], backend=Scripted(), model="nobody:knows", max_cost=1)


def test_an_unknown_price_without_a_budget_is_unknown_and_not_zero() -> None:
    results = run_all(["a"], backend=Scripted(), model="nobody:knows")
    assert (results[0].text, results[0].cost, results.total_cost) == ("a", None, None)


def test_the_mock_costs_nothing_and_a_stated_price_counts() -> None:
    assert batchwork.run(["a"], model="mock:echo").total_cost == 0
    assert batchwork.run(["a"], model="mock:echo", price="1,1").total_cost == Decimal("0.000002")


def test_a_free_token_count_admits_what_the_bound_alone_would_defer() -> None:
    class Counting(Scripted):
        counted = 0

        async def count_tokens(self, request: Request) -> int:
            self.counted += 1
            return 10

    backend = Counting(lambda *_: reply())
    prompts = ["x" * 5000, "y" * 5000]
    results = run_all(prompts, backend=backend, max_cost="0.000031", price=PRICE, max_tokens=5, max_in_flight=1)
    assert statuses_of(results) == ["succeeded", "succeeded"]
    assert backend.counted == 2


def test_no_token_count_is_asked_for_when_it_cannot_help() -> None:
    class Counting(Scripted):
        async def count_tokens(self, request: Request) -> int:
            raise AssertionError("asked")

    results = run_all(["x" * 5000], backend=Counting(), max_cost="0.000001", price=PRICE)
    assert statuses_of(results) == ["deferred"]


@pytest.mark.parametrize("left_out", [{}, {"max_cost": None}])
def test_a_limit_holds_for_a_later_run_that_states_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, left_out: Any
) -> None:
    options = dear(journal=tmp_path / "j.db")
    first = run_all(map(str, range(100)), backend=Scripted(), max_cost="0.0005", **options)
    for _ in range(2):  # and for the one after that
        again = run_all(map(str, range(100)), backend=Scripted(), **options, **left_out)
        assert again.stopped == "budget"
        assert again.total_cost <= Decimal("0.0005")
        assert again.total_cost >= first.total_cost
    assert "$0.0005, still holds" in caplog.text
