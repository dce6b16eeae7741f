"""The state file: a view that is always whole, and from which a later run goes on."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from batchwork import BatchManager, ConfigError, FailureKind, JournalLockedError, JournalWriteError
from batchwork.core.event import Settled
from batchwork.simulator import Simulator
from tests.support.batch_provider import BatchProvider
from tests.support.scripted import Scripted, failure


class City(BaseModel):
    city: str


class Town(BaseModel):
    town: str


def prompts(count: int) -> list[str]:
    return [f"p{i}" for i in range(count)]


def told(backend: Any, state: Path | None, **more: Any) -> dict[str, Any]:
    given = {"model": "scripted", "backend": backend, "price": (1, 1), "max_tokens": 10, "poll_interval": 0.01}
    return given | {"state_path": state, "items_per_job": 4} | more


def read(path: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(path.read_text())
    return state


def items(path: Path) -> list[dict[str, Any]]:
    return [item for job in read(path)["jobs"] for item in job["items"]]


def test_the_file_has_the_founding_documents_structure(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt == "p2" else prompt)
    manager = BatchManager(messages=prompts(5), max_cost=3.5, **told(backend, path))
    manager.run()
    state = read(path)
    assert list(state) == [
        "manager_id",
        "created_at",
        "model",
        "items_per_job",
        "max_cost",
        "save_results_dir",
        "batch_kwargs",
        "inputs_digest",
        "jobs",
        "open_batches",
        "total_cost",
        "last_updated",
    ]
    assert (state["model"], state["items_per_job"], state["max_cost"]) == ("scripted", 4, 3.5)
    job = state["jobs"][0]
    assert {"index", "batch_id", "status", "items", "job_cost", "started_at", "completed_at"} <= set(job)
    assert (job["index"], job["batch_id"], job["status"]) == (0, None, "completed")
    assert job["items"][1] == {
        "original_index": 1,
        "content": [{"role": "user", "content": "p1"}],
        "status": "succeeded",
        "error": None,
        "cost": 1.5e-05,
        "completed_at": job["items"][1]["completed_at"],
    }
    assert (job["items"][2]["status"], job["items"][2]["error"]) == ("failed", "rejected: scripted")
    assert state["total_cost"] == pytest.approx(sum(job["job_cost"] for job in state["jobs"]))


def test_bytes_appear_as_their_length_and_batches_with_their_numbers(
    at_provider: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "state.json"
    BatchManager(files=[b"City: Oslo"], prompt="Which city?", state_path=path, **at_provider).run()
    job = read(path)["jobs"][0]
    assert job["items"][0]["content"] == "<bytes length=10>"
    assert job["batch_id"].startswith("msgbatch_")
    assert job["batch_ids"] == [job["batch_id"]]


def test_the_file_is_there_before_the_first_call_and_whole_at_every_instant(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    seen: list[int] = []

    def answer(prompt: str, call: int) -> str:
        seen.append(sum(item["status"] == "succeeded" for item in items(path)))
        return prompt

    BatchManager(messages=prompts(60), max_in_flight=1, **told(Scripted(answer, latency=0.003), path)).run()
    assert seen[0] == 0
    assert len(set(seen)) > 20, "the file moves while items settle"
    assert [item["status"] for item in items(path)] == ["succeeded"] * 60


def test_a_large_run_rewrites_the_file_now_and_then_only(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    written: set[int] = set()

    def look(event: Any) -> None:
        if isinstance(event, Settled):
            written.add(path.stat().st_ino)

    BatchManager(messages=prompts(1500), on_event=look, **told(Scripted(), path, items_per_job=100)).run()
    assert len(written) <= 3
    assert {item["status"] for item in items(path)} == {"succeeded"}


def test_a_later_run_takes_up_what_is_left_and_sends_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    first = Scripted(latency=0.002)

    def stop(event: Any) -> None:
        if isinstance(event, Settled) and event.outcome.index == 9:
            raise OSError("pulled out")

    with pytest.raises(Exception, match="pulled out"):
        BatchManager(messages=prompts(30), on_event=stop, max_in_flight=2, **told(first, path)).run()
    half = [item["status"] for item in items(path)]
    assert {"succeeded", "pending"} == set(half)
    second = Scripted()
    again = BatchManager(messages=prompts(30), **told(second, path))
    assert again.stats.completed_items == half.count("succeeded") == len(first.asked)
    assert again.results()[0].value == "p0"
    assert again.run().values() == prompts(30)
    assert sorted(first.asked + second.asked) == sorted(prompts(30))
    assert again.stats.total_cost == Decimal("0.00045")


def test_a_third_look_needs_no_run(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    BatchManager(messages=prompts(6), **told(Scripted(), path)).run()
    later = BatchManager(messages=prompts(6), **told(Scripted(), path))
    assert later.results().values() == prompts(6)
    assert (later.stats.completed_items, later.stats.jobs_completed) == (6, 2)


def test_the_limit_holds_across_runs_and_more_money_takes_up_the_deferred(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for _ in range(3):
        manager = BatchManager(messages=prompts(40), max_cost="0.0003", **told(Scripted(), path))
        manager.run()
        assert manager.stats.total_cost <= Decimal("0.0003")
    deferred = [item for item in items(path) if item["error"] == "deferred: over max_cost"]
    assert deferred
    assert {item["status"] for item in deferred} == {"pending"}
    richer = BatchManager(messages=prompts(40), max_cost=1, **told(Scripted(), path))
    assert richer.run().values() == prompts(40)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"messages": prompts(5)}, "6 items, this one 5"),
        ({"messages": ["p0", "p1", "other", *prompts(6)[3:]]}, "item 2 is"),
        ({"model": "another"}, "its model is 'scripted', this one's 'another'"),
        ({"items_per_job": 3}, "items_per_job"),
        ({"system": "be brief"}, "system"),
        ({"response_model": Town}, "without city and with town"),
    ],
)
def test_another_input_or_model_is_refused_with_the_difference_by_whatever_looks_at_the_state(
    change: dict[str, Any], named: str, tmp_path: Path
) -> None:
    path = tmp_path / "state.json"
    same = {"messages": prompts(6), "response_model": City} | told(Scripted(lambda p, c: '{"city": "x"}'), path)
    BatchManager(**same).run()
    other = Scripted()
    manager = BatchManager(**(same | {"backend": other} | change))
    for look in (manager.run, manager.results, lambda: manager.stats, lambda: manager.to_jsonl(tmp_path / "out.jsonl")):
        with pytest.raises(ConfigError, match=named):
            look()
    assert other.asked == []


def test_a_cost_that_is_not_known_is_unknown_everywhere_and_never_zero(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    given = {"messages": prompts(6)} | told(Scripted(), path, price=None)
    manager = BatchManager(**given)
    results = manager.run()
    assert manager.stats.total_cost is results.total_cost is None
    state = read(path)
    assert state["total_cost"] is None
    assert {job["job_cost"] for job in state["jobs"]} == {item["cost"] for item in items(path)} == {None}
    later = BatchManager(**given)
    assert later.stats.total_cost is later.results().total_cost is None
    later.run()
    assert (read(path)["total_cost"], items(path)[0]["cost"]) == (None, None)
    assert later.results().at([0]).total_cost is None


def test_a_removed_state_file_means_a_fresh_start_and_the_old_journal_is_kept(tmp_path: Path) -> None:
    path, results = tmp_path / "state.json", tmp_path / "results"
    BatchManager(messages=prompts(3), **told(Scripted(), path, save_results_dir=results)).run()
    path.unlink()
    second = Scripted()
    BatchManager(messages=prompts(3), **told(second, path, save_results_dir=results)).run()
    assert second.asked == prompts(3)
    assert (tmp_path / "state.json.journal.old-1").exists()
    assert (results / "raw.old-1" / "job_0_item_0.json").exists()


def test_a_removed_state_file_with_batches_at_the_provider_is_an_error_with_the_remedies(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    provider = BatchProvider(takes_s=1000.0)
    _interrupt_when(lambda: bool(provider.batches), BatchManager(messages=prompts(3), **told(provider.client(), path)))
    assert {item["status"] for item in items(path)} == {"processing"}
    path.unlink()
    with pytest.raises(ConfigError, match=r"batches open at the provider \(batch_0\)") as error:
        BatchManager(messages=prompts(3), **told(provider.client(), path)).run()
    assert "create an empty one" in str(error.value)
    path.touch()
    provider.batches["batch_0"].ends_at = 0.0
    assert BatchManager(messages=prompts(3), **told(provider.client(), path)).run().values() == prompts(3)
    assert set(provider.billed.values()) == {1}


def test_an_interrupted_run_says_what_goes_on_and_is_taken_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "state.json"
    provider = BatchProvider(takes_s=1000.0)
    manager = BatchManager(messages=prompts(8), **told(provider.client(), path))
    said = _interrupt_when(lambda: len(provider.batches) == 2, manager)
    assert "stopping: 8 items at the provider go on there, press Ctrl-C again" in caplog.text
    assert "2 batches go on at the provider" in said
    assert [job["status"] for job in read(path)["jobs"]] == ["processing", "processing"]
    for batch in provider.batches.values():
        batch.ends_at = 0.0
    assert BatchManager(messages=prompts(8), **told(provider.client(), path)).run().values() == prompts(8)
    assert len(provider.batches) == 2


def test_a_damaged_state_file_is_rebuilt_from_the_journal_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    BatchManager(messages=prompts(6), **told(Scripted(), path)).run()
    before = read(path)
    path.write_text('{"manager_id": "half of')
    backend = Scripted()
    BatchManager(messages=prompts(6), **told(backend, path)).run()
    assert backend.asked == []
    after = read(path)
    for state in (before, after):  # when a job was begun is not told by a live run's journal, only when it settled
        state["last_updated"] = ""
        for job in state["jobs"]:
            job["started_at"] = ""
    assert after == before
    assert (tmp_path / "state.json.bad-1").read_text().startswith('{"manager_id": "half')


def test_a_journal_whose_making_was_cut_off_is_nothing_yet(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with closing(sqlite3.connect(tmp_path / "state.json.journal.new")) as cut_off:
        cut_off.execute("PRAGMA journal_mode = WAL")
    backend = Scripted()
    assert BatchManager(messages=prompts(2), **told(backend, path)).run().values() == prompts(2)
    assert backend.asked == prompts(2)


@pytest.mark.parametrize("with_results", [True, False])
def test_a_state_file_that_arrives_alone_is_taken_over(with_results: bool, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    broken = ["p1"]
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt in broken else prompt)
    results = here / "results" if with_results else None
    BatchManager(messages=prompts(6), **told(backend, here / "s.json", save_results_dir=results)).run()
    (here / "s.json.journal").unlink()
    here.rename(there)
    results = there / "results" if with_results else None
    second = Scripted()
    again = BatchManager(messages=prompts(6), **told(second, there / "s.json", save_results_dir=results))
    values = again.run().values()
    assert second.asked == []
    assert values == (["p0", None, *prompts(6)[2:]] if with_results else [None] * 6)
    assert again.results()[0].status == "succeeded"
    assert with_results or "without its journal" in str(again.results()[0].note)
    assert again.stats.total_cost == Decimal("0.000075")
    assert again.retry_failed().values() == ["p1"]
    assert second.asked == ["p1"]


def test_a_state_file_that_arrives_alone_takes_up_what_is_at_the_provider(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    provider = BatchProvider(takes_s=1_000.0)
    first = BatchManager(messages=prompts(6), **told(provider.client(), path))
    _interrupt_when(lambda: len(provider.batches) == 2, first)
    assert [len(batch["custom_ids"]) for batch in read(path)["open_batches"]] == [4, 2]
    (tmp_path / "s.json.journal").unlink()
    provider.end_all()
    again = BatchManager(messages=prompts(6), **told(provider.client(), path))
    assert again.run().values() == prompts(6)
    assert set(provider.billed.values()) == {1}
    assert len(provider.batches) == 2
    assert read(path)["open_batches"] == []


def test_a_state_file_that_arrives_alone_counts_what_may_still_be_billed(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    provider = BatchProvider(takes_s=1_000.0)
    same = {"messages": prompts(8), "max_parallel_jobs": 1, "max_cost": 0.0001}
    _interrupt_when(lambda: len(provider.batches) == 1, BatchManager(**same, **told(provider.client(), path)))
    (reserved,) = [batch["reserved"] for batch in read(path)["open_batches"]]
    assert 0 < reserved <= 0.0001
    (tmp_path / "s.json.journal").unlink()
    provider.end_all()
    again = BatchManager(**same, **told(provider.client(), path))
    again.run()
    assert again.stats.total_cost <= Decimal("0.0001")
    assert max(provider.billed.values()) == 1


def test_what_a_lone_state_file_has_taken_in_of_an_open_batch_is_not_counted_again(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    provider = BatchProvider(takes_s=1_000.0)
    _interrupt_when(lambda: provider.batches, BatchManager(messages=prompts(3), **told(provider.client(), path)))
    (tmp_path / "s.json.journal").unlink()
    state = read(path)
    state["jobs"][0]["items"][0] |= {"status": "succeeded", "cost": 0.000015}  # the download had broken off behind it
    path.write_text(json.dumps(state | {"total_cost": 0.000015}))
    provider.end_all()
    again = BatchManager(messages=prompts(3), **told(provider.client(), path))
    assert again.run().values() == [None, "p1", "p2"]
    assert again.stats.total_cost == Decimal("0.000045")
    assert len(provider.batches) == 1


@pytest.mark.parametrize("number", ["batch-7", None])
def test_a_state_file_alone_that_cannot_say_what_is_at_the_provider_is_an_error_with_the_remedies(
    number: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "s.json"
    provider = BatchProvider(takes_s=1_000.0)
    _interrupt_when(lambda: provider.batches, BatchManager(messages=prompts(2), **told(provider.client(), path)))
    (tmp_path / "s.json.journal").unlink()
    state = read(path)
    if number is None:  # about to be submitted: the provider may or may not have it
        state["open_batches"][0]["batch_id"] = state["jobs"][0]["batch_id"] = None
    else:  # as another program, or an older version of this one, would have written it
        del state["open_batches"]
        state["jobs"][0]["batch_id"] = number
    path.write_text(json.dumps(state))
    again = BatchManager(messages=prompts(2), **told(provider.client(), path))
    with pytest.raises(ConfigError, match="could pay for them twice") as refused:
        again.run()
    assert (number or "without a number") in str(refused.value)
    assert not (tmp_path / "s.json.journal").exists()
    provider.end_all()
    state["open_batches"], state["jobs"][0]["batch_id"] = [], None  # given up, as the error says
    path.write_text(json.dumps(state))
    assert again.run().values() == prompts(2)


def test_a_state_file_that_says_no_more_than_the_founding_document_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    rows = [
        {
            "original_index": i,
            "content": [{"role": "user", "content": f"p{i}"}],
            "status": "succeeded" if i == 0 else "processing",
            "error": None,
            "cost": 0.012 if i == 0 else None,
            "completed_at": None,
        }
        for i in range(2)
    ]
    job = {"index": 0, "batch_id": None, "status": "processing", "items": rows, "job_cost": 0.012}
    head = {"manager_id": "m", "created_at": "2024-01-20T10:00:00Z", "model": "scripted", "items_per_job": 4}
    path.write_text(json.dumps(head | {"batch_kwargs": {}, "jobs": [job], "total_cost": 0.012}))
    backend = Scripted()
    manager = BatchManager(messages=prompts(2), **told(backend, path))
    assert manager.run().values() == [None, "p1"]
    assert backend.asked == ["p1"]
    assert manager.stats.total_cost == Decimal("0.012015")
    assert read(path)["manager_id"] == "m"


def test_two_processes_cannot_both_write(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    inside, go_on = threading.Event(), threading.Event()

    def answer(prompt: str, call: int) -> str:
        inside.set()
        go_on.wait(10)
        return prompt

    first = threading.Thread(target=BatchManager(messages=prompts(2), **told(Scripted(answer), path)).run)
    first.start()
    inside.wait(10)
    try:
        with pytest.raises(JournalLockedError, match="in use by process"):
            BatchManager(messages=prompts(2), **told(Scripted(), path)).run()
    finally:
        go_on.set()
        first.join()
    assert [item["status"] for item in items(path)] == ["succeeded"] * 2


def test_results_that_a_crash_kept_from_disk_are_written_by_the_next_run(tmp_path: Path) -> None:
    path, results = tmp_path / "s.json", tmp_path / "results"
    BatchManager(messages=prompts(8), **told(Scripted(), path, save_results_dir=results)).run()
    raw, processed = results / "raw" / "job_1_item_2.json", results / "processed" / "job_0_results.json"
    raw.unlink()
    processed.unlink()
    BatchManager(messages=prompts(8), **told(Scripted(), path, save_results_dir=results)).run()
    assert json.loads(raw.read_text())["text"] == "p6"
    assert json.loads(processed.read_text())["results"] == prompts(4)


def test_raw_results_that_are_missing_are_written_again_as_the_provider_gave_them(
    at_provider: dict[str, Any], provider: Simulator, tmp_path: Path
) -> None:
    given = {"messages": ["City: Oslo\nWhich city?"], "state_path": tmp_path / "state.json", "mode": "live"}
    given |= at_provider | {"save_results_dir": tmp_path / "results"}
    BatchManager(**given).run()
    raw = tmp_path / "results" / "raw" / "job_0_item_0.json"
    before = raw.read_bytes()
    assert json.loads(before)["type"] == "message"
    raw.unlink()
    provider.reset()
    BatchManager(**given).run()
    assert raw.read_bytes() == before
    assert provider.log()["requests"] == []


def test_a_run_whose_files_cannot_be_written_ends_with_an_error_and_loses_nothing(tmp_path: Path) -> None:
    path, results = tmp_path / "s.json", tmp_path / "results"

    def pull_the_folder_away(event: Any) -> None:
        if isinstance(event, Settled) and event.outcome.index == 5:
            (results / "raw").rename(tmp_path / "gone")

    same = told(Scripted(latency=0.001), path, save_results_dir=results)
    with pytest.raises(JournalWriteError, match="the journal is whole"):
        BatchManager(messages=prompts(2500), on_event=pull_the_folder_away, **same).run()
    backend = Scripted()
    again = BatchManager(messages=prompts(2500), **(same | {"backend": backend}))
    assert again.run().values() == prompts(2500)
    assert backend.asked == []
    assert len(list((results / "raw").iterdir())) == 2500


def test_a_mended_file_is_read_again_by_a_retry(at_provider: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    (tmp_path / "a.txt").write_text("City: Oslo")
    (tmp_path / "b.txt").write_text("")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    manager = BatchManager(files=files, prompt="Which city?", response_model=City, state_path=path, **at_provider)
    manager.run()
    assert manager.stats.failed_items == 1
    (tmp_path / "b.txt").write_text("City: Rome")
    assert manager.retry_failed().values() == [City(city="Rome")]
    assert manager.results().values() == [City(city="Oslo"), City(city="Rome")]


def test_a_file_that_changed_after_it_was_paid_for_is_an_error(
    at_provider: dict[str, Any], provider: Simulator, tmp_path: Path
) -> None:
    letter = tmp_path / "a.txt"
    letter.write_text("City: Oslo")
    same = {"files": [letter], "prompt": "Which city?", "response_model": City, "state_path": tmp_path / "s.json"}
    BatchManager(**same, **at_provider).run()
    letter.write_text("City: Rome")
    with pytest.raises(ConfigError, match=r"item 0 .* is not what it was"):
        BatchManager(**same, **at_provider).run()
    assert provider.log()["total"]["billed"] == 1
    letter.write_text("City: Oslo")
    assert BatchManager(**same, **at_provider).run().values() == [City(city="Oslo")]


def test_a_resumed_run_is_still_typed_and_cited(
    at_provider: dict[str, Any], provider: Simulator, tmp_path: Path
) -> None:
    same = {"files": [b"City: Oslo"] * 2, "prompt": "Which city?", "response_model": City, "enable_citations": True}
    BatchManager(**same, state_path=tmp_path / "s.json", **at_provider).run()
    again = BatchManager(**same, state_path=tmp_path / "s.json", **at_provider).run()
    assert again.values() == [City(city="Oslo")] * 2
    assert again[1].citations["city"][0]["text"] == "Oslo"
    assert provider.log()["total"]["billed"] == 2


def _interrupt_when(ready: Any, manager: BatchManager) -> str:
    """Run a manager in this, the main, thread and press Ctrl-C when it is time; what it says."""

    def press() -> None:
        waited = threading.Event()
        while not ready():
            waited.wait(0.01)
        waited.wait(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt) as stopped:
        manager.run()
    return str(stopped.value)
