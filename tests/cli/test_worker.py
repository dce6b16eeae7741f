"""`batchwork worker` and `run --processes`: more processes for one run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from batchwork.cli import options
from batchwork.cli.journals import options_of
from batchwork.core.event import Began
from batchwork.options import RunOptions, plan_of
from batchwork.settings import BASE_URL, environment_for
from tests.cli.conftest import Run, rows
from tests.support.postgres_server import PostgresServer, why_not

needs_database = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
ROWS = 160  # far more than one process asks until another one is there


@pytest.fixture
def many(folder: Path) -> Path:
    path = folder / "many.jsonl"
    path.write_text("".join(json.dumps({"prompt": f"river {n}"}) + "\n" for n in range(ROWS)))
    return path


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "batchwork", *arguments]
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "120", "NO_COLOR": "1"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def check(folder: Path, out: str) -> None:
    assert [row["response"] for row in rows(folder / out)] == [f"river {n}" for n in range(ROWS)]
    assert len((folder / "calls.log").read_text().split()) == ROWS


@needs_database
def test_a_worker_and_a_second_run_share_the_calls_and_each_run_writes_its_own_file(
    batchwork: Run, postgres: PostgresServer, folder: Path, many: Path
) -> None:
    ask = ("--model", f"mock:echo?latency=0.25&log={folder / 'calls.log'}", "--max-in-flight", "2", "-q")
    journal = postgres.journal()
    with started(folder, "run", str(many), "-o", "a.jsonl", "--journal", journal, *ask) as first:
        while not (folder / "calls.log").exists():
            assert first.poll() is None
        with started(folder, "run", str(many), "-o", "b.jsonl", "--journal", journal, *ask) as second:
            done = batchwork("worker", journal)
            assert done.returncode == 0, done.stderr
            assert int(re.search(r"(\d+) items settled by this process", done.stderr)[1]) >= 1
            for process in (first, second):
                _, complained = process.communicate(timeout=60)
                assert process.returncode == 0, complained
    check(folder, "a.jsonl")
    check(folder, "b.jsonl")


@needs_database
def test_a_run_starts_processes_of_its_own(batchwork: Run, postgres: PostgresServer, folder: Path, many: Path) -> None:
    model = f"mock:echo?latency=0.25&log={folder / 'calls.log'}"
    journal = postgres.journal()
    command = ("run", str(many), "-o", "out.jsonl", "--journal", journal, "--model", model, "--processes", "2")
    assert "one process's affair" in " ".join(batchwork(*command, "--mode", "batch").stderr.split())
    done = batchwork(*command, "--max-in-flight", "2", "--rpm", "60000")
    assert done.returncode == 0, done.stderr
    assert "own part" in done.stderr
    check(folder, "out.jsonl")
    schema = f"batchwork_{journal.rpartition('=')[2]}"
    helped = postgres.execute(f'SELECT standing[2] FROM "{schema}".worker WHERE NOT is_owner')
    assert [count > 0 for (count,) in helped] == [True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("worker", "many.jsonl.journal.db"), "one process writes"),
        (("run", "many.jsonl", "-o", "o.jsonl", "--model", "mock:echo", "--processes", "2"), "needs --journal"),
    ],
)
def test_what_one_process_alone_can_do_is_refused_with_the_reason(
    batchwork: Run, many: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert many.exists()
    done = batchwork(*arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


_IN_THE_REQUESTS = {"prompt", "template", "per_row", "system", "max_tokens", "schema", "sampling", "extra_body"}
_OF_WHO_READS_THE_INPUT = {"fresh", "retry_failed", "on_event", "notify", "progress", "view", "cancel_on_interrupt"}
_OF_EACH_PROCESS = {"api_key", "backend", "response_model"}  # of its environment, or its program


def test_every_other_option_of_a_run_reaches_its_workers() -> None:
    given: Any = {
        "model": "mock:echo",
        "journal": "run.db",
        "mode": "live",
        "max_cost": "1.5",
        "account": ["team"],
        "price": "1,2",
        "base_url": "http://127.0.0.1:1/v1",
        "max_in_flight": 7,
        "retries": 2,
        "rpm": 11.0,
        "input_tpm": 12.0,
        "output_tpm": 13.0,
        "timeout": 14.0,
        "timeout_per_1k_chars": 15.0,
        "max_wait": 16.0,
        "max_consecutive_failures": 17,
        "retry_in_place": True,
        "reask": 3,
        "count_margin": 0.18,
        "items_per_batch": 19,
        "max_parallel_batches": 20,
        "poll_interval": 21.0,
        "adopt_wait": 22.0,
        "results_wait": 23.0,
    }
    assert set(given) == set(RunOptions.__annotations__) - (
        _IN_THE_REQUESTS | _OF_WHO_READS_THE_INPUT | _OF_EACH_PROCESS
    )
    plan = plan_of(given)
    began = Began(run_id="r", model=plan.model, settings=plan.settings)
    assert plan_of(options_of(began, Path("run.db"), {"base_url": None})) == plan


def test_an_address_with_a_secret_reaches_workers_by_their_environment_alone() -> None:
    address = "http://127.0.0.1:1/v1?key=secret"
    assert "secret" not in str(plan_of({"model": "mock:echo", "base_url": address}).settings)
    app = typer.Typer()
    app.command()(_show)
    environment = environment_for("run.db", base_url=address)
    assert CliRunner().invoke(app, [], env={BASE_URL: environment[BASE_URL]}).output.strip() == address


def _show(base_url: options.WorkerBaseUrl = None) -> None:
    print(base_url)
