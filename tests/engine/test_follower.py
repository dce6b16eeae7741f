"""Results of provider batches that are late, damaged or gone: nothing lost in silence, nothing booked too low."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.event import Attempted, BatchClosed, BatchIntended, BatchReopened, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import BatchPolicy, Policy
from batchwork.core.ports import BatchProgress
from batchwork.core.reply import Reply
from batchwork.engine.follower import Sight, looks
from batchwork.journal import JournalReader
from tests.support.batch_provider import Batch, BatchClient, BatchProvider
from tests.support.scripted import failure
from tests.support.virtual_time import run_virtual, virtual_now

PROMPTS = [f"p{i}" for i in range(8)]
TOLD: dict[str, Any] = {"model": "scripted", "mode": "batch", "price": (1, 1), "items_per_batch": 4, "max_tokens": 10}
V0_1 = Path(__file__).parents[1] / "data" / "journals" / "v0.1-batches.db"


class Damaged(BatchClient):
    """Reads its provider through a filter: what it makes None is not there, what it raises breaks the download."""

    def __init__(self, provider: BatchProvider, see: Callable[[str, str, Any], Any]) -> None:
        super().__init__(provider)
        self._see = see
        self.downloads = 0

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        self.downloads += 1
        problem: BackendError | None = None
        async for name, result in super().collect_batch(batch_id):
            try:
                seen = self._see(batch_id, name, result)
            except BackendError as error:
                problem = error
                continue
            if seen is not None:
                yield name, seen
        if problem is not None:
            raise problem


def run(client: BatchClient, prompts: Any = PROMPTS, **options: Any) -> batchwork.Results:
    return run_virtual(batchwork.arun(prompts, backend=client, **(TOLD | options)))


def unreadable(*_: Any) -> None:
    raise BackendError(failure(FailureKind.SERVER))


def is_about(name: str, index: int) -> bool:
    return name.split("-")[2] == str(index)


def test_an_item_that_the_results_do_not_mention_is_lost_at_its_worst_case_and_not_sent_again() -> None:
    provider = BatchProvider()
    client = Damaged(provider, lambda _, name, result: None if is_about(name, 2) else result)
    results = run(client)
    assert str(results[2].error).startswith("result_lost")
    assert [r.text for r in results if r.index != 2] == [p for p in PROMPTS if p != "p2"]
    assert (results[2].cost_nano or 0) > (results[1].cost_nano or 0) > 0
    assert set(provider.billed.values()) == {1}
    assert client.downloads == 3, "one batch was downloaded a second time"


def test_a_download_that_lacks_lines_is_begun_again() -> None:
    provider, seen = BatchProvider(), set[str]()

    def short_at_first(batch_id: str, name: str, result: Any) -> Any:
        first = name not in seen
        seen.add(name)
        return None if first and is_about(name, 1) else result

    assert run(Damaged(provider, short_at_first)).accounting.succeeded == 8
    assert set(provider.billed.values()) == {1}


def test_one_line_that_cannot_be_read_does_not_hide_the_others_and_is_given_up_in_time() -> None:
    def see(_: str, name: str, result: Any) -> Any:
        return unreadable() if is_about(name, 5) else result

    events: list[tuple[float, int]] = []

    def watch(event: Any) -> None:
        if isinstance(event, Settled):
            events.append((virtual_now(), event.item))

    results = run(Damaged(BatchProvider(), see), results_wait=300.0, on_event=watch)
    assert [r.index for r in results if r.error] == [5]
    assert "cannot be read" in str(results[5].error)
    assert 300 <= events[-1][0] <= 300 + 60 + 60


def test_results_that_are_gone_for_good_fail_their_items_and_the_run_goes_on() -> None:
    provider = BatchProvider()
    gone = Damaged(provider, lambda batch_id, _, result: unreadable() if batch_id == "batch_0" else result)
    results = run(gone, max_parallel_batches=1)
    assert [r.status.value for r in results] == ["failed"] * 4 + ["succeeded"] * 4
    assert {str(r.error).split(":")[0] for r in results if r.error} == {"result_lost"}


def test_a_retry_asks_a_lost_batch_once_more_before_it_sends_anything(tmp_path: Path) -> None:
    provider, told = BatchProvider(), {"journal": tmp_path / "j.db", "items_per_batch": 8}
    lost = Damaged(provider, lambda _, name, result: unreadable() if is_about(name, 5) or is_about(name, 6) else result)
    first = run(lost, **told)
    assert first.accounting.failed == 2
    events: list[Any] = []
    again = run(provider.client(), retry_failed=True, on_event=events.append, **told)
    assert [r.text for r in again] == PROMPTS
    assert set(provider.billed.values()) == {1}
    assert len(provider.batches) == 1
    assert [type(e) for e in events if isinstance(e, BatchReopened | BatchIntended)] == [BatchReopened] * 2
    assert (again[5].attempts, again[5].cost_nano) == (1, again[0].cost_nano)
    with closing(JournalReader(tmp_path / "j.db")) as reader:
        totals = reader.totals()
    assert (totals.unconfirmed_nano, totals.spent_nano) == (0, 8 * (again[0].cost_nano or 0))


def test_what_a_lost_batch_still_does_not_answer_is_sent_again_by_a_retry(tmp_path: Path) -> None:
    provider, told = BatchProvider(), {"journal": tmp_path / "j.db", "results_wait": 30.0}
    lost = Damaged(
        provider, lambda batch_id, name, result: unreadable() if batch_id == "batch_0" and is_about(name, 1) else result
    )
    assert run(lost, **told).accounting.failed == 1
    again = run(lost, retry_failed=True, **told)
    assert [r.text for r in again] == PROMPTS
    assert provider.billed["p1"] == 2
    assert len(provider.batches) == 3
    assert again.accounting.succeeded == 8
    with closing(JournalReader(tmp_path / "j.db")) as reader:
        assert reader.totals().unconfirmed_nano > 0, "the first one may be billed, too"


def test_results_are_not_given_up_while_the_provider_is_out_of_reach() -> None:
    """An hour without a network says nothing about results: they are waited for."""
    provider = BatchProvider()

    def trouble(step: str) -> Failure | None:
        outage = 40 < virtual_now() < 3000
        return failure(FailureKind.CONNECTION) if outage and step in ("poll", "collect") else None

    provider.trouble = trouble
    assert run(provider.client(), results_wait=60.0).accounting.succeeded == 8


def test_a_key_that_is_revoked_before_the_results_are_read_pauses_the_run(tmp_path: Path) -> None:
    provider = BatchProvider()
    revoked = [False]

    def trouble(step: str) -> Failure | None:
        revoked[0] |= step == "collect"
        return failure(FailureKind.AUTH) if revoked[0] and step != "submit" else None

    provider.trouble = trouble
    with pytest.raises(batchwork.RunPaused):
        run(provider.client(), journal=tmp_path / "j.db")
    provider.trouble = lambda step: None
    assert run(provider.client(), journal=tmp_path / "j.db").accounting.succeeded == 8
    assert set(provider.billed.values()) == {1}


def test_results_that_are_withheld_while_polls_are_answered_are_lost_in_time() -> None:
    provider = BatchProvider()
    provider.trouble = lambda step: failure(FailureKind.AUTH) if step == "collect" else None
    results = run(provider.client(), PROMPTS[:2], results_wait=60.0)
    assert {str(r.error).split(":")[0] for r in results if r.error} == {"result_lost"}


def test_an_answer_without_usage_is_booked_at_its_worst_case() -> None:
    provider = BatchProvider(lambda prompt, time: Reply(text=prompt))
    results = run(provider.client(), max_cost=1.0)
    worst = 1_000 * (64 + 16 + 2) + 1_000 * 10  # a bound of the input, and max_tokens, at a dollar per million
    assert {r.cost_nano for r in results} == {worst}


def test_only_the_lines_that_a_batch_is_refused_for_are_at_fault() -> None:
    provider = BatchProvider()

    class Picky(BatchClient):
        async def poll_batch(self, batch_id: str) -> BatchProgress:
            names = [name for name, _ in self._provider.batches[batch_id].lines]
            bad = [number for number, name in enumerate(names, 1) if is_about(name, 2)]
            if not bad:
                return await super().poll_batch(batch_id)
            problem = failure(FailureKind.REJECTED)
            return BatchProgress(ended=True, failure=problem, bad_lines=tuple((number, problem) for number in bad))

    results = run(Picky(provider))
    assert [r.index for r in results if r.error] == [2]
    assert set(provider.billed.values()) == {1}


def test_a_batch_that_is_too_large_for_the_provider_is_split() -> None:
    class Narrow(BatchClient):
        async def submit_batch(self, lines: list[bytes], tag: Any) -> str:
            if len(lines) > 3:
                raise BackendError(Failure(kind=FailureKind.TOO_LONG, message="413", status=413))
            return await super().submit_batch(lines, tag)

    provider = BatchProvider()
    assert [r.text for r in run(Narrow(provider))] == PROMPTS
    assert max(len(batch.lines) for batch in provider.batches.values()) <= 3


def test_a_journal_of_0_1_with_an_item_in_two_open_batches_is_taken_up_and_sends_nothing_again(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    shutil.copy(V0_1, path)
    with closing(JournalReader(path)) as reader:
        tickets = reader.open_batches()
        events = list(reader.events())
    intents = [event for event in events if isinstance(event, BatchIntended)]
    assert [item for intent in intents for item in intent.items].count(3) == 2, "0.1 put it into two"
    assert sorted(item for ticket in tickets for item in ticket.items) == [0, 1, 2, 3]
    provider = BatchProvider()
    for number, intent in enumerate(intents):
        lines = [(name, f"p{item}") for name, item in zip(intent.custom_ids, intent.items, strict=True)]
        provider.batches[f"batch_{number}"] = Batch(tag=None, lines=lines, ends_at=0.0)  # type: ignore[arg-type]
    recorded: list[Any] = []
    options = TOLD | {"journal": path, "max_tokens": 1024}
    results = run_virtual(batchwork.arun(PROMPTS, backend=provider.client(), on_event=recorded.append, **options))
    assert [r.text for r in results] == PROMPTS
    assert len(provider.batches) == 3, "nothing was sent"
    assert not [event for event in recorded if isinstance(event, Attempted)]
    assert [event.how for event in recorded if isinstance(event, BatchClosed)] == ["collected"] * 2


def test_looks_grow_apart_up_to_the_longest_and_go_on_without_end() -> None:
    pauses = list(islice(looks(BatchPolicy(poll_first_s=5.0)), 50))
    assert pauses[:2] == [5.0, 7.5]
    assert pauses == sorted(pauses)
    assert pauses[-1] == BatchPolicy().poll_longest_s


@pytest.mark.parametrize(("was_seen", "gives_up"), [(False, True), (True, False)])
def test_a_batch_that_was_seen_once_is_waited_for_longer(was_seen: bool, gives_up: bool) -> None:
    async def main() -> bool:
        clock, policy = SystemClock(), Policy()
        sight = Sight("b1", where="here", policy=policy, clock=clock)
        if was_seen:
            sight.seen()
        assert not sight.lost(failure(FailureKind.CONNECTION))
        await clock.sleep(max(policy.stall_s, policy.batch.adopt_wait_s))
        return sight.lost(failure(FailureKind.CONNECTION))

    assert run_virtual(main()) is gives_up
