"""Runs through provider batches: nothing lost, nothing paid for twice, whatever happens on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.core.errors import CallbackError, ConfigError, Interrupted
from batchwork.core.event import BatchClosed, Ended
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import Traits
from batchwork.core.prompt import intakes
from batchwork.core.reply import Reply, Usage
from batchwork.core.stats import Tally
from batchwork.engine.batch_run import BatchRun
from batchwork.engine.read_ahead import LATER, Later
from batchwork.journal import JournalReader
from batchwork.options import defaults_of, plan_of, supplied_of
from batchwork.run_session import RunSession
from tests.support.batch_provider import BatchClient, BatchProvider
from tests.support.parts import parts
from tests.support.scripted import failure
from tests.support.virtual_time import run_virtual, virtual_now

PROMPTS = [f"p{i}" for i in range(25)]
TOLD: dict[str, Any] = {"model": "scripted", "mode": "batch", "price": (1, 1), "items_per_batch": 10}


def run(provider: BatchProvider, prompts: Any = PROMPTS, **options: Any) -> batchwork.Results:
    return run_virtual(batchwork.arun(prompts, backend=provider.client(), **(TOLD | options)))


async def interrupted_after(seconds: float, told: Any) -> None:
    """Start a run and interrupt it."""
    job = RunSession(plan_of(told), intakes(PROMPTS, defaults_of(told)), supplied_of(told))
    task = asyncio.create_task(job.execute())
    await asyncio.sleep(seconds)
    job.interrupt()
    with pytest.raises(Interrupted):
        await task


def once(step: str, kind: FailureKind, times: int = 1, **more: Any) -> Any:
    """Trouble at one step, so many times."""
    left = [times]

    def trouble(at: str) -> Failure | None:
        if at != step or not left[0]:
            return None
        left[0] -= 1
        return failure(kind, **more)

    return trouble


def test_items_ride_in_batches_of_so_many_and_come_back_in_input_order() -> None:
    provider = BatchProvider()
    results = run(provider)
    assert [r.text for r in results] == PROMPTS
    assert [len(b.lines) for b in provider.batches.values()] == [10, 10, 5]


def test_a_batch_holds_no_more_bytes_than_the_provider_takes() -> None:
    provider = BatchProvider(limits=BatchLimits(max_requests=1000, max_bytes=400))
    results = run(provider, items_per_batch=None)
    assert [r.text for r in results] == PROMPTS
    assert all(sum(len(name) + len(text) for name, text in b.lines) < 400 for b in provider.batches.values())


def test_an_item_larger_than_a_whole_batch_fails_alone() -> None:
    provider = BatchProvider(limits=BatchLimits(max_requests=1000, max_bytes=400))
    results = run(provider, ["small", "x" * 500, "tiny"], items_per_batch=None)
    assert [r.status.value for r in results] == ["succeeded", "failed", "succeeded"]
    assert str(results[1].error).startswith("too_long")


def test_at_most_so_many_batches_are_under_way() -> None:
    provider = BatchProvider()
    seen: list[int] = []

    def watch(step: str) -> None:
        now = asyncio.get_running_loop().time()
        if step == "submit":
            seen.append(sum(b.ends_at > now for b in provider.batches.values()))

    provider.trouble = watch
    run(provider, [f"p{i}" for i in range(100)], max_parallel_batches=2, poll_interval=1.0)
    assert len(provider.batches) == 10
    assert max(seen) == 1


def test_a_failed_poll_is_not_a_failed_batch() -> None:
    provider = BatchProvider()
    provider.trouble = once("poll", FailureKind.CONNECTION, times=7)
    assert run(provider).accounting.succeeded == 25
    assert len(provider.batches) == 3


def test_a_submission_whose_answer_was_lost_is_found_and_not_sent_again() -> None:
    provider = BatchProvider()
    provider.lost_answers = 3
    assert run(provider).accounting.succeeded == 25
    assert len(provider.batches) == 3
    assert set(provider.billed.values()) == {1}


def test_a_provider_list_that_lags_is_waited_for() -> None:
    provider = BatchProvider(takes_s=300.0)
    provider.lost_answers = 1
    provider.hides_for_s = 90.0
    run(provider)
    assert set(provider.billed.values()) == {1}


def test_a_submission_that_surely_never_arrived_is_sent_again() -> None:
    provider = BatchProvider()
    provider.trouble = once("submit", FailureKind.CONNECTION, unconfirmed=True)
    assert run(provider).accounting.succeeded == 25
    assert set(provider.billed.values()) == {1}


def test_a_provider_that_cannot_be_reached_pauses_the_run_and_nothing_was_looked_for() -> None:
    provider = BatchProvider()
    steps: list[str] = []

    def unreachable(step: str) -> Failure:
        steps.append(step)
        return failure(FailureKind.CONNECTION)

    provider.trouble = unreachable
    with pytest.raises(batchwork.RunPaused, match="cannot be reached at scripted") as paused:
        run(provider, PROMPTS[:2], retries=1)
    assert steps == ["submit", "submit"]
    assert paused.value.cause == "stalled"
    assert paused.value.results.accounting.pending == 2


def test_a_batch_that_nobody_can_be_asked_about_pauses_the_run_and_is_found_by_the_next_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider = BatchProvider()
    provider.lost_answers = 1
    provider.trouble = lambda step: failure(FailureKind.SERVER) if step == "find" else None
    told = {"journal": tmp_path / "j.db"}
    with pytest.raises(batchwork.RunPaused, match=r"cannot be asked about batch .* looks for the batch"):
        run(provider, PROMPTS[:5], **told)
    assert len([record for record in caplog.records if "cannot look at batch" in record.getMessage()]) == 1
    provider.trouble = lambda step: None
    assert run(provider, PROMPTS[:5], **told).accounting.succeeded == 5
    assert len(provider.batches) == 1
    assert set(provider.billed.values()) == {1}


def test_a_batch_out_of_sight_for_too_long_pauses_the_run_and_is_taken_up_by_the_next_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider = BatchProvider()
    provider.trouble = lambda step: failure(FailureKind.CONNECTION) if step == "poll" else None
    told = {"journal": tmp_path / "j.db"}
    with pytest.raises(batchwork.RunPaused, match="cannot be asked about batch batch_0"):
        run(provider, PROMPTS[:5], **told)
    assert len([record for record in caplog.records if "cannot look at batch" in record.getMessage()]) == 1
    provider.trouble = lambda step: None
    assert run(provider, PROMPTS[:5], **told).accounting.succeeded == 5
    assert set(provider.billed.values()) == {1}


def test_an_outage_of_half_an_hour_is_waited_out_once_the_batch_was_seen() -> None:
    provider = BatchProvider(takes_s=3600.0)
    provider.trouble = lambda step: (
        failure(FailureKind.CONNECTION) if step == "poll" and 600.0 <= virtual_now() < 2400.0 else None
    )
    assert run(provider, PROMPTS[:5]).accounting.succeeded == 5
    assert set(provider.billed.values()) == {1}


def test_a_key_that_is_not_accepted_ends_the_looks_at_once(tmp_path: Path) -> None:
    provider = BatchProvider()
    provider.lost_answers = 1
    provider.trouble = lambda step: failure(FailureKind.AUTH) if step == "find" else None
    with pytest.raises(batchwork.RunPaused) as paused:
        run(provider, PROMPTS[:5], journal=tmp_path / "j.db")
    assert paused.value.cause == "credentials"


def test_a_download_that_breaks_off_is_begun_again_and_knows_what_it_has() -> None:
    provider = BatchProvider()
    provider.trouble = once("collect", FailureKind.CONNECTION, times=3)
    settled: list[int] = []
    results = run(provider, on_event=lambda event: settled.append(event.item) if hasattr(event, "outcome") else None)
    assert results.accounting.succeeded == 25
    assert len(settled) == len(set(settled)) == 25


def test_expired_items_ride_again_twice_at_most() -> None:
    expired = Failure(kind=FailureKind.EXPIRED, message="not executed")
    provider = BatchProvider(lambda prompt, time: expired if prompt in ("p1", "p2") else prompt)
    results = run(provider)
    assert [r.index for r in results if r.status.value == "failed"] == [1, 2]
    assert sum(name.split("-")[2] == "1" for b in provider.batches.values() for name, _ in b.lines) == 3


def test_server_errors_ride_again_and_rejections_do_not() -> None:
    sick = iter([True, True])

    def answer(prompt: str, time: int) -> Reply | Failure | str:
        if prompt == "p3":
            return failure(FailureKind.REJECTED)
        return failure(FailureKind.SERVER) if prompt == "p4" and next(sick, False) else prompt

    results = run(BatchProvider(answer))
    assert [r.index for r in results if r.status.value == "failed"] == [3]


def test_the_budget_is_a_ceiling_and_what_does_not_fit_is_deferred() -> None:
    results = run(BatchProvider(), max_tokens=10, price=(10, 10), max_cost=0.003)
    assert float(results.total_cost or 0) <= 0.003
    assert results.accounting.deferred > 0
    assert results.accounting.succeeded > 0
    assert results.stopped == "budget"


def test_a_budget_that_holds_few_at_once_is_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider = BatchProvider(takes_s=600.0)
    run(provider, max_tokens=10, price=(10, 10), max_cost=0.003, items_per_batch=4)
    assert caplog.text.count("the budget holds ") == 1
    assert "the rest goes in further batches, one after another" in caplog.text


def test_items_of_a_batch_that_is_taken_up_are_not_done_before(tmp_path: Path) -> None:
    provider = BatchProvider(takes_s=600.0)
    told = TOLD | {"backend": provider.client(), "journal": tmp_path / "j.db"}

    async def twice() -> batchwork.Results:
        await interrupted_after(100, told)
        await asyncio.sleep(3600.0)  # all of it is finished: it may be settled before its row is read
        return await batchwork.arun((prompt for prompt in PROMPTS), **told)

    run_virtual(twice())
    with closing(JournalReader(tmp_path / "j.db")) as reader:
        ended = reader.last_event()
    assert isinstance(ended, Ended)
    assert ended.figures is not None
    assert (ended.figures.reused, ended.figures.calls) == (0, len(PROMPTS))


def test_what_a_backend_adds_around_every_request_is_reserved_in_a_batch_too(tmp_path: Path) -> None:
    class Wordy(BatchClient):
        traits = Traits(name="scripted", batches=True, overhead_tokens=1_000_000)

    told = TOLD | {"max_tokens": 10, "max_cost": 0.5}
    assert run(BatchProvider(), ["a"], **told).stopped is None
    results = run_virtual(batchwork.arun(["a"], backend=Wordy(BatchProvider()), **told))
    assert results.stopped == "budget"


def test_a_rerun_takes_up_the_batches_that_an_interrupted_run_left(tmp_path: Path) -> None:
    provider = BatchProvider(takes_s=600.0)
    told = TOLD | {"backend": provider.client(), "journal": tmp_path / "j.db"}

    async def twice() -> batchwork.Results:
        await interrupted_after(100, told)
        return await batchwork.arun(PROMPTS, **told)

    assert [r.text for r in run_virtual(twice())] == PROMPTS
    assert len(provider.batches) == 3
    assert set(provider.billed.values()) == {1}


def test_an_intent_without_a_ticket_is_matched_before_anything_is_sent(tmp_path: Path) -> None:
    provider = BatchProvider(takes_s=600.0)
    told = TOLD | {"backend": provider.client(), "journal": tmp_path / "j.db"}

    async def twice() -> batchwork.Results:
        provider.lost_answers = 3  # submitted, the answer lost, and the run interrupted while it looks
        provider.hides_for_s = 200.0
        await interrupted_after(100, told)
        return await batchwork.arun(PROMPTS, **told)

    assert [r.text for r in run_virtual(twice())] == PROMPTS
    assert len(provider.batches) == 3
    assert set(provider.billed.values()) == {1}


def test_a_live_run_on_a_journal_with_open_batches_is_refused(tmp_path: Path) -> None:
    provider = BatchProvider(takes_s=600.0)
    told = TOLD | {"backend": provider.client(), "journal": tmp_path / "j.db"}
    run_virtual(interrupted_after(100, told))
    with pytest.raises(ConfigError, match="--mode batch"):
        run_virtual(batchwork.arun(PROMPTS, **(told | {"mode": "live"})))


def test_fresh_tells_of_the_batches_it_leaves_behind_and_the_old_journal_takes_them_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider, told = BatchProvider(takes_s=1000), TOLD | {"journal": tmp_path / "j.db"}

    async def main() -> None:
        await interrupted_after(100, {**told, "backend": provider.client()})
        await batchwork.arun(["other"], backend=provider.client(), fresh=True, **told)
        old = {**told, "backend": provider.client(), "journal": tmp_path / "j.db.old-1"}
        results = await RunSession(plan_of(old), None, supplied_of(old)).execute()
        assert [r.text for r in results] == PROMPTS

    run_virtual(main())
    (said,) = [record.getMessage() for record in caplog.records if "open at the provider" in record.getMessage()]
    assert "3 batches" in said
    assert "batch_0, batch_1, batch_2" in said
    assert f"batchwork retry {tmp_path / 'j.db.old-1'}" in said
    assert set(provider.billed.values()) == {1}


def test_an_interruption_that_cancels_keeps_what_is_finished(tmp_path: Path) -> None:
    provider = BatchProvider(takes_s=50.0)
    told = TOLD | {"backend": provider.client(), "journal": tmp_path / "j.db", "poll_interval": 1.0}
    told |= {"cancel_on_interrupt": True, "max_parallel_batches": 1}
    run_virtual(interrupted_after(80, told))
    assert [b.cancelled for b in provider.batches.values()] == [False, True]
    assert [r.text for r in run_virtual(batchwork.arun(PROMPTS, **told))] == PROMPTS
    assert set(provider.billed.values()) == {1}


def test_a_wrong_key_at_submission_pauses_and_leaves_everything_pending() -> None:
    provider = BatchProvider()
    provider.trouble = once("submit", FailureKind.AUTH, times=99)
    with pytest.raises(batchwork.RunPaused) as paused:
        run(provider)
    assert paused.value.results.accounting.pending == paused.value.results.accounting.inputs > 0


def test_an_input_that_raises_half_way_is_an_error_and_sends_nothing_more() -> None:
    provider = BatchProvider()

    def rows() -> Iterator[str]:
        yield from PROMPTS[:15]
        raise OSError("gone")

    with pytest.raises(batchwork.InputError):
        run(provider, rows())
    assert len(provider.batches) <= 1


def test_usage_is_billed_once_at_the_stated_price() -> None:
    provider = BatchProvider(lambda prompt, time: Reply(text="x", usage=Usage(input_tokens=100, output_tokens=50)))
    assert float(run(provider, price=(2, 4)).total_cost or 0) == pytest.approx(25 * (100 * 2 + 50 * 4) / 1e6)


def test_items_of_a_batch_that_is_taken_up_are_not_read_from_the_input_as_well(tmp_path: Path) -> None:
    provider = BatchProvider(lambda prompt, time: prompt if prompt in seen else failed_once(prompt))
    seen: set[str] = set()

    def failed_once(prompt: str) -> Failure:
        seen.add(prompt)
        return failure(FailureKind.SERVER)

    def stop(event: Any) -> None:
        if isinstance(event, BatchClosed):
            raise OSError("pulled out")

    def hold_the_second(step: str) -> None:
        if step == "poll" and "batch_1" in provider.batches:
            provider.batches["batch_1"].ends_at = held_until

    held_until = 1e9
    provider.trouble = hold_the_second
    told = {"journal": tmp_path / "j.db", "items_per_batch": 5}
    with pytest.raises(CallbackError):
        run(provider, PROMPTS[:10], on_event=stop, **told)
    held_until = 20.0
    results = run(provider, PROMPTS[:10], max_parallel_batches=1, **told)
    assert results.accounting.succeeded == 10
    assert set(provider.billed.values()) == {1}


def test_news_of_more_input_that_comes_at_once_is_not_missed() -> None:
    async def main() -> float:
        client = BatchProvider().client()
        run = BatchRun(parts(), client, Tally(), journal_id="r")

        def source() -> Iterator[Later]:
            asyncio.get_running_loop().call_soon(run.wake)
            yield LATER

        async with asyncio.timeout(60.0):
            await run.run(source())
        return virtual_now()

    assert run_virtual(main()) == 0.0
