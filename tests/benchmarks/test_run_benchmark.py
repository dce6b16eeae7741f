"""The program as a user runs it, with the literal reader: what it writes, prints, and refuses."""

import json
import re
import subprocess
import sys

import pytest

from batchwork.benchmarks.report import LIMITS
from batchwork.benchmarks.report.__main__ import main as report
from batchwork.simulator import Simulator, SimulatorConfig
from tests.support.benchmark_program import QUICK, folders


def test_a_run_writes_a_new_folder_with_every_trial_and_the_report(run, tmp_path):
    status, out, _ = run("--mock", *QUICK)
    assert status == 0
    (folder,) = folders(tmp_path)
    assert {p.name for p in folder.iterdir()} >= {
        "plan.json", "journal.db", "run.json", "trials.jsonl",
        "benchmark_results.json", "benchmark_results.csv", "benchmark_report.md",
    }  # fmt: skip
    calls = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert len(calls) == 6 * 2 * 2
    settings = json.loads((folder / "run.json").read_text())["settings"]
    assert settings["invented_error"].keys() == {
        "false_alarm_listed", "false_alarm_unlisted", "miss_50", "miss_500", "miss_5000",
    }  # fmt: skip
    assert 0 < settings["invented_false_alarm_rate"] < settings["invented_error"]["false_alarm_unlisted"]
    assert out.splitlines()[0] == f"mock:reader: literal reader, not a language model. {' '.join(LIMITS)}"
    assert "literal reader, not a language model" in (folder / "benchmark_report.md").read_text()


def test_a_second_run_never_touches_the_first(run, tmp_path):
    run("--mock", *QUICK, "--task", "trend")
    before = {path: path.read_bytes() for path in folders(tmp_path)[0].iterdir() if path.is_file()}
    run("--mock", *QUICK, "--task", "trend")
    assert len(folders(tmp_path)) == 2
    assert {path: path.read_bytes() for path in before} == before


def test_the_same_seed_asks_the_same_and_another_seed_something_else(run, tmp_path):
    hashes = []
    for seed in ("1", "1", "2"):
        run("--mock", *QUICK, "--task", "trend", "--seed", seed, "--output", str(tmp_path / "benchmark_results"))
        calls = (folders(tmp_path)[-1] / "trials.jsonl").read_text().splitlines()
        hashes.append([json.loads(line)["prompt_sha256"] for line in calls])
    assert hashes[0] == hashes[1] != hashes[2]


def test_several_tasks_treatments_and_another_baseline(run, tmp_path):
    status, out, _ = run(
        "--mock", *QUICK, "--task", "trend", "--task", "anomaly", "--baseline", "csv",
        "--treatment", "frame", "--treatment", "summary-stats", "--treatment", "batchwork.benchmarks.prompts:_raw",
    )  # fmt: skip
    assert status == 0
    for word in ("csv", "frame", "summary-stats", "batchwork.benchmarks.prompts:_raw", "trend", "anomaly"):
        assert word in out


def test_formats_are_written_as_told(run, tmp_path):
    run("--mock", *QUICK, "--task", "trend", "--format", "csv")
    names = {path.name for path in folders(tmp_path)[0].iterdir()}
    assert "benchmark_results.csv" in names
    assert not names & {"benchmark_results.json", "benchmark_report.md", "report.html"}


def test_quiet_prints_nothing(run):
    assert run("--mock", *QUICK, "--task", "trend", "--quiet") == (0, "", "")


def test_help_has_every_flag_and_examples(run):
    status, out, _ = run("--help")
    assert status == 0
    flags = (
        "backend mock parallel trial-parallelism max-data-size skip-baseline-above quick trials task format no-viz"
        " output quiet model timeout treatment baseline seed max-cost max-in-flight resume prompts-per-5h plan base-url"
        " power detect discordance price"
    )
    for flag in flags.split():
        assert f"--{flag}" in out
    assert "examples:" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--trials", "0"], "at least 1"),
        (["--trials", "three"], "not a whole number"),
        (["--task", "trends"], "invalid choice"),
        (["--mock", "--backend", "api"], "not allowed with"),
        (["--mock", "--treatment", "frame", "--baseline", "frame"], "'frame' is the baseline and a treatment too"),
        (["--mock", "--baseline", "frame"], "name another with --baseline or --treatment"),
        (["--mock", "--treatment", "nothing"], "unknown condition 'nothing'"),
        (["--mock", "--treatment", "no.such:thing"], "No module named"),
        (["--mock", "--model", "openai:gpt-6-luna"], "is not of --backend mock"),
        (["--mock", "--max-data-size", "20"], "not a whole number of at least 50"),
        (["--mock", "--output", "a-file"], "Not a directory; choose another --output"),
        (["--mock", "--base-url", "http://127.0.0.1:9"], "--base-url means nothing to --backend mock: leave it out"),
        (["--backend", "local", "--base-url", "http://127.0.0.1:9"], "--base-url means nothing to --backend local"),
        (["--resume", "nowhere"], "is not the folder of a benchmark run"),
        (["--resume"], "no unfinished run"),
        (["--max-cost", "nan"], "not a number above 0"),
        (["--power", "1.5"], "power"),
        (["--discordance", "1.5"], "discordance"),
        (["--detect", "0.3", "--discordance", "0.2"], "a difference of 0.3 needs a discordance of as much, got 0.2"),
        (["--treatmnt", "frame"], "unrecognized arguments"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(run, tmp_path, arguments, said):
    (tmp_path / "a-file").write_text("mine")
    status, _, err = run(*arguments)
    assert status == 2
    assert said in err
    assert not (tmp_path / "benchmark_results").exists()


@pytest.mark.parametrize("output", ["/dev/null", "a-file/below"])
def test_an_output_that_cannot_be_is_refused_before_the_data_are_drawn(output, run, tmp_path, monkeypatch):
    (tmp_path / "a-file").write_text("mine")
    monkeypatch.setattr("batchwork.benchmarks.runner.BenchmarkRunner.lay_out", None)
    status, out, err = run("--mock", *QUICK, "--output", output)
    assert (status, out) == (2, "")
    assert f"cannot write into {output}: Not a directory; choose another --output" in err


def test_one_of_anything_is_not_called_many(run):
    status, out, _ = run("--mock", "--no-viz", "--max-data-size", "60", "--trials", "1", "--task", "trend")
    assert status == 0
    assert "1 task x 1 trial x 2 conditions (raw, frame): 2 calls, 1 at once" in out
    assert "of 1 question stand in frame" in out
    needed = run("--detect", "0.2", "--task", "trend")[1]
    assert "in a task by itself" in needed
    assert "over all" not in needed


def test_rendering_a_report_again_changes_nothing_in_it(run, tmp_path):
    run("--mock", *QUICK, "--task", "trend")
    (folder,) = folders(tmp_path)
    before = {path: path.read_bytes() for path in folder.glob("benchmark_re*")}
    assert len(before) == 3
    assert report([str(folder), "--no-viz"]) == 0
    assert {path: path.read_bytes() for path in before} == before


def test_a_missing_key_is_an_error_with_its_remedy(run, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    status, _, err = run("--backend", "api", *QUICK, "--task", "trend")
    assert status in (2, 4)
    assert "ANTHROPIC_API_KEY" in err


def test_a_price_that_is_not_known_is_asked_for_by_a_flag_that_there_is(run, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    nowhere = ["--model", "openai:mine", "--base-url", "http://127.0.0.1:9/v1"]
    status, _, err = run(*nowhere, *QUICK, "--task", "trend", "--max-cost", "5")
    assert (status, "--price IN,OUT" in err) == (2, True)
    status, _, _ = run("--mock", *QUICK, "--task", "trend", "--price", "1000,2000")
    assert status == 0
    (folder,) = folders(tmp_path)
    calls = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert all(
        call["cost_usd"] == pytest.approx(call["input_tokens"] / 1e3 + call["output_tokens"] / 500) for call in calls
    )
    status, _, err = run("--mock", *QUICK, "--task", "trend", "--price", "cheap")
    assert (status, "cheap" in err) == (2, True)


def test_power_says_how_many_trials_are_needed_and_sends_nothing(run, tmp_path):
    status, out, _ = run("--power", "0.8", "--detect", "0.1")
    assert status == 0
    assert "--trials" in out
    assert "assuming that 40% of the trials are answered rightly in one condition only" in out
    assert not (tmp_path / "benchmark_results").exists()


def test_the_trials_needed_follow_from_the_discordance_assumed_and_it_is_said(run):
    few, many = (run("--detect", "0.1", "--discordance", share)[1] for share in ("0.2", "0.7"))
    assert "assuming that 20% of the trials" in few
    assert "assuming that 70% of the trials" in many
    together, alone = zip(*(map(int, re.findall(r"--trials (\d+)", out)) for out in (few, many)), strict=True)
    assert together[0] < together[1]
    assert alone[0] < alone[1]
    assert "assuming that 60% of the trials" in run("--detect", "0.6")[1]  # fewer cannot differ by so much


def test_a_run_against_the_simulator_says_so_gives_no_verdict_and_warns_that_it_is_small(run, monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of nobody")
    with Simulator(SimulatorConfig.from_options()) as provider:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.anthropic_url)
        sizes = ("--max-data-size", "60", "--trials", "3", "--task", "trend")
        status, out, err = run("--backend", "api", "--no-viz", *sizes)
    assert status == 0
    assert "anthropic:claude-sonnet-5-5: the simulator of batchwork, not a language model. It shows that" in out
    assert "more often" not in out
    assert "of 3 questions stand in frame" in out
    assert "3 pairs can show no difference, however large; --detect 0.1" in err
    (folder,) = folders(tmp_path)
    assert "> **the simulator of batchwork, not a language model**" in (folder / "benchmark_report.md").read_text()


def test_more_than_four_workers_warn_on_the_claude_program():
    from batchwork.benchmarks.claude_client import BackendType
    from batchwork.benchmarks.config import BenchmarkConfig
    from batchwork.benchmarks.runner import BenchmarkRunner

    def said(calls=10, **fields):
        return " ".join(BenchmarkRunner(BenchmarkConfig(**fields), BackendType.CLAUDE_CODE).cautions(calls))

    assert "8 calls at once may hit rate limits" in said(parallel_workers=2, trial_parallelism=4)
    assert said(trial_parallelism=4) == ""
    assert "2 are recommended on max5x" in said(trial_parallelism=4, plan="max5x")
    assert "360 calls are planned; max5x allows 50 to 200" in said(360, plan="max5x")


def test_help_needs_nothing_that_is_an_extra():
    code = (
        "import sys; sys.modules['numpy'] = None\nfrom batchwork.benchmarks.run_benchmark import main; main(['--help'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--treatment" in shown.stdout
