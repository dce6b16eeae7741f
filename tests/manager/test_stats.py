"""The numbers of a manager."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, FailureKind, batch
from tests.support.batch_provider import BatchProvider
from tests.support.managers import options, prompts, read_state, scripted
from tests.support.scripted import Scripted, failure


def test_a_job_of_which_everything_failed_is_not_counted_as_completed(capsys: pytest.CaptureFixture[str]) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt in ("p2", "p3") else prompt)
    manager = BatchManager(messages=prompts(6), items_per_job=2, **scripted(backend))
    manager.run(print_progress=True)
    stats = manager.stats
    assert (stats.jobs_total, stats.jobs_completed, stats.jobs_failed, stats.jobs_in_progress) == (3, 2, 1, 0)
    assert "Jobs: 2/3 completed, 1 failed, 0 in progress" in capsys.readouterr().out


def test_the_stats_are_json_by_name_and_exact_as_attributes() -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt == "p2" else prompt)
    manager = BatchManager(messages=prompts(6), items_per_job=2, max_cost=1, **scripted(backend))
    manager.run()
    read = json.loads(json.dumps(manager.stats))
    assert read == manager.stats == dict(manager.stats) == copy.deepcopy(manager.stats)
    assert read["total_cost"] == pytest.approx(float(manager.stats.total_cost or 0))
    assert isinstance(manager.stats.total_cost, Decimal)
    assert read["failures"] == {"rejected": 1}
    assert (read["total_items"], read["completed_items"], read["sent_items"], read["calls"]) == (6, 5, 6, 6)
    assert (read["input_tokens"], read["output_tokens"], read["is_complete"]) == (50, 25, True)


def test_a_later_process_knows_the_same_numbers_as_the_run_had(tmp_path: Path) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt == "p2" else prompt)
    first = BatchManager(messages=prompts(6), **options(backend, tmp_path / "s.json"))
    first.run()
    assert BatchManager(messages=prompts(6), **options(Scripted(), tmp_path / "s.json")).stats == first.stats


def test_a_second_run_says_what_was_done_before_and_sends_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    BatchManager(messages=prompts(6), **options(Scripted(), tmp_path / "s.json")).run()
    again = BatchManager(messages=prompts(6), **options(Scripted(), tmp_path / "s.json"))
    again.run(print_progress=True)
    shown = capsys.readouterr().out
    assert "resumed, 6 already done" in shown
    assert "this run nothing to send: all 6 were done before" in shown
    assert (again.stats.done_before, again.stats.sent_items, again.stats.calls) == (6, 0, 0)


def test_money_that_is_not_confirmed_is_told_by_stats_results_and_state(tmp_path: Path) -> None:
    cut_off = failure(FailureKind.TIMEOUT, unconfirmed=True)
    backend = Scripted(lambda prompt, call: cut_off if prompt == "p1" and call == 1 else prompt)
    manager = BatchManager(messages=prompts(3), **options(backend, tmp_path / "s.json", mode="live"))
    results = manager.run()
    unconfirmed = manager.stats.unconfirmed_cost
    assert 0 < unconfirmed == results.unconfirmed_cost < (manager.stats.total_cost or 0)
    assert read_state(tmp_path / "s.json")["unconfirmed_cost"] == pytest.approx(float(unconfirmed))
    assert manager.stats.retries == 1
    later = BatchManager(messages=prompts(3), **options(Scripted(), tmp_path / "s.json"))
    assert later.stats.unconfirmed_cost == unconfirmed


def test_the_stats_of_a_job_have_its_batch_and_whether_it_has_ended() -> None:
    provider = BatchProvider(takes_s=0.0)
    job = batch(messages=prompts(2), **scripted(provider))
    job.results()
    stats: dict[str, Any] = job.stats()
    assert (stats["batch_id"], stats["is_complete"]) == (job.batch_id, True)
