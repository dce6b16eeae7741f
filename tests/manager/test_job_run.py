"""A later run on the same state goes on where the last one stopped."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, ConfigError
from batchwork.core.event import Settled
from batchwork.simulator import Simulator
from tests.support.batch_provider import BatchProvider
from tests.support.managers import City, interrupt_when, items_in, options, prompts, read_state
from tests.support.scripted import Scripted


def test_a_later_run_takes_up_what_is_left_and_sends_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    first = Scripted(latency=0.002)

    def stop(event: Any) -> None:
        if isinstance(event, Settled) and event.outcome.index == 9:
            raise OSError("pulled out")

    with pytest.raises(Exception, match="pulled out"):
        BatchManager(messages=prompts(30), on_event=stop, max_in_flight=2, **options(first, path)).run()
    half = [item["status"] for item in items_in(path)]
    assert {"succeeded", "pending"} == set(half)
    second = Scripted()
    again = BatchManager(messages=prompts(30), **options(second, path))
    assert again.stats.completed_items == half.count("succeeded") == len(first.asked)
    assert again.results()[0].value == "p0"
    assert again.run().values() == prompts(30)
    assert sorted(first.asked + second.asked) == sorted(prompts(30))
    assert again.stats.total_cost == Decimal("0.00045")


def test_a_third_look_needs_no_run(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    BatchManager(messages=prompts(6), **options(Scripted(), path)).run()
    later = BatchManager(messages=prompts(6), **options(Scripted(), path))
    assert later.results().values() == prompts(6)
    assert (later.stats.completed_items, later.stats.jobs_completed) == (6, 2)


def test_the_limit_holds_across_runs_and_more_money_takes_up_the_deferred(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for _ in range(3):
        manager = BatchManager(messages=prompts(40), max_cost="0.0003", **options(Scripted(), path))
        manager.run()
        assert manager.stats.total_cost <= Decimal("0.0003")
    deferred = [item for item in items_in(path) if item["error"] == "deferred: over max_cost"]
    assert deferred
    assert {item["status"] for item in deferred} == {"pending"}
    richer = BatchManager(messages=prompts(40), max_cost=1, **options(Scripted(), path))
    assert richer.run().values() == prompts(40)


def test_an_interrupted_run_says_what_goes_on_and_is_taken_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "state.json"
    provider = BatchProvider(takes_s=1000.0)
    manager = BatchManager(messages=prompts(8), **options(provider.client(), path))
    said = interrupt_when(lambda: len(provider.batches) == 2, manager)
    assert "stopping: 8 items at the provider go on there, press Ctrl-C again" in caplog.text
    assert "2 batches go on at the provider" in said
    assert [job["status"] for job in read_state(path)["jobs"]] == ["processing", "processing"]
    for batch in provider.batches.values():
        batch.ends_at = 0.0
    assert BatchManager(messages=prompts(8), **options(provider.client(), path)).run().values() == prompts(8)
    assert len(provider.batches) == 2


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
