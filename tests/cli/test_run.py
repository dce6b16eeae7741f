"""How a run ends: exit codes, what is kept, and the line that says what to do next."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, rows
from tests.support.waiting import becomes_true, lines_of

PRICED = ("--prompt", "Say {text}", "--price", "1,1", "--max-tokens", "100")


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "batchwork", *arguments]
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_budget_stop_defers_the_rest_and_more_money_takes_it_up(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", *PRICED)
    stopped = batchwork(*command, "--max-cost", "0.0002")
    assert stopped.returncode == 3
    assert "higher --max-cost" in stopped.stderr
    statuses = [a["status"] for a in rows(folder / "out.jsonl")]
    assert "deferred" in statuses
    assert len(statuses) == 10
    assert f"deferred {statuses.count('deferred')} wait for money" in stopped.stderr
    assert batchwork(*command, "--max-cost", "1").returncode == 0
    assert len((folder / "calls.log").read_text().split()) == 10


def test_failed_items_are_exit_1_and_retry_tries_only_them(batchwork: Run, rivers: Path, folder: Path) -> None:
    faulty = "mock:echo?faults=rejected:0.5&seed=3&log=calls.log"
    done = batchwork("run", rivers.name, "-o", "out.jsonl", "--model", faulty, "--prompt", "Say {text}")
    failed = sum(a["status"] == "failed" for a in rows(folder / "out.jsonl"))
    assert done.returncode == 1
    assert 0 < failed < 10
    assert "batchwork retry" in done.stderr
    calls = len((folder / "calls.log").read_text().split())
    batchwork("retry", "out.jsonl.journal.db")
    assert len((folder / "calls.log").read_text().split()) == calls + failed
    assert sum(a["status"] == "failed" for a in rows(folder / "out.jsonl")) < failed


def test_the_end_and_the_status_tell_the_same_figures_and_the_failures_by_kind(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    faulty = "mock:echo?faults=server:0.4&seed=3"
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", faulty, "--prompt", "Say {text}", "--retries", "0")
    done = batchwork(*command)
    failed = sum(a["status"] == "failed" for a in rows(folder / "out.jsonl"))
    assert "10 rows written to out.jsonl" in done.stderr
    assert f"failed   {failed} server, for example: injected by the mock" in done.stderr
    assert "this run 10 sent, 10 calls, 0 s" in done.stderr
    ending = done.stderr[done.stderr.index("journal  ") :]
    status = batchwork("status", "out.jsonl.journal.db").stdout
    lines = [line for line in status.splitlines() if not line.startswith(("model", "results"))]
    assert lines == ending.replace("this run", "last run").splitlines()
    again = batchwork(*command)
    assert f"nothing to send: all 10 were done before ({failed} of them failed)" in again.stderr
    assert "resumed: the journal has 10 items that earlier runs have settled" in again.stderr


def test_a_wrong_key_pauses_with_exit_4_and_leaves_the_items_pending(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    model = "mock:echo?faults=auth:1"
    done = batchwork("run", rivers.name, "-o", "out.jsonl", "--model", model, "--prompt", "Say {text}")
    assert done.returncode == 4
    assert "API key" in done.stderr
    assert done.stderr.lower().count("does not accept the credentials") == 1
    assert "10 pending" in done.stderr
    assert rows(folder / "out.jsonl") == []


def test_ctrl_c_lets_calls_in_flight_finish_and_a_rerun_goes_on(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--prompt", "Say {text}", "--max-in-flight", "2")
    process = _start(folder, *command, "--model", "mock:echo?latency=0.3&log=calls.log")
    assert becomes_true(lambda: lines_of(folder / "calls.log") >= 3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.count("stopping: 2 calls in flight are let finish, press Ctrl-C again to leave at once") == 1
    assert "run the same command again" in said
    kept = rows(folder / "out.jsonl")
    assert 2 <= len(kept) < 10
    assert {a["status"] for a in kept} == {"succeeded"}
    called = len((folder / "calls.log").read_text().split())
    assert called == len(kept)
    assert batchwork(*command, "--model", "mock:echo?latency=0.3&log=calls.log").returncode == 0
    assert len((folder / "calls.log").read_text().split()) == 10


@pytest.mark.parametrize(
    ("count", "row", "options"),
    [
        (1000, {"prompt": "row"}, ()),
        (1, {"messages": [{"role": "user", "content": "row"}]}, ()),
        (1, {"place": {"city": "row"}}, ("--prompt", "{place.city}")),
    ],
)
def test_a_pipe_that_brings_nothing_more_holds_up_neither_answers_nor_ctrl_c(
    folder: Path, count: int, row: dict[str, Any], options: tuple[str, ...]
) -> None:
    process = _start(folder, "run", "-", "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", *options)
    assert process.stdin is not None
    process.stdin.write((json.dumps(row) + "\n") * count)
    process.stdin.flush()
    assert becomes_true(lambda: lines_of(folder / "calls.log") >= count)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert "Fatal" not in process.communicate()[1]
    assert len(rows(folder / "out.jsonl")) == count


def test_a_second_ctrl_c_leaves_at_once(rivers: Path, folder: Path) -> None:
    process = _start(
        folder,
        "run",
        rivers.name,
        "-o",
        "out.jsonl",
        "--prompt",
        "{text}",
        "--model",
        "mock:echo?latency=50&log=calls.log",
    )
    assert becomes_true(lambda: lines_of(folder / "calls.log") >= 10)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert any("stopping:" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    _, said_after = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopping:" not in said_after


def test_a_second_process_on_the_same_journal_is_told_who_holds_it(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = (
        "run",
        rivers.name,
        "-o",
        "out.jsonl",
        "--prompt",
        "{text}",
        "--model",
        "mock:echo?latency=30&log=calls.log",
    )
    process = _start(folder, *command)
    try:
        assert becomes_true(lambda: lines_of(folder / "calls.log") >= 1)
        second = batchwork(*command)
        assert second.returncode == 2
        assert str(process.pid) in second.stderr
    finally:
        process.kill()
        process.communicate()


def test_a_run_whose_journal_lost_its_log_is_exit_2_and_sends_nothing(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    model = "mock:echo?latency=0.01&log=calls.log"
    command = ("run", rivers.name, "-o", "out.jsonl", "--prompt", "{text}", "--model", model)
    process = _start(folder, *command, "--max-in-flight", "1")
    assert becomes_true(lambda: lines_of(folder / "calls.log") >= 5)
    process.kill()
    process.communicate()
    (folder / "out.jsonl.journal.db-wal").unlink()
    sent = (folder / "calls.log").read_text()
    done = batchwork(*command)
    assert done.returncode == 2
    assert "out.jsonl.journal.db-wal is gone" in done.stderr
    assert "batchwork recover" in done.stderr
    assert (folder / "calls.log").read_text() == sent


def test_rows_on_standard_output_are_the_only_thing_there(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = ("run", rivers.name, "-o", "-", "--model", "mock:echo?log=calls.log", "--prompt", "Say {text}")
    done = batchwork(*command, "--journal", "j.db")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["response"] for line in done.stdout.splitlines()] == [f"Say river {i}" for i in range(10)]
    assert "10 rows written to standard output" in done.stderr
    assert batchwork(*command, "--journal", "j.db").stdout == done.stdout
    assert len((folder / "calls.log").read_text().split()) == 10
    assert batchwork("results", "j.db", "-o", "-").stdout == done.stdout
    assert batchwork("retry", "j.db", "-o", "-").stdout == done.stdout
    assert not (folder / "-").exists()


def test_standard_output_needs_a_journal_that_remembers_the_run(batchwork: Run, rivers: Path, folder: Path) -> None:
    done = batchwork("run", rivers.name, "-o", "-", "--model", "mock:echo?log=calls.log", "--prompt", "{text}")
    assert done.returncode == 2
    assert "-o - needs a file that remembers the run, for example --journal run.journal.db" in done.stderr
    assert not (folder / "calls.log").exists()


def test_a_reader_that_goes_away_ends_the_output_without_a_traceback(folder: Path) -> None:
    (folder / "in.jsonl").write_text("".join(json.dumps({"prompt": f"row {n}" * 20}) + "\n" for n in range(2000)))
    program = f"{sys.executable} -m batchwork run in.jsonl -o - --journal j.db --model mock:echo -q | head -n 1"
    done = subprocess.run(["sh", "-c", program], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout)["status"] == "succeeded"
    assert done.stderr == ""
