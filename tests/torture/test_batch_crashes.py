"""SIGKILL at every step of submit, poll and collect, and at random instants: nothing is lost or paid for twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager
from batchwork.simulator import Simulator, SimulatorConfig
from tests.support.crash_server import MODEL, City, prompts

ROOT = Path(__file__).resolve().parents[2]
ITEMS, PER_JOB = 6, 3
SMOKE = [2, 5, 12]


class Runs:
    """Managers in processes that can be killed."""

    def __init__(self, process: subprocess.Popen[str], provider: Simulator) -> None:
        self._process = process
        self.provider = provider

    def run(self, folder: Path, **told: Any) -> int:
        given = {
            "url": self.provider.anthropic_url,
            "state": str(folder / "state.json"),
            "results": str(folder / "results"),
            "items": ITEMS,
            "items_per_job": PER_JOB,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(given | told), file=self._process.stdin, flush=True)
        ended: int = json.loads(self._process.stdout.readline())
        if (state := folder / "state.json").exists():
            json.loads(state.read_text())  # whole, however it ended
        return ended


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    command = [sys.executable, "-m", "tests.support.crash_server"]
    with (
        Simulator(SimulatorConfig(persona="reader", batch_time_s=0.15)) as provider,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process,
    ):
        yield Runs(process, provider)
        assert process.stdin is not None
        process.stdin.close()


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
    assert runs.run(tmp_path, die_at=step) == -9
    assert runs.run(tmp_path) == 0
    check(runs, tmp_path)


@pytest.mark.slow
def test_a_kill_at_every_step_pays_for_nothing_twice(runs: Runs, record_property: Any, tmp_path: Path) -> None:
    for step in range(1, 200):
        folder = tmp_path / str(step)
        folder.mkdir()
        runs.provider.reset()
        if runs.run(folder, die_at=step) == 0:
            break
        assert runs.run(folder) == 0
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
            killed += runs.run(folder, kill_after=dice.uniform(0.02, 0.8)) != 0
        assert runs.run(folder) == 0
        check(runs, folder)
    record_property("kill", killed)
