"""SIGKILL at every step of submit, poll and collect, and at random instants: nothing is lost or paid for twice."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager
from tests.support.crash_runs import ITEMS, PER_JOB, Runs, crash_runs
from tests.support.crash_server import MODEL, City, prompts

SMOKE = [2, 5, 12]


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with crash_runs() as runs:
        yield runs


def check(runs: Runs, folder: Path, items: int = ITEMS) -> None:
    """Every item was billed once, has one typed result, and every file agrees."""
    log = runs.provider.log()
    assert sorted(row["billed"] for row in log["prompts"].values()) == [1] * items, "each item is billed once"
    manager = BatchManager(
        messages=prompts(items),
        model=MODEL,
        response_model=City,
        items_per_job=PER_JOB if items == ITEMS else 10,
        max_tokens=100,
        state_path=folder / "state.json",
        save_results_dir=folder / "results",
    )
    assert manager.results().values() == [City(city=f"Berlin{i}") for i in range(items)]
    stats = manager.stats
    assert (stats.completed_items, stats.pending_items) == (items, 0)
    assert (stats.total_cost or 0) * 10**9 == log["total"]["nano_dollars"]
    state = json.loads((folder / "state.json").read_text())
    rows = [item for job in state["jobs"] for item in job["items"]]
    assert [row["status"] for row in rows] == ["succeeded"] * items
    assert {job["status"] for job in state["jobs"]} == {"completed"}
    written = [
        value
        for job in range(len(state["jobs"]))
        for value in json.loads((folder / "results" / "processed" / f"job_{job}_results.json").read_text())["results"]
    ]
    assert written == [{"city": f"Berlin{i}"} for i in range(items)]
    assert len(list((folder / "results" / "raw").glob("job_*_item_*.json"))) == items


@pytest.mark.parametrize("step", SMOKE)
def test_a_kill_at_a_step_pays_for_nothing_twice(step: int, runs: Runs, tmp_path: Path) -> None:
    runs.provider.reset()
    assert runs.run(tmp_path, url=runs.provider.anthropic_url, die_at=step) == -9
    assert runs.run(tmp_path, url=runs.provider.anthropic_url) == 0
    check(runs, tmp_path)


@pytest.mark.slow
def test_a_kill_at_every_step_pays_for_nothing_twice(runs: Runs, record_property: Any, tmp_path: Path) -> None:
    for step in range(1, 200):
        folder = tmp_path / str(step)
        folder.mkdir()
        runs.provider.reset()
        if runs.run(folder, url=runs.provider.anthropic_url, die_at=step) == 0:
            break
        assert runs.run(folder, url=runs.provider.anthropic_url) == 0
        check(runs, folder)
    else:
        pytest.fail("a run of six items has no 200 steps")
    record_property("kill", step - 1)
    assert step > 20


@pytest.mark.parametrize("kills", [1, pytest.param(100, marks=pytest.mark.slow)])
def test_kills_at_random_instants_pay_for_nothing_twice(
    kills: int, runs: Runs, record_property: Any, tmp_path: Path
) -> None:
    dice, killed = random.Random(kills), 0
    for number in range(kills):
        folder = tmp_path / str(number)
        folder.mkdir()
        runs.provider.reset()
        for _ in range(dice.choice((1, 1, 2))):
            killed += runs.run(folder, url=runs.provider.anthropic_url, kill_after=dice.uniform(0.02, 0.8)) != 0
        assert runs.run(folder, url=runs.provider.anthropic_url) == 0
        check(runs, folder)
    record_property("kill", killed)
