"""What goes into a run: any iterable, bad rows, inputs that block."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import Message, Request, RunPaused
from batchwork.core.event import Settled
from batchwork.core.failure import FailureKind
from tests.support.batch_provider import BatchProvider
from tests.support.runs import run_all, statuses_of, texts_of
from tests.support.scripted import Scripted, failure


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
    assert texts_of(batchwork.run(prompts, model="mock:echo")) == ["a", "b"]


@pytest.mark.parametrize("prompts", ["one string", b"bytes", {"prompt": "a"}, 5, None])
def test_one_prompt_is_not_many(prompts: Any) -> None:
    with pytest.raises(batchwork.ConfigError, match="wrap it in a list"):
        batchwork.run(prompts, model="mock:echo")


@pytest.mark.parametrize("prompts", [[], (), iter([])])
def test_no_prompts_are_no_results_and_a_word_about_it(prompts: Any, caplog: pytest.LogCaptureFixture) -> None:
    results = batchwork.run(prompts, model="mock:echo")
    assert (len(results), list(results), results.stopped) == (0, [], None)
    assert caplog.messages == ["the input is empty: nothing was asked"]


def test_a_data_frame_is_refused_before_its_column_names_are_asked() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"prompt": ["a", "b"]})
    with pytest.raises(batchwork.ConfigError, match=r"prompts is a table \(DataFrame\).*df\['prompt'\]\.tolist\(\)"):
        batchwork.run(frame, model="mock:echo")
    assert texts_of(batchwork.run(frame["prompt"].tolist(), model="mock:echo")) == ["a", "b"]


@pytest.mark.parametrize("kind", ["Series", "array"])
def test_one_column_of_a_data_frame_is_an_iterable_like_any_other(kind: str) -> None:
    make = getattr(pytest.importorskip("pandas" if kind == "Series" else "numpy"), kind)
    assert texts_of(batchwork.run(make(["a", "b"]), model="mock:echo")) == ["a", "b"]


def test_an_empty_prompt_fails_alone_and_is_not_sent() -> None:
    backend = Scripted()
    results = batchwork.run(["a", "", " \n\t", "b"], model="scripted", backend=backend)
    assert statuses_of(results) == ["succeeded", "failed", "failed", "succeeded"]
    assert results[1].error == "bad_input: the prompt is empty: there is nothing to ask"
    assert backend.asked == ["a", "b"]


def test_a_bad_row_fails_alone() -> None:
    results = batchwork.run(["a", 5, "lone \ud800", "b"], model="mock:echo")
    assert statuses_of(results) == ["succeeded", "failed", "failed", "succeeded"]
    assert results[2].error is not None
    assert "bad_input: the text holds a lone surrogate" in results[2].error


def test_a_prompt_of_ten_megabytes_comes_back_whole(tmp_path: Path) -> None:
    prompt = "0123456789" * 1_000_000
    (only,) = batchwork.run([prompt], model="mock:echo", journal=tmp_path / "j.db", max_tokens=3_000_000)
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

    run_all(prompts(), backend=Scripted(answer, latency=1.0, free=True), max_in_flight=10)
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

    assert texts_of(batchwork.run(prompts(), model="mock:echo", on_event=on_event)) == ["a", "b"]


def test_an_input_that_blocks_holds_up_no_batch() -> None:
    answered = threading.Event()

    def prompts() -> Iterator[str]:
        yield "a"
        assert answered.wait(20), "the batch was held up"
        yield "b"

    results = run_all(
        prompts(),
        backend=BatchProvider().client(),
        mode="batch",
        items_per_batch=1,
        on_event=lambda event: answered.set() if isinstance(event, Settled) else None,
    )
    assert texts_of(results) == ["a", "b"]


def test_an_input_that_blocks_does_not_keep_a_run_from_ending() -> None:
    go_on = threading.Event()

    def prompts() -> Iterator[str]:
        yield "a"
        go_on.wait(20)

    backend = Scripted(lambda *_: failure(FailureKind.AUTH), free=True)
    with pytest.raises(RunPaused):
        run_all(prompts(), backend=backend)
    go_on.set()


def test_a_list_is_read_where_the_run_is_and_a_lazy_input_that_cannot_leave_its_thread_says_why() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        rows = database.execute("SELECT 'a'")
        with pytest.raises(batchwork.InputError, match=r"same thread.*a list is not"):
            batchwork.run((row[0] for row in rows), model="mock:echo")
        assert texts_of(batchwork.run([row[0] for row in rows], model="mock:echo")) == ["a"]
