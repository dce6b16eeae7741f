"""BatchManager: jobs, order, budget, retry, progress. The founding document's own list, and what follows from it."""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from batchwork import BatchManager, ConfigError, Failure, FailureKind, RunPaused
from batchwork.core.errors import BackendError
from batchwork.progress import JobCounts, Snapshot, lines
from batchwork.simulator import Simulator
from tests.support.batch_provider import BatchProvider
from tests.support.scripted import Scripted, failure


class City(BaseModel):
    city: str


def cities(count: int) -> list[str]:
    return [f"City: Berlin{i}\nWhich city is it?" for i in range(count)]


def prompts(count: int) -> list[str]:
    return [f"p{i}" for i in range(count)]


def scripted(provider: BatchProvider | Scripted, **more: Any) -> dict[str, Any]:
    backend = provider.client() if isinstance(provider, BatchProvider) else provider
    return {"model": "scripted", "backend": backend, "price": (1, 1), "max_tokens": 10, "poll_interval": 0.01} | more


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


def test_results_stand_in_input_order_whatever_order_they_finish_in() -> None:
    backend = Scripted(latency=lambda prompt: 0.03 if int(prompt[1:]) % 3 == 0 else 0.0)
    results = BatchManager(messages=prompts(30), items_per_job=10, **scripted(backend)).run()
    assert [r.original_index for r in results] == list(range(30))
    assert results.values() == prompts(30)
    assert results[-1].value == "p29"
    assert [r.value for r in results[5:8]] == ["p5", "p6", "p7"]
    with pytest.raises(IndexError):
        _ = results[30]


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


def test_results_are_written_raw_and_processed(at_provider: dict[str, Any], tmp_path: Path) -> None:
    files = [b"City: Oslo", b"", b"City: Rome"]
    folder = tmp_path / "results"
    manager = BatchManager(
        files=files,
        prompt="Which city?",
        response_model=City,
        enable_citations=True,
        items_per_job=2,
        save_results_dir=folder,
        **at_provider,
    )
    manager.run()
    first = json.loads((folder / "processed" / "job_0_results.json").read_text())
    assert first["results"] == [{"city": "Oslo"}, None]
    assert first["citations"][0]["city"][0] | {"confidence": 1} == {
        "start": 6,
        "end": 10,
        "text": "Oslo",
        "confidence": 1,
    }
    assert first["citations"][1] == {}
    assert json.loads((folder / "processed" / "job_1_results.json").read_text())["results"] == [{"city": "Rome"}]
    said = json.loads((folder / "raw" / "job_1_item_0.json").read_text())
    assert (said["type"], said["role"], said["content"][0]["type"]) == ("message", "assistant", "text")
    assert "empty" in json.loads((folder / "raw" / "job_0_item_1.json").read_text())["error"]["message"]


def test_files_of_another_run_are_never_touched(tmp_path: Path) -> None:
    theirs = tmp_path / "raw" / "job_0_item_0.json"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    backend = Scripted()
    with pytest.raises(ConfigError, match="another run"):
        BatchManager(messages=["p0"], save_results_dir=tmp_path, **scripted(backend)).run()
    assert theirs.read_text() == "theirs"
    assert backend.asked == []


def test_progress_tells_the_five_lines(capsys: pytest.CaptureFixture[str]) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt == "p7" else prompt)
    manager = BatchManager(messages=prompts(20), items_per_job=10, max_cost=1, **scripted(backend))
    manager.run(print_progress=True)
    last = capsys.readouterr().out.splitlines()[-5:]
    assert last[0] == "Processing: 20/20 items (100.0%)"
    assert last[1] == "Jobs: 2/2 completed, 0 in progress"
    assert re.fullmatch(r"Cost: \$0\.000285 / \$1\.00 \(0\.0% of limit\)", last[2])
    assert last[3] == "ETA: done"
    assert last[4] == "Failed: 1 items"


def test_on_a_terminal_the_lines_are_rewritten_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    BatchManager(messages=prompts(3), **scripted(Scripted())).run(print_progress=True)
    assert "\r\x1b[2K" + 4 * "\x1b[1A\x1b[2K" in terminal.getvalue()  # all five are erased, from the last one up
    assert terminal.getvalue().count("Processing: ") >= 2


def test_the_lines_are_those_of_the_founding_document() -> None:
    seen = Snapshot(
        done=2345,
        total=5000,
        fresh=2655,
        elapsed_s=135.2,
        spent_nano=4_470_000_000,
        ceiling_nano=10_000_000_000,
        failed=12,
        deferred=0,
        jobs=JobCounts(total=50, completed=23, failed=0, in_progress=3),
    )
    assert lines(seen) == [
        "Processing: 2,345/5,000 items (46.9%)",
        "Jobs: 23/50 completed, 3 in progress",
        "Cost: $4.47 / $10.00 (44.7% of limit)",
        "ETA: ~2 min 15 sec",
        "Failed: 12 items",
    ]


def test_a_job_of_which_everything_failed_is_not_counted_as_completed(capsys: pytest.CaptureFixture[str]) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt in ("p2", "p3") else prompt)
    manager = BatchManager(messages=prompts(6), items_per_job=2, **scripted(backend))
    manager.run(print_progress=True)
    stats = manager.stats
    assert (stats.jobs_total, stats.jobs_completed, stats.jobs_failed, stats.jobs_in_progress) == (3, 2, 1, 0)
    assert "Jobs: 2/3 completed, 1 failed, 0 in progress" in capsys.readouterr().out


def test_a_table_for_which_there_is_no_folder_is_a_clear_error(tmp_path: Path) -> None:
    manager = BatchManager(messages=prompts(1), **scripted(Scripted()))
    manager.run()
    for write in (manager.to_jsonl, manager.to_parquet):
        with pytest.raises(ConfigError, match=re.escape(f"there is no folder {tmp_path / 'no'} for out")):
            write(tmp_path / "no" / "out")
        with pytest.raises(ConfigError, match="is a folder"):
            write(tmp_path)


class Bill(BaseModel):
    total: Decimal
    lines: list[Decimal]
    paid: Decimal | bool


def test_a_table_keeps_decimals_exact_and_its_own_columns_typed(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    answers = {"p0": "1250.5", "p1": "0.125"}
    paid = {"p0": "1250.5", "p1": "false"}
    backend = Scripted(lambda p, c: f'{{"total": {answers[p]}, "lines": [0.1], "paid": {paid[p]}}}')
    manager = BatchManager(messages=prompts(2), response_model=Bill, **scripted(backend))
    manager.run()
    table = parquet.read_table(manager.to_parquet(tmp_path / "out.parquet"))
    assert table.column("total").to_pylist() == [Decimal("1250.5"), Decimal("0.125")]
    assert str(table.schema.field("total").type) == "decimal128(7, 3)"
    assert table.column("lines").to_pylist() == [[Decimal("0.1")], [Decimal("0.1")]]
    assert table.column("paid").to_pylist() == ["1250.5", "false"]
    assert str(table.schema.field("error").type) == "string"
    assert str(table.schema.field("cost").type) == "double"
    (first, _) = manager.to_jsonl(tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(first)["value"]["total"] == "1250.5"


def test_a_dataframe_has_one_row_per_item_or_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = BatchManager(messages=prompts(2), **scripted(Scripted()))
    manager.run()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        with pytest.raises(ConfigError, match=re.escape("pip install 'batchwork[dataframe]'")):
            manager.to_dataframe()
    pytest.importorskip("pandas")
    assert list(manager.to_dataframe()["value"]) == prompts(2)


def test_tables_come_out_in_input_order(tmp_path: Path, at_provider: dict[str, Any]) -> None:
    manager = BatchManager(messages=cities(3), response_model=City, **at_provider)
    manager.run()
    rows = [json.loads(line) for line in manager.to_jsonl(tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["value"]["city"] for row in rows] == ["Berlin0", "Berlin1", "Berlin2"]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(manager.to_parquet(tmp_path / "out.parquet"))
    assert table.column("city").to_pylist() == ["Berlin0", "Berlin1", "Berlin2"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"items_per_job": 0}, "items_per_job"),
        ({"max_parallel_jobs": 1.5}, "max_parallel_jobs"),
        ({"items_per_jobs": 5}, "did you mean 'items_per_job'"),
        ({"temperature": 0.5}, r"goes into sampling=\{'temperature': ...\}"),
        ({"temprature": 0.5}, r"goes into sampling=\{'temperature': ...\}"),
        ({"items_per_batches": 5}, "did you mean 'items_per_job'"),
        ({"state_path": "no/such/folder/state.json"}, "no folder"),
        ({"journal": "x"}, "state_path"),
        ({"mode": "fast"}, "mode"),
        ({"max_cost": -1}, "at least 0"),
    ],
)
def test_a_wrong_argument_is_an_error_before_anything_is_sent(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        BatchManager(messages=["a"], model="mock:echo", **given)


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "openai:any"])
def test_an_address_where_nobody_answers_pauses_the_run_and_is_named(model: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"messages": ["a", "b"], "model": model, "api_key": "x", "price": (1, 1)}
    state = tmp_path / "s.json"
    manager = BatchManager(**given, base_url="http://127.0.0.1:9", retries=0, state_path=state)
    with pytest.raises(RunPaused, match=r"cannot be reached at http://127\.0\.0\.1:9"):
        manager.run()
    assert (manager.stats.pending_items, manager.stats.failed_items) == (2, 0)
    assert json.loads(state.read_text())["open_batches"] == []


# -- results at any time -----------------------------------------------------------------------------


@pytest.mark.parametrize("with_state", [False, True])
def test_results_before_a_run_are_all_pending(tmp_path: Path, with_state: bool) -> None:
    state = {"state_path": tmp_path / "s.json"} if with_state else {}
    manager = BatchManager(messages=prompts(3), **state, **scripted(Scripted()))
    results = manager.results()
    assert len(results) == manager.stats.total_items == 3
    assert [(r.original_index, r.status, r.value, r.cost) for r in results] == [
        (i, "pending", None, 0) for i in range(3)
    ]
    assert results[2].status == "pending"
    assert results.total_cost == 0
    assert list(tmp_path.iterdir()) == []
    assert len(manager.retry_failed()) == 0
    assert manager.to_jsonl(tmp_path / "t.jsonl").read_text().count('"pending"') == 3
    assert manager.run().values() == manager.results().values() == prompts(3)


class _Broke(Scripted):
    """Answers seven calls, and then has no money left until it is topped up."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 7
        self.prompts: list[str] = []

    async def complete(self, request: Any, *, ceiling_nano: int | None = None) -> Any:
        if not self.left:
            raise BackendError(failure(FailureKind.QUOTA))
        self.left -= 1
        self.prompts.append(str(request.messages[-1].content))
        return await super().complete(request, ceiling_nano=ceiling_nano)


@pytest.mark.parametrize("with_state", [False, True])
def test_after_a_pause_the_results_are_those_of_all_items_and_nothing_is_paid_again(
    tmp_path: Path, with_state: bool
) -> None:
    state = {"state_path": tmp_path / "s.json"} if with_state else {}
    backend = _Broke()
    manager = BatchManager(messages=prompts(500), max_in_flight=2, **state, **scripted(backend, mode="live"))
    with pytest.raises(RunPaused) as paused:
        manager.run()
    for results in (paused.value.results, manager.results()):
        assert len(results) == manager.stats.total_items == 500
        assert Counter(str(r.status.value) for r in results) == {"succeeded": 7, "pending": 493}
        assert [r.original_index for r in results] == list(range(500))
        assert results[499].status == results[-1].status == "pending"
        assert results[3].status == "succeeded"
    backend.left = 1000
    assert manager.run().values() == prompts(500)
    assert sorted(backend.prompts) == sorted(prompts(500))
