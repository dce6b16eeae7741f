"""BatchManager: jobs, order, budget, retry. The founding document's own list, and what follows from it."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, ConfigError, Failure, FailureKind, RunPaused
from batchwork.simulator import Simulator
from tests.support.batch_provider import BatchProvider
from tests.support.managers import City, cities, prompts, scripted
from tests.support.scripted import Scripted, failure


@pytest.mark.parametrize(("items", "jobs"), [(99, 1), (100, 1), (101, 2)])
def test_items_are_split_into_jobs(items: int, jobs: int) -> None:
    provider = BatchProvider(takes_s=0.0)
    manager = BatchManager(messages=prompts(items), **scripted(provider))
    results = manager.run()
    assert len(provider.batches) == manager.stats.jobs_total == manager.stats.jobs_completed == jobs
    assert results.values() == prompts(items)


def test_a_provider_batch_never_mixes_two_jobs(at_provider: dict[str, Any], provider: Simulator) -> None:
    files = [b"" if i == 3 else f"City: Berlin{i}".encode() for i in range(25)]
    BatchManager(files=files, prompt="Which city?", response_model=City, items_per_job=10, **at_provider).run()
    batches: dict[str, list[int]] = {}
    for row in provider.log()["requests"]:
        batches.setdefault(row["batch_id"], []).append(int(row["custom_id"].split("-")[2]))
    assert sorted(sorted(places) for places in batches.values()) == [
        [0, 1, 2, *range(4, 10)],
        list(range(10, 20)),
        list(range(20, 25)),
    ]


@pytest.mark.parametrize("most", [1, 3])
def test_at_most_so_many_jobs_are_in_flight_live(most: int) -> None:
    in_flight: Counter[int] = Counter()
    seen: list[int] = []

    class Watched(Scripted):
        async def complete(self, request: Any, *, ceiling_nano: int | None = None) -> Any:
            job = int(str(request.messages[-1].content)[1:]) // 5
            in_flight[job] += 1
            seen.append(sum(count > 0 for count in in_flight.values()))
            try:
                return await super().complete(request, ceiling_nano=ceiling_nano)
            finally:
                in_flight[job] -= 1

    backend = Watched(latency=lambda prompt: 0.002 * (1 + int(prompt[1:]) % 7))
    manager = BatchManager(messages=prompts(40), items_per_job=5, max_parallel_jobs=most, **scripted(backend))
    assert manager.run().values() == prompts(40)
    assert max(seen) == most


def test_at_most_so_many_jobs_are_in_flight_at_the_provider() -> None:
    provider = BatchProvider(takes_s=0.03)
    seen: list[int] = []
    manager = BatchManager(
        messages=prompts(50),
        items_per_job=5,
        max_parallel_jobs=2,
        on_event=lambda event: seen.append(manager.stats.jobs_in_progress),
        **scripted(provider),
    )
    manager.run()
    assert max(seen) == 2
    assert len(provider.batches) == 10


def test_the_limit_stops_new_work_and_defers_what_does_not_fit() -> None:
    provider = BatchProvider(takes_s=0.0)
    # 10 in and 5 out at $1 a million: 15 micro-dollars each; the worst case is a little more.
    manager = BatchManager(messages=prompts(40), items_per_job=5, max_cost="0.0003", **scripted(provider))
    results = manager.run()
    stats = manager.stats
    assert stats.cost_limit_reached
    assert stats.deferred_items == len(stats.deferred) > 0
    assert stats.total_cost <= Decimal("0.0003")
    assert stats.completed_items + stats.deferred_items == 40
    assert {r.status for r in results} == {"succeeded", "deferred"}
    assert [results[i].status for i in stats.deferred] == ["deferred"] * stats.deferred_items


def test_failed_and_deferred_items_are_retried_and_nothing_counts_twice() -> None:
    refused = Failure(kind=FailureKind.REJECTED, message="no")
    provider = BatchProvider(lambda prompt, time: refused if prompt in broken else prompt, takes_s=0.0)
    broken = {"p3", "p17"}
    manager = BatchManager(messages=prompts(20), items_per_job=10, **scripted(provider))
    manager.run()
    assert (manager.stats.completed_items, manager.stats.failed_items) == (18, 2)
    broken.clear()
    again = manager.retry_failed()
    assert [r.original_index for r in again] == [3, 17]
    assert again.values() == ["p3", "p17"]
    assert manager.results().values() == prompts(20)
    stats = manager.stats
    assert (stats.completed_items, stats.failed_items, stats.jobs_completed) == (20, 0, 2)
    assert stats.total_cost == sum(r.cost or 0 for r in manager.results()) == Decimal("0.0003")
    assert len(manager.retry_failed()) == 0


def test_partial_failures_leave_the_others_alone() -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if int(prompt[1:]) % 4 == 0 else prompt)
    results = BatchManager(messages=prompts(12), items_per_job=4, **scripted(backend)).run()
    assert [r.status == "failed" for r in results] == [i % 4 == 0 for i in range(12)]
    assert all("rejected" in str(r.error) and r.value is None for r in results if r.status == "failed")


def test_messages_and_files_both_work(at_provider: dict[str, Any], tmp_path: Path) -> None:
    paths: list[Any] = []
    for i in range(3):
        (tmp_path / f"{i}.md").write_text(f"# Letter\n\nCity: Turin{i}\n")
        paths.append(str(tmp_path / f"{i}.md") if i else tmp_path / "0.md")
    told = {"response_model": City, **at_provider}
    assert BatchManager(messages=cities(3), **told).run().values() == [City(city=f"Berlin{i}") for i in range(3)]
    from_files = BatchManager(files=paths, prompt="Which city?", **told).run()
    assert from_files.values() == [City(city=f"Turin{i}") for i in range(3)]


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "openai:any"])
def test_an_address_where_nobody_answers_pauses_the_run_and_is_named(model: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"messages": ["a", "b"], "model": model, "api_key": "x", "price": (1, 1)}
    state = tmp_path / "s.json"
    manager = BatchManager(**given, base_url="http://127.0.0.1:9", retries=0, state_path=state)
    with pytest.raises(RunPaused, match=r"cannot be reached at http://127\.0\.0\.1:9"):
        manager.run()
    assert (manager.stats.pending_items, manager.stats.failed_items) == (2, 0)
    assert json.loads(state.read_text())["open_batches"] == []


@pytest.mark.parametrize("given", [{"messages": []}, {"files": [], "prompt": "Which city?"}])
def test_an_empty_input_is_a_finished_run_of_nothing(
    given: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):  # the second goes on with the first
        manager = BatchManager(**given, model="mock:echo", state_path=tmp_path / "s.json", save_results_dir=tmp_path)
        assert list(manager.run()) == []
    assert (manager.stats.total_items, manager.stats.jobs_total, manager.stats.total_cost) == (0, 0, 0)
    assert json.loads((tmp_path / "s.json").read_text())["jobs"] == []
    assert (tmp_path / "processed").is_dir()
    assert caplog.messages == ["the input is empty: nothing was asked"] * 2


def test_an_empty_message_fails_alone(tmp_path: Path) -> None:
    backend = Scripted()
    conversation = [{"role": "user", "content": " "}]
    results = BatchManager(["a", "", conversation, "b"], **scripted(backend), state_path=tmp_path / "s.json").run()
    assert [result.status.value for result in results] == ["succeeded", "failed", "failed", "succeeded"]
    assert results[1].error == "bad_input: the prompt is empty: there is nothing to ask"
    assert backend.asked == ["a", "b"]


def test_a_data_frame_is_refused_with_a_word_on_what_to_do() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"prompt": ["a"]})
    with pytest.raises(ConfigError, match=r"messages= is a table \(DataFrame\), not a list.*df\['prompt'\]\.tolist"):
        BatchManager(frame, model="mock:echo")


def test_the_settings_can_be_looked_at_and_not_be_changed_behind_the_managers_back(tmp_path: Path) -> None:
    manager = BatchManager(messages=prompts(3), max_cost=2, state_path=tmp_path / "s.json", **scripted(Scripted()))
    assert (manager.model, manager.items_per_job, manager.max_parallel_jobs) == ("scripted", 100, 5)
    assert (manager.max_cost, manager.state_path, manager.save_results_dir) == (2, tmp_path / "s.json", None)
    assert manager.batch_kwargs["max_tokens"] == 10
    with pytest.raises(AttributeError, match="max_cost is fixed: make another BatchManager"):
        manager.max_cost = 5


def test_a_paused_manager_names_its_own_remedies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.AUTH))
    manager = BatchManager(messages=prompts(3), state_path=tmp_path / "s.json", **scripted(backend))
    with pytest.raises(RunPaused) as paused:
        manager.run(print_progress=True)
    assert "then call run() again on " in paused.value.remedy
    assert "command" not in str(paused.value)
    assert "3 pending" in capsys.readouterr().out
