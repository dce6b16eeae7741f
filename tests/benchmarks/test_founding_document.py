"""The founding document's commands and code samples, as they stand there, still work.

The `claude` program is a fake that says that it is one; everything else is the real thing.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fake_claude import RESULT, Program

ROOT = Path(__file__).parents[2]
COMMANDS = [
    "--backend claude-code --parallel",
    "--backend claude-code --trial-parallelism 4",
    "--backend claude-code --parallel --trial-parallelism 4",
    "--backend claude-code --max-data-size 500",
    "--trials 1 --backend claude-code --parallel --task trend --no-viz",
    "--trials 1 --backend claude-code --parallel --no-viz",
    "--mock --no-viz",
    "--backend claude-code --quick --parallel --task statistical",
    "--backend claude-code --parallel --trial-parallelism 4 --format all",
    "--backend api --parallel --format all",
    "--backend claude-code --skip-baseline-above 2000 --task scaling",
    "--task statistical",
    "--task trend",
]


@pytest.fixture
def environment(tmp_path):
    program = Program(tmp_path)
    program.prints([{**RESULT, "structured_output": {"answer": None}}])
    return {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "ANTHROPIC_API_KEY": "sk-not-a-key",
    }


@pytest.fixture
def benchmark(program, tmp_path):
    """Run `python -m benchmarks.run_benchmark ARGS` in an empty folder."""

    def run(*arguments, environment):
        env = {**environment, "PYTHONPATH": str(ROOT)}
        return program(*arguments, cwd=tmp_path, env=env, module="benchmarks.run_benchmark")

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_document_is_understood(command, monkeypatch):
    from batchwork.benchmarks import program, run_benchmark

    seen = []
    monkeypatch.setattr(program, "_run", lambda told: seen.append(program._runner(told)) or 0)
    assert run_benchmark.main(command.split()) == 0
    config = seen[0].config
    config.check()
    assert config.trials == (1 if "--trials 1" in command else 5 if "--quick" in command else 30)
    assert config.parallel_workers == (2 if "--parallel" in command.split() else 1)
    assert config.trial_parallelism == (4 if "--trial-parallelism" in command else 1)


def test_the_fastest_feedback_of_the_document_runs(benchmark, environment, tmp_path):
    command = "--trials 1 --backend claude-code --parallel --task trend --no-viz"
    ended = benchmark(*command.split(), environment=environment)
    assert ended.returncode == 0, ended.stderr
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 3, "one to warm up, then the two conditions"
    (folder,) = (tmp_path / "benchmark_results").iterdir()
    assert {"benchmark_results.json", "benchmark_results.csv", "benchmark_report.md"} <= {
        p.name for p in folder.iterdir()
    }


PROGRAMMATIC = """
from batchwork.benchmarks.config import BenchmarkConfig
from batchwork.benchmarks.runner import BenchmarkRunner
from batchwork.benchmarks.claude_client import BackendType

config = BenchmarkConfig.quick_mode()
config.parallel_workers = 2        # Enable condition parallelism
config.trial_parallelism = 4       # 4 concurrent trials

config.tasks, config.charts = ("trend",), False
runner = BenchmarkRunner(config, backend=BackendType.CLAUDE_CODE)
results = runner.run_all()
print(len(results.calls), results.aborted)
"""


def test_the_programmatic_configuration_of_the_document_runs(environment, tmp_path):
    env = {**environment, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAMMATIC]
    ended = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=300, check=False)
    assert ended.stdout.split() == ["10", "None"], ended.stderr


def test_the_documents_client_interface_is_there():
    from batchwork.benchmarks.claude_client import BackendType, ClaudeCodeClient, ClaudeResponse, ClientType, get_client
    from batchwork.benchmarks.tasks import BaseTask

    client: ClientType = get_client(BackendType.MOCK)
    answers = [
        client.query("colour: blue\n\nWhat is the colour?", system=None),
        client.query_baseline("colour: blue", "What is the colour?"),
        client.query_treatment("colour: blue", "What is the colour?"),
    ]
    assert all(isinstance(answer, ClaudeResponse) and answer.text == "blue" for answer in answers)
    assert isinstance(get_client("claude-code"), ClaudeCodeClient)
    assert callable(BaseTask.run)
    assert callable(BaseTask.run_single_trial)


def test_three_errors_in_a_row_abort_with_the_documents_words(benchmark, environment):
    command = "--mock --model mock:reader?faults=rejected:1 --trials 2 --no-viz"
    ended = benchmark(*command.split(), environment=environment)
    assert ended.returncode == 4
    assert "ERROR: Aborting: 3 consecutive API errors. Total errors: 3." in ended.stderr


def test_a_program_that_is_not_there_is_named_with_its_remedy(benchmark, tmp_path):
    command = "--backend claude-code --trials 1 --task trend --no-viz"
    ended = benchmark(*command.split(), environment={"PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert ended.returncode == 2
    assert "claude CLI not found" in ended.stderr
    assert "npm install -g @anthropic-ai/claude-code" in ended.stderr


def test_a_program_that_does_not_answer_fails_its_warm_up(benchmark, environment, tmp_path):
    Program(tmp_path).prints(
        [{**RESULT, "is_error": True, "api_error_status": 401, "result": "Invalid API key"}], code=1
    )
    command = "--backend claude-code --trials 1 --task trend --no-viz"
    ended = benchmark(*command.split(), environment=environment)
    assert ended.returncode == 4
    assert "warmup failed" in ended.stderr
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 1
