"""State and result files are written while a run goes on, whole at every instant, and made good after a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, JournalWriteError
from batchwork.core.event import Settled
from batchwork.simulator import Simulator
from tests.support.managers import items_in, options, prompts
from tests.support.scripted import Scripted


def test_the_file_is_there_before_the_first_call_and_whole_at_every_instant(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    seen: list[int] = []

    def answer(prompt: str, call: int) -> str:
        seen.append(sum(item["status"] == "succeeded" for item in items_in(path)))
        return prompt

    BatchManager(messages=prompts(60), max_in_flight=1, **options(Scripted(answer, latency=0.003), path)).run()
    assert seen[0] == 0
    assert len(set(seen)) > 20, "the file moves while items settle"
    assert [item["status"] for item in items_in(path)] == ["succeeded"] * 60


def test_a_large_run_rewrites_the_file_now_and_then_only(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    written: set[int] = set()

    def look(event: Any) -> None:
        if isinstance(event, Settled):
            written.add(path.stat().st_ino)

    BatchManager(messages=prompts(1500), on_event=look, **options(Scripted(), path, items_per_job=100)).run()
    assert len(written) <= 3
    assert {item["status"] for item in items_in(path)} == {"succeeded"}


def test_results_that_a_crash_kept_from_disk_are_written_by_the_next_run(tmp_path: Path) -> None:
    path, results = tmp_path / "s.json", tmp_path / "results"
    BatchManager(messages=prompts(8), **options(Scripted(), path, save_results_dir=results)).run()
    raw, processed = results / "raw" / "job_1_item_2.json", results / "processed" / "job_0_results.json"
    raw.unlink()
    processed.unlink()
    BatchManager(messages=prompts(8), **options(Scripted(), path, save_results_dir=results)).run()
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

    same = options(Scripted(latency=0.001), path, save_results_dir=results)
    with pytest.raises(JournalWriteError, match="the journal is whole"):
        BatchManager(messages=prompts(2500), on_event=pull_the_folder_away, **same).run()
    backend = Scripted()
    again = BatchManager(messages=prompts(2500), **(same | {"backend": backend}))
    assert again.run().values() == prompts(2500)
    assert backend.asked == []
    assert len(list((results / "raw").iterdir())) == 2500
