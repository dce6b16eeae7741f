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

import pytest

from tests.cli.conftest import Run, rows
from tests.support.postgres_server import PostgresServer, why_not

needs_database = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
ROWS = 240


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
    ask = ("--model", f"mock:echo?latency=0.1&log={folder / 'calls.log'}", "--max-in-flight", "8", "-q")
    journal = postgres.journal()
    with started(folder, "run", str(many), "-o", "a.jsonl", "--journal", journal, *ask) as first:
        while not (folder / "calls.log").exists():
            assert first.poll() is None
        with started(folder, "run", str(many), "-o", "b.jsonl", "--journal", journal, *ask) as second:
            while "no run was ever started" in (done := batchwork("worker", journal)).stderr:
                assert first.poll() is None  # its first events are on their way to the database
            assert done.returncode == 0, done.stderr
            assert int(re.search(r"(\d+) items settled by this process", done.stderr)[1]) >= 1
            for process in (first, second):
                _, complained = process.communicate(timeout=60)
                assert process.returncode == 0, complained
    check(folder, "a.jsonl")
    check(folder, "b.jsonl")


@needs_database
def test_a_run_starts_processes_of_its_own(batchwork: Run, postgres: PostgresServer, folder: Path, many: Path) -> None:
    model = f"mock:echo?latency=0.1&log={folder / 'calls.log'}"
    journal = postgres.journal()
    command = ("run", str(many), "-o", "out.jsonl", "--journal", journal, "--model", model, "--processes", "2")
    assert "a shared account" in " ".join(batchwork(*command, "--rpm", "10").stderr.split())
    done = batchwork(*command, "--max-in-flight", "8")
    assert done.returncode == 0, done.stderr
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
