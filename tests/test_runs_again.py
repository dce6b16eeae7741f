"""Running again on a journal: nothing is sent twice, what failed is sent when asked for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.core.failure import FailureKind
from batchwork.journal import JournalReader
from batchwork.simulator import Simulator
from tests.support.runs import PRICE, down, run_all, statuses_of, texts_of
from tests.support.scripted import Scripted, failure, reply


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
    results = run_all(list(again), **options | {"backend": backend})
    assert texts_of(results) == list(again)
    assert "".join(backend.asked) == asked
    assert results.accounting.inputs == len(again)


def test_nothing_is_deleted_by_a_shorter_input(tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": "mock:echo", "journal": tmp_path / "j.db"}
    for prompts in ("abcd", "a"):
        batchwork.run(list(prompts), **options)
    backend = Scripted(free=True)
    run_all(list("abcd"), **options | {"backend": backend})
    assert backend.asked == []


def test_another_model_or_parameter_is_another_question(tmp_path: Path) -> None:
    for system in (None, "be brief"):
        backend = Scripted(free=True)
        run_all(["a"], backend=backend, journal=tmp_path / "j.db", system=system)
        assert backend.asked == ["a"]


def test_a_failed_item_is_not_sent_again_by_itself(tmp_path: Path) -> None:
    run_all(["a"], backend=down("a"), price=PRICE, retries=0, journal=tmp_path / "j.db")
    backend = Scripted(free=True)
    assert statuses_of(run_all(["a"], backend=backend, journal=tmp_path / "j.db")) == ["failed"]
    assert backend.asked == []


def test_what_failed_is_sent_again_when_asked_for_and_nothing_else_is(tmp_path: Path) -> None:
    prompts = ["a", "bad", 5, "b"]
    run_all(prompts, backend=down("bad"), price=PRICE, retries=0, journal=tmp_path / "j.db")
    backend = Scripted(lambda *_: reply())
    results = run_all(prompts, backend=backend, price=PRICE, journal=tmp_path / "j.db", retry_failed=True)
    assert backend.asked == ["bad"]
    assert statuses_of(results) == ["succeeded", "succeeded", "failed", "succeeded"]
    assert results[1].attempts == 2


def test_what_failed_is_streamed_when_it_is_sent_again(tmp_path: Path) -> None:
    run_all(["a", "bad"], backend=down("bad"), price=PRICE, retries=0, journal=tmp_path / "j.db")
    again = batchwork.stream(["a", "bad"], model="mock:echo", journal=tmp_path / "j.db", retry_failed=True)
    assert [(outcome.index, outcome.text) for outcome in again] == [(1, "bad")]


def test_fresh_sets_the_old_journal_aside_and_starts_anew(tmp_path: Path) -> None:
    for _ in range(2):
        backend = Scripted(free=True)
        run_all(["a"], backend=backend, journal=tmp_path / "j.db", fresh=True)
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


def test_only_the_failures_of_the_kinds_named_are_sent_again(tmp_path: Path) -> None:
    kinds = {"refused": FailureKind.REFUSED, "rejected": FailureKind.REJECTED}
    backend = Scripted(lambda prompt, call: failure(kinds[prompt]))
    for retry_failed in (False, {FailureKind.REJECTED}, ["rejected"]):
        run_all(list(kinds), backend=backend, journal=tmp_path / "j.db", retry_failed=retry_failed).close()
    assert backend.asked == ["refused", "rejected", "rejected", "rejected"]


def test_a_rerun_with_another_address_asks_what_failed_at_the_old_one(tmp_path: Path) -> None:
    with Simulator(persona="echo") as provider:
        options: dict[str, Any] = {"model": "openai:gpt-6-luna", "api_key": "k", "journal": tmp_path / "j.db"}
        wrong = provider.openai_url.removesuffix("/v1")
        assert batchwork.run(["a", "b"], base_url=wrong, **options).accounting.failed == 2
        assert batchwork.run(["a", "b"], base_url=wrong, **options).accounting.failed == 2
        assert [outcome.text for outcome in batchwork.run(["a", "b"], base_url=provider.openai_url, **options)] == [
            "a",
            "b",
        ]


def test_another_question_over_a_finished_journal_is_told_before_it_is_paid(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options: dict[str, Any] = {"model": "mock:echo", "journal": tmp_path / "j.db"}
    batchwork.run(["a", "b"], **options)
    batchwork.run(["c", "a", "b"], **options)
    assert not caplog.messages
    batchwork.run(["a", "b"], system="Be brief", **options)
    batchwork.run(["a", "b"], **options)
    (told,) = caplog.messages
    assert told.startswith("another question than before, by the system prompt: 3 answers in this journal do not serve")
