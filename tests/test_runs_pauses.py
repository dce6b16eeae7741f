"""What pauses a run, and what it leaves behind."""

from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import RunPaused
from batchwork.core.failure import FailureKind
from tests.support.runs import run_all, statuses_of
from tests.support.scripted import Scripted, failure
from tests.support.virtual_time import run_virtual, virtual_now


def test_a_wrong_key_pauses_at_once_and_leaves_the_items_pending() -> None:
    backend = Scripted(lambda *_: failure(FailureKind.AUTH), latency=1.0, free=True)
    with pytest.raises(RunPaused, match="credentials") as caught:
        run_all(map(str, range(100)), backend=backend, max_in_flight=3)
    assert len(backend.asked) <= 6
    assert set(statuses_of(caught.value.results)) == {"pending"}
    assert caught.value.remedy.startswith("Set a valid API key, then make the call again: ")
    assert "command" not in caught.value.remedy


def test_many_failures_in_a_row_pause_and_keep_what_is_finished(tmp_path: Path) -> None:
    backend = Scripted(lambda prompt, _: prompt if int(prompt) < 3 else failure(FailureKind.SERVER), free=True)
    options: dict[str, Any] = {"retries": 0, "max_in_flight": 1, "journal": tmp_path / "j.db"}
    with pytest.raises(RunPaused, match="4 items in a row") as caught:
        run_all(map(str, range(50)), backend=backend, max_consecutive_failures=4, **options)
    assert "retry_failed=True for the failed ones" in caught.value.remedy
    results = caught.value.results
    assert statuses_of(results)[:7] == ["succeeded"] * 3 + ["failed"] * 4
    assert results.stopped == "paused"
    healthy = Scripted(free=True)
    again = run_all(map(str, range(50)), backend=healthy, **options)
    assert again.accounting.failed == len(set(backend.asked)) - 3 < 10
    assert len(healthy.asked) == again.accounting.succeeded - 3


def test_a_quota_that_ends_soon_is_waited_out_and_the_items_sent_again() -> None:
    def answer(prompt: str, call: int) -> Any:
        return failure(FailureKind.QUOTA, after=600) if virtual_now() < 600 else prompt

    async def main() -> tuple[list[str], float]:
        results = await batchwork.arun(["a", "b"], model="mock:echo", backend=Scripted(answer, free=True))
        return statuses_of(results), virtual_now()

    statuses, now = run_virtual(main())
    assert statuses == ["succeeded", "succeeded"]
    assert 600 <= now < 610


def test_a_quota_that_ends_later_pauses() -> None:
    backend = Scripted(lambda *_: failure(FailureKind.QUOTA, after=3600), free=True)
    with pytest.raises(RunPaused, match="longer than max_wait"):
        run_all(["a"], backend=backend)


def test_sustained_refusals_end_in_a_pause_and_not_in_a_stall() -> None:
    backend = Scripted(lambda *_: failure(FailureKind.OVERLOADED), free=True)

    async def main() -> float:
        with pytest.raises(RunPaused, match="refused every call"):
            await batchwork.arun(map(str, range(20)), model="mock:echo", backend=backend, retries=1000)
        return virtual_now()

    assert run_virtual(main()) < 700


def test_a_pause_without_a_journal_on_disk_still_carries_its_results() -> None:
    backend = Scripted(lambda prompt, _: prompt if prompt == "a" else failure(FailureKind.AUTH), free=True)
    with pytest.raises(RunPaused) as caught:
        run_all(["a", "b"], backend=backend, max_in_flight=1)
    assert statuses_of(caught.value.results) == ["succeeded", "pending"]


def test_a_pause_tells_a_program_its_cause_and_when_to_come_again() -> None:
    used_up = failure(FailureKind.QUOTA, after=7200.0)
    with pytest.raises(RunPaused) as paused:
        batchwork.run(["a"], model="x", backend=Scripted(lambda prompt, call: used_up))
    assert (paused.value.cause, paused.value.retry_after_s) == ("quota", 7200.0)


@pytest.mark.parametrize("window", [1, 2, 4, 8])
def test_with_retries_in_place_a_provider_that_is_down_sees_one_window_of_items_and_three_more(window: int) -> None:
    down = Scripted(lambda prompt, call: failure(FailureKind.SERVER), latency=0.1)
    options: dict[str, Any] = {"backend": down, "max_in_flight": window, "max_consecutive_failures": 3, "retries": 2}
    with pytest.raises(RunPaused):
        run_all([f"p{i}" for i in range(100)], retry_in_place=True, **options)
    assert len(set(down.asked)) <= window + 3
