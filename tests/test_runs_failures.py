"""What goes wrong in a run: failures that pass, defects of foreign code, callbacks that raise."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import Request, Status
from batchwork.core.event import Began, Ended, Opened, Settled
from batchwork.core.failure import FailureKind
from batchwork.core.prompt import intakes
from batchwork.core.reply import Reply, Usage
from batchwork.journal import JournalReader
from batchwork.options import defaults_of, plan_of, supplied_of
from batchwork.run_session import RunSession
from tests.support.batch_provider import BatchProvider
from tests.support.runs import PRICE, down, run_all, statuses_of, texts_of
from tests.support.scripted import Scripted, failure, reply
from tests.support.virtual_time import run_virtual


def test_a_passing_failure_is_tried_again_and_counted() -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.SERVER) if call < 3 else prompt, free=True)
    (only,) = run_all(["a"], backend=backend)
    assert (only.status, only.attempts) == (Status.SUCCEEDED, 3)


def test_tokens_of_failed_attempts_are_paid_and_counted() -> None:
    billed = batchwork.Failure(
        kind=FailureKind.SERVER, message="half way", usage=Usage(input_tokens=100, output_tokens=0)
    )
    backend = Scripted(lambda prompt, call: billed if call == 1 else reply())
    (only,) = run_all(["a"], backend=backend, price=PRICE)
    assert only.cost == Decimal("0.000115")
    assert only.usage == Usage(input_tokens=110, output_tokens=5)


def test_a_refusal_that_was_billed_counts_in_its_items_cost() -> None:
    declined = batchwork.Failure(kind=FailureKind.REFUSED, message="no", reply=reply("I cannot"), usage=reply().usage)
    results = run_all(["a"], backend=Scripted(lambda *_: declined), price=PRICE)
    assert (results[0].cost, results[0].text, results[0].attempts) == (Decimal("0.000015"), "I cannot", 1)


def test_a_backend_that_raises_something_else_fails_that_item_alone(caplog: pytest.LogCaptureFixture) -> None:
    def answer(prompt: str, call: int) -> str:
        if prompt == "bad":
            raise KeyError("oops")
        return prompt

    results = run_all(["a", "bad", "b"], backend=Scripted(answer, free=True))
    assert statuses_of(results) == ["succeeded", "failed", "succeeded"]
    assert "KeyError in the backend" in str(results[1].error)


def test_a_call_without_an_answer_ends_at_its_timeout() -> None:
    (only,) = run_all(["a"], backend=Scripted(latency=1e9, free=True), timeout=5, retries=0)
    assert only.error == "timeout: no answer within 5 s"


def test_an_item_that_waits_in_line_for_hours_is_still_tried_again() -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.SERVER) if call == 1 else prompt, free=True)
    results = run_all(map(str, range(40)), backend=backend, rpm=0.5)
    assert statuses_of(results) == ["succeeded"] * 40


def test_an_input_that_raises_half_way_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    def prompts() -> Iterator[str]:
        yield from ("a", "b")
        raise OSError("the disk is gone")

    with pytest.raises(batchwork.InputError, match="OSError after row 2: the disk is gone"):
        batchwork.run(prompts(), model="mock:echo", journal=tmp_path / "j.db", max_in_flight=1)
    backend = Scripted(free=True)
    assert texts_of(run_all(["a", "b", "c"], backend=backend, journal=tmp_path / "j.db")) == ["a", "b", "c"]
    assert backend.asked == ["c"]


def test_a_callback_that_raises_stops_cleanly_and_nothing_is_lost(tmp_path: Path) -> None:
    def on_event(event: Any) -> None:
        if isinstance(event, Settled) and event.item == 3:
            raise ValueError("mine")

    prompts, path = [str(n) for n in range(40)], tmp_path / "j.db"
    first, second = Scripted(free=True), Scripted(free=True)
    with pytest.raises(batchwork.CallbackError, match="on_event raised ValueError: mine"):
        run_all(prompts, backend=first, journal=path, max_in_flight=1, on_event=on_event)
    run_all(prompts, backend=second, journal=path)
    assert 4 <= len(first.asked) < 40
    assert first.asked + second.asked == prompts


@pytest.mark.parametrize("mode", ["live", "batch"])
def test_every_event_of_the_journal_is_told_and_an_outcome_once_it_is_on_disk(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    heard: list[Any] = []

    def on_disk() -> list[Any]:
        with closing(JournalReader(path)) as reader:
            return list(reader.events())

    def on_event(event: Any) -> None:
        heard.append(event)
        if isinstance(event, Settled):
            assert event in on_disk()

    for prompts, retry_failed in ((["a", "bad"], False), (["bad", "a", "b"], True)):
        backend = BatchProvider().client() if mode == "batch" else down("bad")
        options: dict[str, Any] = {"mode": mode, "journal": path, "retries": 0, "retry_failed": retry_failed}
        run_all(prompts, backend=backend, price=PRICE, on_event=on_event, **options)
    assert sorted(map(repr, heard)) == sorted(map(repr, on_disk()))
    assert {"Began", "Opened", "Settled", "Ended"} <= {type(event).__name__ for event in heard}


@pytest.mark.parametrize("kind", [Began, Opened, Ended])
def test_a_callback_that_raises_at_the_start_or_the_end_is_told_too(kind: type, tmp_path: Path) -> None:
    def on_event(event: Any) -> None:
        if isinstance(event, kind):
            raise ValueError("mine")

    with pytest.raises(batchwork.CallbackError, match="mine"):
        run_all(["a"], backend=Scripted(free=True), journal=tmp_path / "j.db", on_event=on_event)
    assert texts_of(run_all(["a"], backend=Scripted(free=True), journal=tmp_path / "j.db")) == ["a"]


def test_a_defect_in_a_checker_is_not_passed_over_in_silence() -> None:
    class Broken:
        def check(self, request: Request, said: Reply) -> Any:
            raise RuntimeError("a defect")

    options: Any = {"model": "mock:echo"}
    supplied = replace(supplied_of(options), checker=Broken())
    job = RunSession(plan_of(options), intakes(["a", "b"], defaults_of(options)), supplied)
    with pytest.raises(RuntimeError, match="a defect"):
        run_virtual(job.execute())


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path: Path) -> None:
    from batchwork.clock import SystemClock
    from batchwork.journal import SqliteJournal
    from tests.support.journals import Pass, run_pass

    class Backwards(SystemClock):
        at = 2_000_000_000.0

        def utc(self) -> float:
            self.at -= 86_400
            return self.at

    journal = SqliteJournal(tmp_path / "j.db", utc=Backwards().utc)
    run_pass(journal, Pass([(letter, None) for letter in "abc"], ["succeeded"] * 3))
    journal.close()
    reader = JournalReader(tmp_path / "j.db")
    assert [entry.index for entry in reader.entries()] == [0, 1, 2]
    reader.close()
    assert statuses_of(batchwork.run(list("abc"), model="mock:echo", journal=tmp_path / "j.db")) == ["succeeded"] * 3


def test_a_longer_prompt_may_take_longer() -> None:
    slow = Scripted(latency=5.0)
    short, long = run_all(["a", "a" * 10_000], backend=slow, timeout=1.0, timeout_per_1k_chars=1.0, retries=0)
    assert (short.status, long.status) == (Status.FAILED, Status.SUCCEEDED)


@pytest.mark.parametrize("mode", ["live", "batch"])
def test_a_whole_answer_that_was_cut_off_is_a_success_and_half_a_one_is_not(mode: str) -> None:
    def answer(prompt: str, _: int) -> Reply:
        return Reply(text=prompt, truncated=True, usage=Usage(input_tokens=5, output_tokens=5))

    backend = Scripted(answer) if mode == "live" else BatchProvider(answer).client()
    prompts = ['{"a": 1}', '{"a": 1', "1"]
    results = run_all(prompts, backend=backend, mode=mode, price=PRICE, schema={"type": ["object", "integer"]})
    assert [outcome.value for outcome in results] == [{"a": 1}, None, None]
    assert [outcome.error is not None and outcome.error.startswith("truncated") for outcome in results] == [
        False,
        True,
        True,
    ]
    assert results[0].truncated
