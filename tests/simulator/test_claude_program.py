"""The real Claude Code program answers through the simulator.

Needs the program (`npm install @anthropic-ai/claude-code` in a scratch folder): `BATCHWORK_CLAUDE` names it.
Its environment is built from nothing, so that no login of the machine is used.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.environ.get("BATCHWORK_CLAUDE", "")

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not Path(PROGRAM).is_file(), reason="BATCHWORK_CLAUDE does not name the claude program"),
]


def run(sim, tmp_path, prompt, *more):
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home, work):
        folder.mkdir(exist_ok=True)
    environment = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / "config"),
        "PATH": os.environ["PATH"],
        "ANTHROPIC_BASE_URL": sim.anthropic_url,
        "ANTHROPIC_API_KEY": "dummy",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }
    arguments = [PROGRAM, "-p", "--output-format", "json", "--model", "claude-haiku-4-5", "--tools", ""]
    arguments += ["--system-prompt", "Answer from the text.", "--no-session-persistence", "--strict-mcp-config", *more]
    done = subprocess.run(
        arguments, input=prompt, env=environment, cwd=work, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, json.loads(done.stdout)


def test_it_gets_an_answer_and_both_agree_on_the_cost(start, tmp_path):
    sim = start(persona="reader")
    code, told = run(sim, tmp_path, "Total: $1,250.00\nTax: $50.00\n\nWhat is the total?")
    assert (code, told["is_error"], told["result"]) == (0, False, "$1,250.00")
    log = sim.log()
    assert (log["total"]["received"], log["total"]["answered"]) == (1, 1)
    assert log["other"]["HEAD /"] == 1
    assert round(told["total_cost_usd"] * 10**9) == log["total"]["nano_dollars"]


def test_it_gets_structured_output(start, tmp_path):
    schema = {
        "type": "object",
        "properties": {"total": {"type": "number"}, "invoice_number": {"type": "string"}},
        "required": ["total", "invoice_number"],
        "additionalProperties": False,
    }
    sim = start(persona="reader")
    prompt = "Invoice number: INV-7\nTotal: $1,250.00\n\nExtract the fields."
    code, told = run(sim, tmp_path, prompt, "--json-schema", json.dumps(schema))
    assert (code, told["structured_output"]) == (0, {"total": 1250, "invoice_number": "INV-7"})


def test_it_reports_an_overloaded_provider(start, tmp_path):
    sim = start()
    sim.set_faults("529=1")
    code, told = run(sim, tmp_path, "hello")
    assert (code, told["is_error"], told["api_error_status"]) == (1, True, 529)
