"""`batchwork worker` and `run --processes`: more processes for one run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from batchwork.simulator import Simulator
from tests.cli.conftest import Run, rows
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.waiting import becomes_true, lines_of

needs_database = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "batchwork", *arguments]
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "120", "NO_COLOR": "1"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@dataclass
class Fed:
    """A `batchwork run` that reads its rows from here, and so cannot end before it is let."""

    process: subprocess.Popen[str]
    log: Path
    rows: list[str] = field(default_factory=list)

    def feed(self) -> None:
        assert self.process.stdin is not None
        for _ in range(20):
            self.rows.append(f"river {len(self.rows)}")
            self.process.stdin.write(json.dumps({"prompt": self.rows[-1]}) + "\n")
        self.process.stdin.flush()
        assert becomes_true(lambda: lines_of(self.log) == len(self.rows), unless=self.has_ended)

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def feed_until_another_has_settled(self, postgres: PostgresServer, journal: str) -> None:
        """However long the other one takes to start."""
        settled = f'SELECT standing[2] FROM "batchwork_{journal.rpartition("=")[2]}".worker WHERE NOT is_owner'
        self.feed()
        while not any(count for (count,) in postgres.execute(settled)):
            self.feed()

    def check(self, out: Path) -> None:
        assert [row["response"] for row in rows(out)] == self.rows
        assert lines_of(self.log) == len(self.rows)


@needs_database
def test_a_worker_and_a_second_run_share_the_calls_and_each_run_writes_its_own_file(
    postgres: PostgresServer, folder: Path
) -> None:
    ask = ("--model", f"mock:echo?latency=0.05&log={folder / 'calls.log'}", "--max-in-flight", "4", "-q")
    journal = postgres.journal()
    with started(folder, "run", "-", "-o", "a.jsonl", "--journal", journal, *ask) as first:
        run = Fed(first, folder / "calls.log")
        run.feed()
        with started(folder, "worker", journal) as worker:
            run.feed_until_another_has_settled(postgres, journal)
            source = folder / "many.jsonl"
            source.write_text("".join(json.dumps({"prompt": row}) + "\n" for row in run.rows))
            with started(folder, "run", str(source), "-o", "b.jsonl", "--journal", journal, *ask) as second:
                said = [process.communicate(timeout=60)[1] for process in (first, second, worker)]
                assert [process.returncode for process in (first, second, worker)] == [0, 0, 0], said
    assert int(re.search(r"(\d+) items settled by this process", said[2])[1]) >= 1
    run.check(folder / "a.jsonl")
    run.check(folder / "b.jsonl")


@needs_database
def test_a_run_starts_processes_of_its_own(batchwork: Run, postgres: PostgresServer, folder: Path) -> None:
    log, journal = folder / "calls.log", postgres.journal()
    ask = ("--model", f"mock:echo?latency=0.05&log={log}", "--max-in-flight", "4", "--rpm", "60000")
    command = ("run", "-", "-o", "out.jsonl", "--journal", journal, *ask, "--processes", "2")
    with started(folder, *command) as process:
        run = Fed(process, log)
        run.feed_until_another_has_settled(postgres, journal)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    assert "own part" in said
    run.check(folder / "out.jsonl")


@needs_database
def test_processes_share_a_run_in_provider_batches(postgres: PostgresServer, folder: Path) -> None:
    texts = [f"river {number}" for number in range(90)]
    (folder / "many.jsonl").write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
    with Simulator(persona="echo", batch_time_s=0.2, key_required=False) as provider:
        asked = ("--model", "openai:gpt-6-luna", "--base-url", provider.openai_url, "--max-cost", "1")
        batches = ("--mode", "batch", "--poll-interval", "0.1", "--processes", "2")
        command = ("run", "many.jsonl", "-o", "out.jsonl", "--journal", postgres.journal(), *asked, *batches)
        with started(folder, *command) as process:
            _, said = process.communicate(timeout=90)
        billed = [row["billed"] for row in provider.log()["prompts"].values()]
    assert process.returncode == 0, said
    assert [row["response"] for row in rows(folder / "out.jsonl")] == texts
    assert billed == [1] * len(texts)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("worker", "many.jsonl.journal.db"), "one process writes"),
        (("run", "many.jsonl", "-o", "o.jsonl", "--model", "mock:echo", "--processes", "2"), "needs --journal"),
    ],
)
def test_what_one_process_alone_can_do_is_refused_with_the_reason(
    batchwork: Run, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "many.jsonl").write_text('{"prompt": "river"}\n')
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
