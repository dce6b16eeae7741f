"""A run that ends before its plan, aborted, killed, interrupted or out of space: what is kept, and how it goes on."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from batchwork.benchmarks.report.__main__ import main as report
from tests.support.benchmark_program import QUICK, ROOT, folders
from tests.support.waiting import becomes_true, lines_of


def no_space_for(name, monkeypatch):
    """Let every file be written but this one."""

    def write_whole(path, body):
        if path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        path.write_bytes(body)

    for module in (
        "batchwork.benchmarks.report.writing",
        "batchwork.benchmarks.report.runfiles",
        "batchwork.benchmarks.folder",
    ):
        monkeypatch.setattr(f"{module}.write_whole", write_whole)


def test_a_report_that_cannot_be_written_is_one_line_that_says_how_to_have_it(run, tmp_path, monkeypatch):
    with monkeypatch.context() as full:
        no_space_for("benchmark_report.md", full)
        status, _, err = run("--mock", *QUICK, "--task", "trend")
    (folder,) = folders(tmp_path)
    assert status == 4
    assert "ERROR: the run is kept, but its report could not be written: [Errno 28] No space left on device" in err
    assert f"mend that, then: python -m batchwork.benchmarks.report {folder.relative_to(tmp_path)}" in err
    assert "Traceback" not in err
    assert report([str(folder), "--no-viz"]) == 0
    assert (folder / "benchmark_report.md").exists()


@pytest.mark.parametrize("file", ["trials.jsonl", "run.json"])
def test_a_run_whose_calls_cannot_be_written_is_not_finished_and_goes_on(file, run, tmp_path, monkeypatch):
    with monkeypatch.context() as full:
        no_space_for(file, full)
        status, _, err = run("--mock", *QUICK, "--task", "trend")
    (folder,) = folders(tmp_path)
    assert (status, f"--resume {folder.relative_to(tmp_path)}" in err) == (4, True)
    assert run("--resume")[0] == 0
    assert (folder / "benchmark_report.md").exists()


def test_an_aborted_run_keeps_what_it_has_and_resumes(run, tmp_path):
    status, _, err = run("--mock", *QUICK, "--model", "mock:reader?faults=rejected:1", "--parallel")
    assert status == 4
    assert "ERROR: Aborting: 3 consecutive API errors. Total errors: " in err
    assert "--resume" in err
    (folder,) = folders(tmp_path)
    assert "Aborted before its end" in (folder / "benchmark_report.md").read_text()
    status, _, err = run("--resume", str(folder), "--trials", "7")
    assert status == 2
    assert "was begun with trials = 2, not 7" in err


def test_prompts_per_five_hours_stop_the_run_and_resume_says_when(run, tmp_path):
    status, _, err = run("--mock", *QUICK, "--task", "trend", "--prompts-per-5h", "3")
    assert status == 4
    assert "run again with --resume after" in err
    status, _, err = run("--resume")
    assert status == 4, "the five hours are not over"
    status, _, _ = run("--resume", "--prompts-per-5h", "100")
    assert status == 0
    (folder,) = folders(tmp_path)
    calls = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert [call["state"] for call in calls] == ["answered"] * 4
    assert run("--resume")[0] == 2, "nothing is left unfinished"


def test_a_killed_run_resumes_where_it_stopped(tmp_path):
    log = tmp_path / "calls.log"
    arguments = [
        sys.executable,
        "-m",
        "benchmarks.run_benchmark",
        "--mock",
        "--no-viz",
        "--quiet",
        "--max-data-size",
        "60",
    ]
    model = f"mock:reader?latency=0.2&log={log}"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*arguments, "--trials", "10", "--task", "trend", "--model", model]
    first = subprocess.Popen(command, cwd=tmp_path, env=env)
    try:
        assert becomes_true(lambda: lines_of(log) >= 5)
        time.sleep(0.1)  # into the middle of a call, when the answer before it is on disk
    finally:
        first.kill()
        first.wait()
    before = len(log.read_bytes().splitlines())
    assert 5 <= before < 20
    resumed = subprocess.run(
        [*arguments, "--resume", "--trial-parallelism", "20"], cwd=tmp_path, env=env, check=False, timeout=120
    )
    assert resumed.returncode == 0
    (folder,) = folders(tmp_path)
    calls = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert [call["state"] for call in calls] == ["answered"] * 20
    assert len(log.read_bytes().splitlines()) <= 20 + 1, "only the call that was cut off is made again"


def test_an_interrupted_run_keeps_and_reports_what_is_finished(tmp_path):
    log = tmp_path / "calls.log"
    told = "--mock --no-viz --max-data-size 60 --trials 40 --task trend"
    model = f"mock:reader?latency=0.05&log={log}"
    # A test runner in the background may ignore SIGINT, and a child would inherit that.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from batchwork.benchmarks.run_benchmark import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, *told.split(), "--model", model]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    assert becomes_true(lambda: lines_of(log) >= 5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in err
    (folder,) = folders(tmp_path)
    states = {json.loads(line)["state"] for line in (folder / "trials.jsonl").read_text().splitlines()}
    assert states == {"answered", "pending"}
    assert "interrupted" in (folder / "benchmark_report.md").read_text()


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_ctrl_c_while_the_program_is_still_loading_is_one_line(tmp_path):
    program = (
        "import sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\n"
        "from batchwork.benchmarks.run_benchmark import main\n"
        "sys.exit(main(['--mock']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ERROR: interrupted; nothing was sent\n")


def test_ctrl_c_while_the_data_are_drawn_promises_nothing_that_is_not_there(run, tmp_path, monkeypatch):
    monkeypatch.setattr("batchwork.benchmarks.runner.BenchmarkRunner.lay_out", interrupted)
    status, _, err = run("--mock", *QUICK)
    assert (status, err) == (130, "ERROR: interrupted; nothing was sent\n")
    assert not (tmp_path / "benchmark_results").exists()


def test_ctrl_c_in_the_warm_up_leaves_nothing_behind(run, tmp_path, monkeypatch):
    monkeypatch.setattr("batchwork.benchmarks.claude_client.MockClient.warms_up", True)
    monkeypatch.setattr("batchwork.benchmarks.runner.BenchmarkRunner.warmup", interrupted)
    status, _, err = run("--mock", *QUICK, "--quiet")
    assert (status, err) == (130, "ERROR: interrupted before the first question; nothing is left behind\n")
    assert folders(tmp_path) == []


def test_ctrl_c_twice_says_that_there_is_no_report_and_how_to_go_on(run, tmp_path, monkeypatch):
    with monkeypatch.context() as impatient:
        impatient.setattr("batchwork.benchmarks.runner.save_run", interrupted)
        status, _, err = run("--mock", *QUICK, "--task", "trend")
    (folder,) = folders(tmp_path)
    assert status == 130
    assert "interrupted before the report was written; every answer that came is kept: go on with" in err
    assert f"--resume {folder.relative_to(tmp_path)}" in err
    assert run("--resume", str(folder))[0] == 0


@pytest.mark.parametrize("both", [False, True])
def test_a_reader_that_goes_away_does_not_end_the_run(both, tmp_path):
    command = [sys.executable, "-m", "benchmarks.run_benchmark", "--mock", *QUICK, "--task", "trend"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    errors = subprocess.STDOUT if both else subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        process.stdout.close()
        err = "" if both else process.stderr.read()
    assert process.returncode == 0
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    (folder,) = folders(tmp_path)
    assert (folder / "benchmark_report.md").exists()


def test_the_quota_is_shared_by_all_runs_under_one_folder_and_counts_what_a_killed_one_spent(run, tmp_path):
    status, _, _ = run("--mock", *QUICK, "--task", "trend", "--prompts-per-5h", "3")
    assert status == 4
    (first,) = folders(tmp_path)
    plan = json.loads((first / "plan.json").read_text())
    (first / "plan.json").write_text(json.dumps({**plan, "sittings": []}))  # as a kill in the middle leaves it
    assert run("--resume", str(first))[0] == 4
    assert sum(sitting["calls"] for sitting in json.loads((first / "plan.json").read_text())["sittings"]) == 3
    status, _, err = run("--mock", *QUICK, "--task", "trend", "--prompts-per-5h", "3", "--seed", "1")
    assert status == 4
    assert "five hours are used up" in err


def test_a_run_that_could_not_begin_leaves_nothing_behind(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    status, _, err = run("--backend", "claude-code", *QUICK, "--task", "trend")
    assert (status, "claude CLI not found" in err) == (2, True)
    assert list((tmp_path / "benchmark_results").iterdir()) == []


def test_going_on_with_other_prompts_is_refused(run, tmp_path):
    run("--mock", *QUICK, "--task", "trend", "--prompts-per-5h", "3")
    (folder,) = folders(tmp_path)
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps({**plan, "config": {**plan["config"], "seed": 9}}))
    status, _, err = run("--resume", str(folder))
    assert (status, "begun with other prompts" in err) == (2, True)


def test_an_early_end_has_a_part_of_every_task(run, tmp_path):
    run("--mock", *QUICK, "--prompts-per-5h", "12")
    (folder,) = folders(tmp_path)
    calls = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert {call["task"] for call in calls if call["state"] == "answered"} == {
        "statistical", "trend", "anomaly", "comparative", "multi_step", "scaling",
    }  # fmt: skip
