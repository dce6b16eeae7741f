"""What a manager finds at its state_path: its own run, another one, or trouble with a remedy."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, ConfigError, JournalLockedError
from tests.support.batch_provider import BatchProvider
from tests.support.managers import City, Town, interrupt_when, items_in, options, prompts, read_state
from tests.support.scripted import Scripted


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
    same = {"messages": prompts(6), "response_model": City} | options(Scripted(lambda p, c: '{"city": "x"}'), path)
    BatchManager(**same).run()
    other = Scripted()
    manager = BatchManager(**(same | {"backend": other} | change))
    for look in (manager.run, manager.results, lambda: manager.stats, lambda: manager.to_jsonl(tmp_path / "out.jsonl")):
        with pytest.raises(ConfigError, match=named):
            look()
    assert other.asked == []


def test_a_removed_state_file_means_a_fresh_start_and_the_old_journal_is_kept(tmp_path: Path) -> None:
    path, results = tmp_path / "state.json", tmp_path / "results"
    BatchManager(messages=prompts(3), **options(Scripted(), path, save_results_dir=results)).run()
    path.unlink()
    second = Scripted()
    BatchManager(messages=prompts(3), **options(second, path, save_results_dir=results)).run()
    assert second.asked == prompts(3)
    assert (tmp_path / "state.json.journal.old-1").exists()
    assert (results / "raw.old-1" / "job_0_item_0.json").exists()


def test_a_removed_state_file_with_batches_at_the_provider_is_an_error_with_the_remedies(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    provider = BatchProvider(takes_s=1000.0)
    interrupt_when(
        lambda: bool(provider.batches), BatchManager(messages=prompts(3), **options(provider.client(), path))
    )
    assert {item["status"] for item in items_in(path)} == {"processing"}
    path.unlink()
    with pytest.raises(ConfigError, match=r"1 batch open at the provider \(batch_0\)") as error:
        BatchManager(messages=prompts(3), **options(provider.client(), path)).run()
    assert "create an empty one" in str(error.value)
    path.touch()
    provider.batches["batch_0"].ends_at = 0.0
    assert BatchManager(messages=prompts(3), **options(provider.client(), path)).run().values() == prompts(3)
    assert set(provider.billed.values()) == {1}


def test_a_damaged_state_file_is_rebuilt_from_the_journal_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    BatchManager(messages=prompts(6), **options(Scripted(), path)).run()
    before = read_state(path)
    path.write_text('{"manager_id": "half of')
    backend = Scripted()
    BatchManager(messages=prompts(6), **options(backend, path)).run()
    assert backend.asked == []
    after = read_state(path)
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
    assert BatchManager(messages=prompts(2), **options(backend, path)).run().values() == prompts(2)
    assert backend.asked == prompts(2)


def test_two_processes_cannot_both_write(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    inside, go_on = threading.Event(), threading.Event()

    def answer(prompt: str, call: int) -> str:
        inside.set()
        go_on.wait(10)
        return prompt

    first = threading.Thread(target=BatchManager(messages=prompts(2), **options(Scripted(answer), path)).run)
    first.start()
    inside.wait(10)
    try:
        with pytest.raises(JournalLockedError, match="in use by process"):
            BatchManager(messages=prompts(2), **options(Scripted(), path)).run()
    finally:
        go_on.set()
        first.join()
    assert [item["status"] for item in items_in(path)] == ["succeeded"] * 2


def test_a_fresh_start_beside_results_of_somebody_else_is_refused_before_the_journal_is_set_aside(
    tmp_path: Path,
) -> None:
    path, results = tmp_path / "state.json", tmp_path / "results"
    given = {"messages": prompts(3)} | options(Scripted(), path, save_results_dir=results)
    BatchManager(**given).run()
    path.unlink()
    (results / ".batchwork.json").write_text('{"manager_id": "another"}')
    with pytest.raises(ConfigError, match="results of another run"):
        BatchManager(**given).run()
    assert (tmp_path / "state.json.journal").exists()
    assert not (tmp_path / "state.json.journal.old-1").exists()


def test_a_removed_state_file_starts_anew_and_keeps_the_old_results_under_another_name(tmp_path: Path) -> None:
    path, results = tmp_path / "state.json", tmp_path / "results"
    backend = Scripted()
    given = {"messages": prompts(3)} | options(backend, path, save_results_dir=results)
    BatchManager(**given).run()
    path.unlink()
    assert BatchManager(**given).run().values() == prompts(3)
    assert len(backend.asked) == 6
    assert (tmp_path / "state.json.journal.old-1").exists()
    assert {"raw", "raw.old-1", "processed", "processed.old-1"} <= {child.name for child in results.iterdir()}


def test_a_finished_run_is_read_again_without_a_key_and_without_its_files(
    at_provider: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file in files:
        file.write_text(f"City: Berlin-{file.stem}")
    given = {"files": files, "prompt": "Which city?", "response_model": City, "enable_citations": True}
    given |= at_provider | {"state_path": tmp_path / "state.json"}
    first = BatchManager(**given)
    values, stats, cited = first.run().values(), first.stats, first.results().citations()
    for file in files:
        file.unlink()
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    again = BatchManager(**given | {"api_key": None, "base_url": None})
    assert again.results().values() == values == [City(city="Berlin-a"), City(city="Berlin-b")]
    assert again.stats == stats
    assert again.results().citations() == cited
    again.to_jsonl(tmp_path / "out.jsonl")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2
    with pytest.raises(ConfigError, match="there is no file"):
        again.run()


def test_a_new_run_still_refuses_files_that_are_not_there_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        BatchManager(files=[tmp_path / "no.txt"], prompt="?", **options(Scripted(), tmp_path / "state.json"))
