"""A state file that arrives without its journal: what is settled there is not asked again."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from batchwork import BatchManager, ConfigError, FailureKind
from tests.support.batch_provider import BatchProvider
from tests.support.managers import interrupt_when, options, prompts, read_state
from tests.support.scripted import Scripted, failure


@pytest.mark.parametrize("with_results", [True, False])
def test_a_state_file_that_arrives_alone_is_taken_over(with_results: bool, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    broken = ["p1"]
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt in broken else prompt)
    results = here / "results" if with_results else None
    BatchManager(messages=prompts(6), **options(backend, here / "s.json", save_results_dir=results)).run()
    (here / "s.json.journal").unlink()
    here.rename(there)
    results = there / "results" if with_results else None
    second = Scripted()
    again = BatchManager(messages=prompts(6), **options(second, there / "s.json", save_results_dir=results))
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
    first = BatchManager(messages=prompts(6), **options(provider.client(), path))
    interrupt_when(lambda: len(provider.batches) == 2, first)
    assert [len(batch["custom_ids"]) for batch in read_state(path)["open_batches"]] == [4, 2]
    (tmp_path / "s.json.journal").unlink()
    provider.end_all()
    again = BatchManager(messages=prompts(6), **options(provider.client(), path))
    assert again.run().values() == prompts(6)
    assert set(provider.billed.values()) == {1}
    assert len(provider.batches) == 2
    assert read_state(path)["open_batches"] == []


def test_a_state_file_that_arrives_alone_counts_what_may_still_be_billed(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    provider = BatchProvider(takes_s=1_000.0)
    same = {"messages": prompts(8), "max_parallel_jobs": 1, "max_cost": 0.0001}
    interrupt_when(lambda: len(provider.batches) == 1, BatchManager(**same, **options(provider.client(), path)))
    (reserved,) = [batch["reserved"] for batch in read_state(path)["open_batches"]]
    assert 0 < reserved <= 0.0001
    (tmp_path / "s.json.journal").unlink()
    provider.end_all()
    again = BatchManager(**same, **options(provider.client(), path))
    again.run()
    assert again.stats.total_cost <= Decimal("0.0001")
    assert max(provider.billed.values()) == 1


def test_what_a_lone_state_file_has_taken_in_of_an_open_batch_is_not_counted_again(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    provider = BatchProvider(takes_s=1_000.0)
    interrupt_when(lambda: provider.batches, BatchManager(messages=prompts(3), **options(provider.client(), path)))
    (tmp_path / "s.json.journal").unlink()
    state = read_state(path)
    state["jobs"][0]["items"][0] |= {"status": "succeeded", "cost": 0.000015}  # the download had broken off behind it
    path.write_text(json.dumps(state | {"total_cost": 0.000015}))
    provider.end_all()
    again = BatchManager(messages=prompts(3), **options(provider.client(), path))
    assert again.run().values() == [None, "p1", "p2"]
    assert again.stats.total_cost == Decimal("0.000045")
    assert len(provider.batches) == 1


@pytest.mark.parametrize("number", ["batch-7", None])
def test_a_state_file_alone_that_cannot_say_what_is_at_the_provider_is_an_error_with_the_remedies(
    number: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "s.json"
    provider = BatchProvider(takes_s=1_000.0)
    interrupt_when(lambda: provider.batches, BatchManager(messages=prompts(2), **options(provider.client(), path)))
    (tmp_path / "s.json.journal").unlink()
    state = read_state(path)
    if number is None:  # about to be submitted: the provider may or may not have it
        state["open_batches"][0]["batch_id"] = state["jobs"][0]["batch_id"] = None
    else:  # as another program, or an older version of this one, would have written it
        del state["open_batches"]
        state["jobs"][0]["batch_id"] = number
    path.write_text(json.dumps(state))
    again = BatchManager(messages=prompts(2), **options(provider.client(), path))
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
    manager = BatchManager(messages=prompts(2), **options(backend, path))
    assert manager.run().values() == [None, "p1"]
    assert backend.asked == ["p1"]
    assert manager.stats.total_cost == Decimal("0.012015")
    assert read_state(path)["manager_id"] == "m"
