"""A fake of the claude program: a script that says that it is one, calls no model and prints what it is told to."""

import asyncio
import json
import stat
import sys
from pathlib import Path

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.request import Request
from batchwork.settings import Settings

FAKE = """#!{python}
# A fake of the claude program, made by a test. It calls no model.
import json, os, subprocess, sys, time
here = os.path.dirname(os.path.abspath(__file__))
plan = json.load(open(os.path.join(here, "plan.json")))
prompt = sys.stdin.read()
place = sys.argv[sys.argv.index("--system-prompt-file") + 1]
system = {{"path": place, "text": open(place).read(), "mode": os.stat(place).st_mode & 0o777}}
with open(os.path.join(here, "calls.jsonl"), "a") as log:
    told = {{"args": sys.argv[1:], "prompt": prompt, "env": dict(os.environ), "cwd": os.getcwd(),
            "lying_about": os.listdir("."), "pid": os.getpid(),
            "system": system}}
    log.write(json.dumps(told) + "\\n")
if plan.get("slow_once") and not os.path.exists(os.path.join(here, "was_slow")):
    open(os.path.join(here, "was_slow"), "w").write("yes")
    time.sleep(600)
if plan.get("die"):
    os.kill(os.getpid(), 9)
if plan.get("hang"):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open(os.path.join(here, "child.pid"), "w").write(str(child.pid))
    time.sleep(600)
sys.stderr.write(plan.get("stderr", ""))
if plan.get("echo"):
    plan["stdout"][-1]["result"] = prompt
sys.stdout.write(plan["stdout"] if isinstance(plan.get("stdout"), str) else json.dumps(plan.get("stdout")))
sys.exit(plan.get("code", 0))
"""

RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "api_error_status": None,
    "result": "fake answer",
    "stop_reason": "end_turn",
    "session_id": "s-1",
    "total_cost_usd": 0.0016469999999999998,
    "usage": {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_creation_input_tokens": 300,
        "cache_read_input_tokens": 4000,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
    },
    "modelUsage": {"fake-model": {"costUSD": 0.0016}},
}
ERROR = {**RESULT, "is_error": True, "total_cost_usd": 0, "usage": {}, "stop_reason": "stop_sequence"}


def assistant(name, text, **fields):
    said = {"id": name, "model": "fake-model", "content": [{"type": "text", "text": text}], **fields}
    return {"type": "assistant", "message": said}


class Program:
    """A folder with a fake program that prints what it is told to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "claude"
        self.path.write_text(FAKE.format(python=sys.executable))
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)
        self.prints([RESULT])

    def prints(self, stdout, **plan):
        (self.folder / "plan.json").write_text(json.dumps({"stdout": stdout, **plan}))

    def open(self, model="claude-code:sonnet", *, environment=None, **fields):
        env = {"PATH": str(self.folder), **(environment or {})}
        settings = Settings.from_environment(env)
        setup = Setup(clock=SystemClock(), max_in_flight=2, settings=settings, **fields)
        return open_backend(model, setup)[0]

    def ask(self, request=None, *, ceiling_nano=None, **fields):
        async def main():
            backend = self.open(**fields)
            try:
                return await backend.complete(request or Request.ask("Is it?"), ceiling_nano=ceiling_nano)
            except BackendError as error:
                return error.failure
            finally:
                await backend.aclose()

        return asyncio.run(main())

    @property
    def call(self):
        return json.loads((self.folder / "calls.jsonl").read_text().splitlines()[-1])

    def option(self, name):
        args = self.call["args"]
        return args[args.index(name) + 1] if name in args else None


async def until_written(path: Path) -> None:
    """Wait until another process has written this file."""
    for _ in range(3000):
        if _has_text(path):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"nobody wrote {path}")


def _has_text(path: Path) -> bool:
    return path.exists() and bool(path.read_text())
