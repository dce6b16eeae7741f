"""The state file: a view of a run with the founding document's fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, FailureKind
from tests.support.managers import items_in, options, prompts, read_state
from tests.support.scripted import Scripted, failure


def test_the_file_has_the_founding_documents_structure(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt == "p2" else prompt)
    manager = BatchManager(messages=prompts(5), max_cost=3.5, **options(backend, path))
    manager.run()
    state = read_state(path)
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
        "unconfirmed_cost",
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
    job = read_state(path)["jobs"][0]
    assert job["items"][0]["content"] == "<bytes length=10>"
    assert job["batch_id"].startswith("msgbatch_")
    assert job["batch_ids"] == [job["batch_id"]]


def test_a_cost_that_is_not_known_is_unknown_everywhere_and_never_zero(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    given = {"messages": prompts(6)} | options(Scripted(), path, price=None)
    manager = BatchManager(**given)
    results = manager.run()
    assert manager.stats.total_cost is results.total_cost is None
    state = read_state(path)
    assert state["total_cost"] is None
    assert {job["job_cost"] for job in state["jobs"]} == {item["cost"] for item in items_in(path)} == {None}
    later = BatchManager(**given)
    assert later.stats.total_cost is later.results().total_cost is None
    later.run()
    assert (read_state(path)["total_cost"], items_in(path)[0]["cost"]) == (None, None)
    assert later.results().at([0]).total_cost is None
