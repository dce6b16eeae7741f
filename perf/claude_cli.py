"""What the real `claude` program does in bulk, measured against the simulator (docs/claude_code_cli_research.md).

`BATCHWORK_CLAUDE=PATH python -m perf.claude_cli` (`make test-real` installs the program). Its environment is built from
nothing, so that no login of the machine is used. It has no bar: it describes somebody else's program.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from batchwork.simulator import Simulator

QUESTION = "Total: $1,250.00\n\nWhat is the total?"
SYSTEM = ("--system-prompt", "Answer the user.")
SCHEMA = ("--json-schema", '{"type":"object","properties":{"total":{"type":"number"}},"required":["total"]}')
CASES = [
    ("its own system prompt", (), None, {}),
    ("ours", SYSTEM, None, {}),
    ("a schema", (*SYSTEM, *SCHEMA), None, {}),
    *((f"the API answers {status}", SYSTEM, status, {}) for status in ("400", "401", "429", "500", "529")),
    ("a budget of $0.000001", (*SYSTEM, "--max-budget-usd", "0.000001"), None, {}),
    ("529 with its own retries", SYSTEM, "529", {"CLAUDE_CODE_MAX_RETRIES": "10"}),
]


def main() -> int:
    program = os.environ.get("BATCHWORK_CLAUDE", "")
    if not Path(program).is_file():
        print("BATCHWORK_CLAUDE does not name the claude program (make test-real installs it)", file=sys.stderr)
        return 2
    version = subprocess.run([program, "--version"], capture_output=True, text=True, env=bare("/nowhere"), check=False)
    program = str(Path(program).resolve())
    print(version.stdout.strip())
    print(f"{'':26} {'wall s':>6} {'CPU s':>6} {'MB':>4} {'exit':>4} {'calls':>5} {'tokens in':>9}  said")
    for name, told, fault, environment in CASES:
        with Simulator() as simulator:
            simulator.next_faults("live", [fault] * 20 if fault else [])
            print(f"{name:26} {call(program, simulator, told, environment)}", flush=True)
    return 0


def bare(home: str) -> dict[str, str]:
    quiet = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER")
    return {
        "HOME": home,
        "CLAUDE_CONFIG_DIR": f"{home}/config",
        "PATH": os.environ["PATH"],
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        **dict.fromkeys(quiet, "1"),
    }


def call(program: str, simulator: Simulator, told: tuple[str, ...], environment: dict[str, str]) -> str:
    with tempfile.TemporaryDirectory() as home:
        env = {
            **bare(home),
            "ANTHROPIC_BASE_URL": simulator.anthropic_url,
            "ANTHROPIC_API_KEY": "dummy",
            **environment,
        }
        command = [program, "-p", "--output-format", "json", "--model", "sonnet", "--tools", "", *told]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        try:
            run = subprocess.run(
                command, input=QUESTION, capture_output=True, text=True, env=env, cwd=home, timeout=40, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no end within 40 s; {simulator.log()['total']['received']} calls by then"
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    said = json.loads(run.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    usage = said["usage"]
    tokens = usage["input_tokens"] + usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"]
    told_us = {
        name: said.get(name) for name in ("subtype", "is_error", "api_error_status", "num_turns", "total_cost_usd")
    }
    answer = said.get("structured_output") or said.get("result") or said.get("errors")
    calls = simulator.log()["total"]["received"]
    sizes = f"{wall:6.2f} {cpu:6.2f} {after.ru_maxrss // 1024:4} {run.returncode:4} {calls:5} {tokens:9}"
    return f"{sizes}  {json.dumps(told_us)} {json.dumps(answer)[:60]}"


if __name__ == "__main__":
    sys.exit(main())
