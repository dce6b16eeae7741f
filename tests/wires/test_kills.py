"""SIGKILL at steps and at random instants of batches: nothing is lost or paid for twice.

`together` keeps no name with a batch: there the file alone says which batch is ours; at `openrouter` there is no file
either, and the ids in its results say it. Fifty kills at each service are
`make torture-wires`'s; a cut of it always runs.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.simulator import Simulator, SimulatorConfig
from batchwork.simulator.openai.embeddings import vector_of
from tests.support.crash_runs import ITEMS, ROOT, Runs, crash_runs

MODELS = {
    "openai": "openai:gpt-6-luna",
    "together": "together:meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "groq": "groq:openai/gpt-oss-120b",
    "azure-classic": "azure-classic:gpt-4o",
    "gemini": "gemini:gemini-3.6-flash",
    "mistral": "mistral:mistral-small-latest",
    "openrouter": "openrouter:openai/gpt-4o-mini",
}


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with crash_runs() as runs:
        yield runs


def at(runs: Runs, service: str) -> dict[str, str]:
    return {"model": MODELS[service], "url": runs.provider.service_url(service)}


def check(runs: Runs, folder: Path) -> None:
    """Every item was billed once, and has its result."""
    log = runs.provider.log()
    assert sorted(row["billed"] for row in log["prompts"].values()) == [1] * ITEMS, "each item is billed once"
    state = json.loads((folder / "state.json").read_text())
    rows = [item for job in state["jobs"] for item in job["items"]]
    assert [row["status"] for row in rows] == ["succeeded"] * ITEMS
    written = [
        value
        for job in range(len(state["jobs"]))
        for value in json.loads((folder / "results" / "processed" / f"job_{job}_results.json").read_text())["results"]
    ]
    assert written == [{"city": f"Berlin{i}"} for i in range(ITEMS)]


@pytest.mark.parametrize(
    ("service", "step"),
    [("together", 4), ("together", 5), ("openai", 6), ("gemini", 6), ("mistral", 5), ("openrouter", 4)],
)
def test_a_kill_at_a_step_of_a_file_and_its_batch_pays_for_nothing_twice(
    service: str, step: int, runs: Runs, tmp_path: Path
) -> None:
    runs.provider.reset()
    assert runs.run(tmp_path, **at(runs, service), die_at=step) == -9
    assert runs.run(tmp_path, **at(runs, service)) == 0
    check(runs, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("service", MODELS)
def test_fifty_kills_pay_for_nothing_twice(service: str, runs: Runs, record_property: Any, tmp_path: Path) -> None:
    dice, killed, number = random.Random(service), 0, 0
    while killed < 50:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        runs.provider.reset()
        step = number if number <= 25 else None  # every step once, then random instants
        told = {"die_at": step} if step is not None else {"kill_after": dice.uniform(0.02, 0.8)}
        killed += runs.run(folder, **at(runs, service), **told) != 0
        assert runs.run(folder, **at(runs, service)) == 0
        check(runs, folder)
        assert number < 200
    record_property("kill", killed)


_EMBED = """
import sys, batchwork
texts = [f"text number {i}" for i in range(2000)]
batchwork.embed(texts, model="openai:text-embedding-3-small", base_url=sys.argv[1], api_key="k", dimensions=8,
                journal=sys.argv[2], mode=sys.argv[3], poll_interval=0.05, adopt_wait=0.3, max_cost=1).close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["live", "batch"])
def test_embeddings_killed_at_random_instants_are_billed_once(mode: str, record_property: Any, tmp_path: Path) -> None:
    dice, killed = random.Random(mode), 0
    texts = [f"text number {i}" for i in range(2000)]
    settings: dict[str, Any] = {"persona": "echo", "batch_time_s": 0.3}
    with Simulator(SimulatorConfig(**settings)) as provider:
        for number in range(10):
            provider.reset()
            journal = tmp_path / f"{number}.db"
            command = [sys.executable, "-c", _EMBED, provider.openai_url, str(journal), mode]
            for _ in range(2):
                with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
                    try:
                        process.wait(dice.uniform(0.5, 2.0))
                    except subprocess.TimeoutExpired:
                        process.kill()
                        killed += 1
            with batchwork.embed(
                texts,
                model="openai:text-embedding-3-small",
                base_url=provider.openai_url,
                api_key="k",
                dimensions=8,
                journal=journal,
                mode=mode,  # type: ignore[arg-type]
                poll_interval=0.05,
                adopt_wait=0.3,
            ) as made:
                assert [one.data for one in made] == [vector_of(text, 8) for text in texts]
            answered = [row for row in provider.log()["requests"] if row["answered"]]
            if mode == "batch":
                billed = sum(row["usage"]["input"] for row in answered)
                assert billed == sum(-(-len(text) // 4) for text in texts), "each text is billed once"
    record_property("kill", killed)
