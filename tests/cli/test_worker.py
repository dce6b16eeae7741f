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

import pytest

from tests.cli.conftest import Run, rows
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.waiting import becomes_true, lines_of

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


def check(folder: Path, out: str) -> None:
    assert [row["response"] for row in rows(folder / out)] == [f"river {n}" for n in range(ROWS)]
    assert len((folder / "calls.log").read_text().split()) == ROWS


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
def test_a_run_starts_processes_of_its_own(postgres: PostgresServer, folder: Path) -> None:
    log, journal = folder / "calls.log", postgres.journal()
    ask = ("--model", f"mock:echo?latency=0.05&log={log}", "--max-in-flight", "4")
    with started(folder, "run", "-", "-o", "out.jsonl", "--journal", journal, *ask, "--processes", "2") as process:
        run = Fed(process, log)
        run.feed_until_another_has_settled(postgres, journal)
        _, complained = process.communicate(timeout=60)
        assert process.returncode == 0, complained
    run.check(folder / "out.jsonl")


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
