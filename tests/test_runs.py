"""run, arun, stream, astream as a user meets them."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import Message, Request, RunPaused, Status
from batchwork.core.errors import AccountingError
from batchwork.core.event import Began, Ended, Opened, Settled
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake
from batchwork.core.ports import Traits
from batchwork.core.prompt import intakes
from batchwork.core.reply import Reply, Usage
from batchwork.core.runstate import ItemState
from batchwork.journal import JournalReader, MemoryJournal
from batchwork.options import defaults_of, plan_of, supplied_of
from batchwork.runs import RunSession
from tests.support.batch_provider import BatchProvider
from tests.support.scripted import Scripted, failure, prompt_of, reply
from tests.support.virtual_time import run_virtual, virtual_now

_PRICE = (1.0, 1.0)  # a micro-dollar per token, in and out


def _texts(results: Any) -> list[str | None]:
    return [outcome.text for outcome in results]


def _statuses(results: Any) -> list[str]:
    return [outcome.status.value for outcome in results]


def _arun(prompts: Any, **options: Any) -> batchwork.Results:
    return run_virtual(batchwork.arun(prompts, **{"model": "mock:echo", **options}))


def _down(*bad: str) -> Scripted:
    """Fails for these prompts, answers the others."""
    return Scripted(lambda prompt, call: failure(FailureKind.SERVER) if prompt in bad else prompt)


# -- what goes in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompts",
    [
        ["a", "b"],
        ("a", "b"),
        iter(["a", "b"]),
        (letter for letter in "ab"),
        {"a": 1, "b": 2}.keys(),
        [[{"role": "user", "content": "a"}], [Message("user", "b")]],
        [{"prompt": "a"}, {"messages": [{"role": "user", "content": "b"}]}],
        [Request.ask("a"), Request.ask("b")],
        ["a", {"prompt": "b"}],
    ],
)
def test_any_iterable_of_prompts_will_do(prompts: Any) -> None:
    assert _texts(batchwork.run(prompts, model="mock:echo")) == ["a", "b"]


@pytest.mark.parametrize("prompts", ["one string", b"bytes", {"prompt": "a"}, 5, None])
def test_one_prompt_is_not_many(prompts: Any) -> None:
    with pytest.raises(batchwork.ConfigError, match="wrap it in a list"):
        batchwork.run(prompts, model="mock:echo")


def test_no_prompts_are_no_results() -> None:
    results = batchwork.run([], model="mock:echo")
    assert (len(results), list(results), results.stopped) == (0, [], None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_inflight": 5}, "did you mean 'max_in_flight'"),
        ({"seed": 5}, r"goes into sampling=\{'seed': ...\}"),
        ({"max_in_flight": 0}, "max_in_flight"),
        ({"max_cost": -1}, "amount"),
        ({"max_cost": "much"}, "amount"),
        ({"retries": -1}, "retries"),
        ({"retries": 1.5}, "retries"),
        ({"timeout": 0}, "timeout"),
        ({"max_wait": "soon"}, "max_wait"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"rpm": 0}, "rpm"),
        ({"price": "1"}, "price"),
        ({"price": (1, 2, 3)}, "price"),
        ({"price": 5}, "price"),
        ({"price": (1, "x")}, "price"),
        ({"journal": 5}, "journal"),
        ({"base_url": 3}, "base_url must be an address, got 3"),
        ({"api_key": 5}, "api_key must be a text"),
        ({"fresh": "yes"}, "fresh must be True or False, got 'yes'"),
        ({"retry_failed": 1}, "retry_failed"),
        ({"cancel_on_interrupt": None}, "cancel_on_interrupt"),
        ({"progress": "bar"}, "progress"),
        ({"adopt_wait": "long"}, "adopt_wait"),
        ({"poll_interval": "5"}, "poll_interval"),
        ({"items_per_batch": 1.5}, "items per batch"),
        ({"journal": "no/such/folder/j.db"}, "no folder"),
        ({"system": 5}, "system"),
        ({"sampling": "hot"}, "sampling"),
        ({"on_event": "print"}, "on_event"),
        ({"backend": "mock"}, "backend"),
        ({"model": "mock:nobody"}, "mock:echo"),
        ({"model": "mok:echo"}, "mock:echo"),
        ({"model": None}, "model"),
    ],
)
def test_an_option_that_cannot_be_meant_is_named_before_anything_is_read(options: dict[str, Any], said: str) -> None:
    def prompts() -> Iterator[str]:
        raise AssertionError("the input was read")
        yield ""

    with pytest.raises(batchwork.ConfigError, match=said):
        batchwork.run(prompts(), **{"model": "mock:echo", **options})


def test_a_bad_row_fails_alone() -> None:
    results = batchwork.run(["a", 5, "lone \ud800", "b"], model="mock:echo")
    assert _statuses(results) == ["succeeded", "failed", "failed", "succeeded"]
    assert results[2].error is not None
    assert "bad_input: the text holds a lone surrogate" in results[2].error


def test_a_prompt_of_ten_megabytes_comes_back_whole(tmp_path: Path) -> None:
    prompt = "0123456789" * 1_000_000
    (only,) = batchwork.run([prompt], model="mock:echo", journal=tmp_path / "j.db")
    assert only.text == prompt


def test_the_input_is_read_no_further_than_the_window_and_what_is_held() -> None:
    read: list[int] = []
    furthest: list[int] = []

    def prompts() -> Iterator[str]:
        for n in range(500):
            read.append(n)
            yield str(n)

    def answer(prompt: str, call: int) -> str:
        furthest.append(len(read) - int(prompt))
        return prompt

    _arun(prompts(), backend=Scripted(answer, latency=1.0, free=True), max_in_flight=10)
    assert max(furthest) <= 10 * 5 + 1
    assert len(read) == 500


def test_an_input_that_blocks_holds_up_no_call_in_flight() -> None:
    answered = threading.Event()

    def prompts() -> Iterator[str]:
        yield "a"
        assert answered.wait(20), "the answer was held up"
        yield "b"

    def on_event(event: Any) -> None:
        if isinstance(event, Settled):
            answered.set()

    assert _texts(batchwork.run(prompts(), model="mock:echo", on_event=on_event)) == ["a", "b"]


def test_an_input_that_blocks_holds_up_no_batch() -> None:
    answered = threading.Event()

    def prompts() -> Iterator[str]:
        yield "a"
        assert answered.wait(20), "the batch was held up"
        yield "b"

    results = _arun(
        prompts(),
        backend=BatchProvider().client(),
        mode="batch",
        items_per_batch=1,
        on_event=lambda event: answered.set() if isinstance(event, Settled) else None,
    )
    assert _texts(results) == ["a", "b"]


def test_an_input_that_blocks_does_not_keep_a_run_from_ending() -> None:
    go_on = threading.Event()

    def prompts() -> Iterator[str]:
        yield "a"
        go_on.wait(20)

    backend = Scripted(lambda *_: failure(FailureKind.AUTH), free=True)
    with pytest.raises(RunPaused):
        _arun(prompts(), backend=backend)
    go_on.set()


def test_a_list_is_read_where_the_run_is_and_a_lazy_input_that_cannot_leave_its_thread_says_why() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        rows = database.execute("SELECT 'a'")
        with pytest.raises(batchwork.InputError, match=r"same thread.*a list is not"):
            batchwork.run((row[0] for row in rows), model="mock:echo")
        assert _texts(batchwork.run([row[0] for row in rows], model="mock:echo")) == ["a"]


# -- what comes out -----------------------------------------------------------------------------------------


def test_outcomes_stand_in_input_order_whatever_order_they_ended_in() -> None:
    backend = Scripted(latency=lambda prompt: 100.0 - int(prompt), free=True)
    assert _texts(_arun(map(str, range(50)), backend=backend)) == [str(n) for n in range(50)]


def test_results_are_a_sequence(tmp_path: Path) -> None:
    for journal in (None, tmp_path / "j.db"):
        results = batchwork.run(list("abcdefghij"), model="mock:echo", journal=journal)
        whole = list("abcdefghij")
        assert len(results) == 10
        assert results[0].text == "a"
        assert results[-1].text == "j"
        for cut in (slice(2, 5), slice(None, None, -1), slice(-3, None), slice(8, 2, -2), slice(5, 5), slice(3, 99)):
            assert _texts(results[cut]) == whole[cut]
        for beyond in (10, -11):
            with pytest.raises(IndexError, match="10 results"):
                results[beyond]


def test_results_need_no_name_to_be_iterated(tmp_path: Path) -> None:
    assert [r.text for r in batchwork.run(["a", "b"], model="mock:echo", journal=tmp_path / "j.db")] == ["a", "b"]


def test_an_outcome_tells_what_it_cost_and_how_it_came() -> None:
    (only,) = _arun(["hello"], backend=Scripted(lambda *_: reply("hi"), latency=2.0), price=_PRICE)
    assert (only.status, only.text, only.attempts, only.error) == (Status.SUCCEEDED, "hi", 1, None)
    assert (only.cost, only.latency_s) == (Decimal("0.000015"), 2.0)
    assert only.usage == Usage(input_tokens=10, output_tokens=5)


def test_a_truncated_plain_answer_succeeds_and_says_so() -> None:
    said = Reply(text="half an", usage=Usage(input_tokens=1, output_tokens=1), truncated=True)
    (only,) = _arun(["x"], backend=Scripted(lambda *_: said, free=True))
    assert (only.status, only.truncated) == (Status.SUCCEEDED, True)


def test_the_accounting_has_every_input_once() -> None:
    results = _arun(["a", "bad", 5, "a"], backend=_down("bad"), price=_PRICE, retries=0)
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
    _arun(list("abcdef"), backend=Scripted(free=True), **options)
    backend = Scripted(lambda *_: failure(FailureKind.AUTH), free=True)
    with pytest.raises(RunPaused) as caught:
        _arun(list("axyz"), backend=backend, **options)
    assert caught.value.results.accounting.inputs == len(caught.value.results)


def test_equal_prompts_are_asked_once_each() -> None:
    backend = Scripted(lambda prompt, call: f"answer {call}", free=True)
    results = _arun(["a", "a", "a"], backend=backend, max_in_flight=1)
    assert _texts(results) == ["answer 1", "answer 2", "answer 3"]


# -- the doors ----------------------------------------------------------------------------------------------


def test_run_works_inside_a_running_loop() -> None:
    async def notebook() -> list[str | None]:
        return _texts(batchwork.run(["a", "b"], model="mock:echo"))

    assert run_virtual(notebook()) == ["a", "b"]


def test_run_works_in_a_thread() -> None:
    said: list[Any] = []
    thread = threading.Thread(target=lambda: said.extend(_texts(batchwork.run(["a"], model="mock:echo"))))
    thread.start()
    thread.join()
    assert said == ["a"]


def test_stream_yields_as_they_settle() -> None:
    outcomes = list(batchwork.stream(["0.03", "0.0"], model="mock:echo", backend=Scripted(latency=float, free=True)))
    assert [(outcome.index, outcome.text) for outcome in outcomes] == [(1, "0.0"), (0, "0.03")]


def test_astream_yields_as_they_settle() -> None:
    async def main() -> list[tuple[int, float]]:
        backend = Scripted(latency=float, free=True)
        return [
            (outcome.index, virtual_now())
            async for outcome in batchwork.astream(["3", "1", "2"], model="mock:echo", backend=backend)
        ]

    assert run_virtual(main()) == [(1, 1.0), (2, 2.0), (0, 3.0)]


def test_a_slow_consumer_holds_the_run_back() -> None:
    async def main() -> int:
        backend, most = Scripted(free=True), 0
        prompts = map(str, range(5000))
        taken = 0
        async for _ in batchwork.astream(prompts, model="mock:echo", backend=backend, max_in_flight=10):
            taken += 1
            if taken % 500 == 1:
                await asyncio.sleep(100)
                most = max(most, len(backend.asked) - taken)
        assert taken == 5000
        return most

    assert run_virtual(main()) <= 1100


def test_an_abandoned_astream_ends_cleanly() -> None:
    async def main() -> tuple[int, int]:
        backend = Scripted(latency=1.0, free=True)
        stream = batchwork.astream(map(str, range(1000)), model="mock:echo", backend=backend, max_in_flight=5)
        async for _ in stream:
            break
        await stream.aclose()  # type: ignore[attr-defined]
        return len(backend.asked), backend.in_flight

    asked, in_flight = run_virtual(main())
    assert asked <= 10
    assert in_flight == 0


def test_an_abandoned_stream_ends_cleanly_and_keeps_what_it_had(tmp_path: Path) -> None:
    stream = batchwork.stream(map(str, range(1000)), model="mock:echo", journal=tmp_path / "j.db", max_in_flight=5)
    first = next(stream)
    stream.close()  # type: ignore[attr-defined]
    asked: list[int] = []
    batchwork.run(
        map(str, range(1000)),
        model="mock:echo",
        journal=tmp_path / "j.db",
        on_event=lambda event: asked.append(event.outcome.index) if isinstance(event, Settled) else None,
    )
    assert first.index not in asked
    assert 0 < len(asked) < 1000


def test_a_cancelled_arun_lets_calls_in_flight_finish_and_keeps_them(tmp_path: Path) -> None:
    backend = Scripted(latency=10.0, free=True)

    async def main() -> None:
        async with asyncio.timeout(15):
            await batchwork.arun(
                map(str, range(100)), model="mock:echo", backend=backend, journal=tmp_path / "j.db", max_in_flight=5
            )

    with pytest.raises(TimeoutError):
        run_virtual(main())
    assert len(backend.asked) == 10
    again = Scripted(free=True)
    _arun(map(str, range(100)), backend=again, journal=tmp_path / "j.db")
    assert len(again.asked) == 90


# -- what goes wrong ----------------------------------------------------------------------------------------


def test_a_passing_failure_is_tried_again_and_counted() -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.SERVER) if call < 3 else prompt, free=True)
    (only,) = _arun(["a"], backend=backend)
    assert (only.status, only.attempts) == (Status.SUCCEEDED, 3)


def test_tokens_of_failed_attempts_are_paid_and_counted() -> None:
    billed = batchwork.Failure(
        kind=FailureKind.SERVER, message="half way", usage=Usage(input_tokens=100, output_tokens=0)
    )
    backend = Scripted(lambda prompt, call: billed if call == 1 else reply())
    (only,) = _arun(["a"], backend=backend, price=_PRICE)
    assert only.cost == Decimal("0.000115")
    assert only.usage == Usage(input_tokens=110, output_tokens=5)


def test_a_refusal_that_was_billed_counts_in_its_items_cost() -> None:
    declined = batchwork.Failure(kind=FailureKind.REFUSED, message="no", reply=reply("I cannot"), usage=reply().usage)
    results = _arun(["a"], backend=Scripted(lambda *_: declined), price=_PRICE)
    assert (results[0].cost, results[0].text, results[0].attempts) == (Decimal("0.000015"), "I cannot", 1)


def test_a_backend_that_raises_something_else_fails_that_item_alone(caplog: pytest.LogCaptureFixture) -> None:
    def answer(prompt: str, call: int) -> str:
        if prompt == "bad":
            raise KeyError("oops")
        return prompt

    results = _arun(["a", "bad", "b"], backend=Scripted(answer, free=True))
    assert _statuses(results) == ["succeeded", "failed", "succeeded"]
    assert "KeyError in the backend" in str(results[1].error)


def test_a_call_without_an_answer_ends_at_its_timeout() -> None:
    (only,) = _arun(["a"], backend=Scripted(latency=1e9, free=True), timeout=5, retries=0)
    assert only.error == "timeout: no answer within 5 s"


def test_an_item_that_waits_in_line_for_hours_is_still_tried_again() -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.SERVER) if call == 1 else prompt, free=True)
    results = _arun(map(str, range(40)), backend=backend, rpm=0.5)
    assert _statuses(results) == ["succeeded"] * 40


def test_an_input_that_raises_half_way_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    def prompts() -> Iterator[str]:
        yield from ("a", "b")
        raise OSError("the disk is gone")

    with pytest.raises(batchwork.InputError, match="OSError after row 2: the disk is gone"):
        batchwork.run(prompts(), model="mock:echo", journal=tmp_path / "j.db", max_in_flight=1)
    backend = Scripted(free=True)
    assert _texts(_arun(["a", "b", "c"], backend=backend, journal=tmp_path / "j.db")) == ["a", "b", "c"]
    assert backend.asked == ["c"]


def test_a_callback_that_raises_stops_cleanly_and_nothing_is_lost(tmp_path: Path) -> None:
    def on_event(event: Any) -> None:
        if isinstance(event, Settled) and event.item == 3:
            raise ValueError("mine")

    prompts, path = [str(n) for n in range(40)], tmp_path / "j.db"
    first, second = Scripted(free=True), Scripted(free=True)
    with pytest.raises(batchwork.CallbackError, match="on_event raised ValueError: mine"):
        _arun(prompts, backend=first, journal=path, max_in_flight=1, on_event=on_event)
    _arun(prompts, backend=second, journal=path)
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
        backend = BatchProvider().client() if mode == "batch" else _down("bad")
        options: dict[str, Any] = {"mode": mode, "journal": path, "retries": 0, "retry_failed": retry_failed}
        _arun(prompts, backend=backend, price=_PRICE, on_event=on_event, **options)
    assert sorted(map(repr, heard)) == sorted(map(repr, on_disk()))
    assert {"Began", "Opened", "Settled", "Ended"} <= {type(event).__name__ for event in heard}


@pytest.mark.parametrize("kind", [Began, Opened, Ended])
def test_a_callback_that_raises_at_the_start_or_the_end_is_told_too(kind: type, tmp_path: Path) -> None:
    def on_event(event: Any) -> None:
        if isinstance(event, kind):
            raise ValueError("mine")

    with pytest.raises(batchwork.CallbackError, match="mine"):
        _arun(["a"], backend=Scripted(free=True), journal=tmp_path / "j.db", on_event=on_event)
    assert _texts(_arun(["a"], backend=Scripted(free=True), journal=tmp_path / "j.db")) == ["a"]


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
    assert _statuses(batchwork.run(list("abc"), model="mock:echo", journal=tmp_path / "j.db")) == ["succeeded"] * 3


# -- running again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("again", "asked"),
    [
        ("abcd", ""),
        ("abcdef", "ef"),
        ("xabcd", "x"),
        ("ab", ""),
        ("abXd", "X"),
        ("dcba", ""),
        ("aabcd", "a"),
        ("", ""),
    ],
)
def test_running_again_converges(again: str, asked: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": "mock:echo", "journal": tmp_path / "j.db"}
    batchwork.run(list("abcd"), **options)
    backend = Scripted(free=True)
    results = _arun(list(again), **options | {"backend": backend})
    assert _texts(results) == list(again)
    assert "".join(backend.asked) == asked
    assert results.accounting.inputs == len(again)


def test_nothing_is_deleted_by_a_shorter_input(tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": "mock:echo", "journal": tmp_path / "j.db"}
    for prompts in ("abcd", "a"):
        batchwork.run(list(prompts), **options)
    backend = Scripted(free=True)
    _arun(list("abcd"), **options | {"backend": backend})
    assert backend.asked == []


def test_another_model_or_parameter_is_another_question(tmp_path: Path) -> None:
    for system in (None, "be brief"):
        backend = Scripted(free=True)
        _arun(["a"], backend=backend, journal=tmp_path / "j.db", system=system)
        assert backend.asked == ["a"]


def test_a_failed_item_is_not_sent_again_by_itself(tmp_path: Path) -> None:
    _arun(["a"], backend=_down("a"), price=_PRICE, retries=0, journal=tmp_path / "j.db")
    backend = Scripted(free=True)
    assert _statuses(_arun(["a"], backend=backend, journal=tmp_path / "j.db")) == ["failed"]
    assert backend.asked == []


def test_what_failed_is_sent_again_when_asked_for_and_nothing_else_is(tmp_path: Path) -> None:
    prompts = ["a", "bad", 5, "b"]
    _arun(prompts, backend=_down("bad"), price=_PRICE, retries=0, journal=tmp_path / "j.db")
    backend = Scripted(lambda *_: reply())
    results = _arun(prompts, backend=backend, price=_PRICE, journal=tmp_path / "j.db", retry_failed=True)
    assert backend.asked == ["bad"]
    assert _statuses(results) == ["succeeded", "succeeded", "failed", "succeeded"]
    assert results[1].attempts == 2


def test_what_failed_is_streamed_when_it_is_sent_again(tmp_path: Path) -> None:
    _arun(["a", "bad"], backend=_down("bad"), price=_PRICE, retries=0, journal=tmp_path / "j.db")
    again = batchwork.stream(["a", "bad"], model="mock:echo", journal=tmp_path / "j.db", retry_failed=True)
    assert [(outcome.index, outcome.text) for outcome in again] == [(1, "bad")]


def test_fresh_sets_the_old_journal_aside_and_starts_anew(tmp_path: Path) -> None:
    for _ in range(2):
        backend = Scripted(free=True)
        _arun(["a"], backend=backend, journal=tmp_path / "j.db", fresh=True)
        assert backend.asked == ["a"]
    assert (tmp_path / "j.db.old-1").exists()


def test_a_million_rows_that_moved_do_not_pile_up_in_memory(tmp_path: Path) -> None:
    path, behind = tmp_path / "j.db", []
    batchwork.run(map(str, range(3000)), model="mock:echo", journal=path)

    def shifted() -> Iterator[str]:
        yield "new"
        for n in range(3000):
            if n == 2900:
                reader = JournalReader(path)
                behind.append(sum(1 for _ in reader.events()))
                reader.close()
            yield str(n)

    batchwork.run(shifted(), model="mock:echo", journal=path)
    assert behind[0] > 6000 + 2000


# -- money --------------------------------------------------------------------------------------------------


def _dear(**more: Any) -> dict[str, Any]:
    """Calls that cost 15 micro-dollars and may cost about 100."""
    return {"price": _PRICE, "max_tokens": 10, "max_in_flight": 4, **more}


def test_a_budget_is_a_ceiling_and_what_does_not_fit_is_deferred(tmp_path: Path) -> None:
    backend = Scripted(lambda *_: reply(), latency=1.0)
    results = _arun(map(str, range(100)), backend=backend, max_cost="0.0005", **_dear(journal=tmp_path / "j.db"))
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
        results = _arun(map(str, range(100)), backend=backend, max_cost=max_cost, **_dear(journal=path))
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
    options: dict[str, Any] = {"max_cost": 0, "price": _PRICE, "journal": path, "mode": mode}
    for _ in range(3):
        streamed: list[int] = []
        results = _arun(
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
        _statuses(_arun(map(str, range(50)), backend=backend, **options | {"max_cost": 1, "mode": "live"}))
        == ["succeeded"] * 50
    )


def test_a_retry_without_new_money_does_not_grow_the_journal(tmp_path: Path) -> None:
    path, counts = tmp_path / "j.db", []
    options: Any = {"model": "mock:echo", "backend": Scripted(), "max_cost": 0, "price": _PRICE, "journal": path}
    _arun(["a", "b"], **options)
    for _ in range(2):
        run_virtual(RunSession(plan_of(options), None, supplied_of(options)).execute()).close()
        with closing(JournalReader(path)) as reader:
            counts.append(sum(1 for _ in reader.events()))
    assert counts[1] == counts[0] + 2


def test_no_money_at_all_defers_everything_and_sends_nothing() -> None:
    backend = Scripted()
    results = _arun(["a", "b"], backend=backend, max_cost=0, price=_PRICE)
    assert (_statuses(results), backend.asked) == (["deferred"] * 2, [])


def test_many_deferred_items_are_soon_done(tmp_path: Path) -> None:
    backend = Scripted()
    results = _arun(map(str, range(3000)), backend=backend, max_cost=0, price=_PRICE, journal=tmp_path / "j.db")
    assert results.accounting.deferred == 3000


def test_a_cut_off_call_is_booked_at_its_worst_case() -> None:
    cut = failure(FailureKind.CONNECTION, unconfirmed=True)
    backend = Scripted(lambda prompt, call: cut if call == 1 else reply())
    results = _arun(["a"], backend=backend, **_dear())
    assert results.unconfirmed_cost > Decimal("0.00005")
    assert results.total_cost == results.unconfirmed_cost + Decimal("0.000015")
    assert results[0].cost == results.total_cost


def test_an_unknown_price_with_a_budget_is_an_error_that_says_how_to_state_one() -> None:
    with pytest.raises(batchwork.PriceUnknownError, match="--price IN,OUT"):
        _arun(["a"], backend=Scripted(), model="nobody:knows", max_cost=1)


def test_an_unknown_price_without_a_budget_is_unknown_and_not_zero() -> None:
    results = _arun(["a"], backend=Scripted(), model="nobody:knows")
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
    results = _arun(prompts, backend=backend, max_cost="0.000031", price=_PRICE, max_tokens=5, max_in_flight=1)
    assert _statuses(results) == ["succeeded", "succeeded"]
    assert backend.counted == 2


def test_no_token_count_is_asked_for_when_it_cannot_help() -> None:
    class Counting(Scripted):
        async def count_tokens(self, request: Request) -> int:
            raise AssertionError("asked")

    results = _arun(["x" * 5000], backend=Counting(), max_cost="0.000001", price=_PRICE)
    assert _statuses(results) == ["deferred"]


# -- the breaker --------------------------------------------------------------------------------------------


def test_a_wrong_key_pauses_at_once_and_leaves_the_items_pending() -> None:
    backend = Scripted(lambda *_: failure(FailureKind.AUTH), latency=1.0, free=True)
    with pytest.raises(RunPaused, match="credentials") as caught:
        _arun(map(str, range(100)), backend=backend, max_in_flight=3)
    assert len(backend.asked) <= 6
    assert set(_statuses(caught.value.results)) == {"pending"}
    assert "run the same command again" in caught.value.remedy


def test_many_failures_in_a_row_pause_and_keep_what_is_finished(tmp_path: Path) -> None:
    backend = Scripted(lambda prompt, _: prompt if int(prompt) < 3 else failure(FailureKind.SERVER), free=True)
    options: dict[str, Any] = {"retries": 0, "max_in_flight": 1, "journal": tmp_path / "j.db"}
    with pytest.raises(RunPaused, match="4 items in a row") as caught:
        _arun(map(str, range(50)), backend=backend, max_consecutive_failures=4, **options)
    results = caught.value.results
    assert _statuses(results)[:7] == ["succeeded"] * 3 + ["failed"] * 4
    assert results.stopped == "paused"
    healthy = Scripted(free=True)
    again = _arun(map(str, range(50)), backend=healthy, **options)
    assert again.accounting.failed == len(set(backend.asked)) - 3 < 10
    assert len(healthy.asked) == again.accounting.succeeded - 3


def test_a_quota_that_ends_soon_is_waited_out_and_the_items_sent_again() -> None:
    def answer(prompt: str, call: int) -> Any:
        return failure(FailureKind.QUOTA, after=600) if virtual_now() < 600 else prompt

    async def main() -> tuple[list[str], float]:
        results = await batchwork.arun(["a", "b"], model="mock:echo", backend=Scripted(answer, free=True))
        return _statuses(results), virtual_now()

    statuses, now = run_virtual(main())
    assert statuses == ["succeeded", "succeeded"]
    assert 600 <= now < 610


def test_a_quota_that_ends_later_pauses() -> None:
    backend = Scripted(lambda *_: failure(FailureKind.QUOTA, after=3600), free=True)
    with pytest.raises(RunPaused, match="longer than max_wait"):
        _arun(["a"], backend=backend)


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
        _arun(["a", "b"], backend=backend, max_in_flight=1)
    assert _statuses(caught.value.results) == ["succeeded", "pending"]


def test_results_with_gaps_are_still_a_sequence(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    _arun(["a", "b", "c", "d"], backend=Scripted(free=True), journal=path)
    backend = Scripted(lambda *_: failure(FailureKind.AUTH), free=True)
    with pytest.raises(RunPaused) as caught:
        _arun(["c", "new", "more"], backend=backend, journal=path, max_in_flight=1)
    results = caught.value.results
    listed = [outcome.index for outcome in results]
    assert listed == [0, 1, 3]
    assert [results[n].index for n in range(len(results))] == listed
    assert [outcome.index for outcome in results[::-1]] == listed[::-1]


# -- everything together ------------------------------------------------------------------------------------


def test_traits_and_prompts_of_the_scripted_backend_are_what_the_tests_think() -> None:
    assert Scripted(free=True).traits == Traits(name="scripted", free=True)
    assert prompt_of(Request.ask("x")) == "x"


def test_progress_says_what_answers(capsys: pytest.CaptureFixture[str]) -> None:
    batchwork.run(["a"], model="mock:echo", progress=True)
    assert "no language model is called" in capsys.readouterr().err


def test_a_pause_tells_a_program_its_cause_and_when_to_come_again() -> None:
    used_up = failure(FailureKind.QUOTA, after=7200.0)
    with pytest.raises(RunPaused) as paused:
        batchwork.run(["a"], model="x", backend=Scripted(lambda prompt, call: used_up))
    assert (paused.value.cause, paused.value.retry_after_s) == ("quota", 7200.0)


def test_a_journal_can_be_read_without_a_run(tmp_path: Path) -> None:
    batchwork.run(["a", "b"], model="mock:echo", journal=tmp_path / "j.db").close()
    results = batchwork.open_results(tmp_path / "j.db")
    assert [outcome.text for outcome in results] == ["a", "b"]
    assert results.accounting.succeeded == 2


def test_there_are_no_results_without_a_journal(tmp_path: Path) -> None:
    with pytest.raises(batchwork.JournalError, match=r"nothing\.db"):
        batchwork.open_results(tmp_path / "nothing.db")
    assert not list(tmp_path.iterdir())


def test_one_request_may_have_a_schema_of_its_own() -> None:
    schema = {"type": "object", "properties": {"river": {"type": "string"}}, "required": ["river"]}
    asked = Request.ask("river: Rhine\n\nWhat is the river?", schema=schema)
    typed, plain = batchwork.run([asked, "river: Rhine\n\nWhat is the river?"], model="mock:reader")
    assert typed.value == {"river": "Rhine"}
    assert plain.value is None


@pytest.mark.parametrize("window", [1, 2, 4, 8])
def test_with_retries_in_place_a_provider_that_is_down_sees_one_window_of_items_and_three_more(window: int) -> None:
    down = Scripted(lambda prompt, call: failure(FailureKind.SERVER), latency=0.1)
    options: dict[str, Any] = {"backend": down, "max_in_flight": window, "max_consecutive_failures": 3, "retries": 2}
    with pytest.raises(RunPaused):
        _arun([f"p{i}" for i in range(100)], retry_in_place=True, **options)
    assert len(set(down.asked)) <= window + 3


@pytest.mark.parametrize("retry_in_place", [False, True])
def test_a_place_is_filled_again_the_moment_it_is_free(retry_in_place: bool) -> None:
    # One call of nine seconds beside nine of one second each: no place is ever empty.
    uneven = Scripted(latency=lambda prompt: 9.0 if prompt == "p0" else 1.0)
    _arun([f"p{i}" for i in range(10)], backend=uneven, max_in_flight=2, retry_in_place=retry_in_place)
    assert uneven.starts == pytest.approx([0, *range(9)], abs=0.01)


def test_a_longer_prompt_may_take_longer() -> None:
    slow = Scripted(latency=5.0)
    short, long = _arun(["a", "a" * 10_000], backend=slow, timeout=1.0, timeout_per_1k_chars=1.0, retries=0)
    assert (short.status, long.status) == (Status.FAILED, Status.SUCCEEDED)


def test_only_the_failures_of_the_kinds_named_are_sent_again(tmp_path: Path) -> None:
    kinds = {"refused": FailureKind.REFUSED, "rejected": FailureKind.REJECTED}
    backend = Scripted(lambda prompt, call: failure(kinds[prompt]))
    for retry_failed in (False, {FailureKind.REJECTED}, ["rejected"]):
        _arun(list(kinds), backend=backend, journal=tmp_path / "j.db", retry_failed=retry_failed).close()
    assert backend.asked == ["refused", "rejected", "rejected", "rejected"]
