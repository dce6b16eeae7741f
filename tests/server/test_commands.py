"""`batchwork serve` and `batchwork ask`, as a user types them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from batchwork.cli import main
from batchwork.server import logs
from tests.support.program import Program

Run = Callable[..., tuple[int, str, str]]
RIVER = {"type": "object", "properties": {"river": {"type": "string"}}, "required": ["river"]}


@pytest.fixture
def batchwork(program: Program) -> Run:
    """Run `batchwork ARGS` in a folder; its exit code and what it printed."""

    def run(folder: Path, *arguments: str, stdin: str | None = None, **environment: str) -> tuple[int, str, str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "120", "NO_COLOR": "1", **environment}
        told = program(*arguments, cwd=folder, env=env, stdin=stdin)
        return told.returncode, told.stdout, told.stderr

    return run


def test_ask_prints_the_answer_and_says_that_it_is_a_mock(batchwork: Run, tmp_path: Path) -> None:
    code, out, err = batchwork(tmp_path, "ask", "hello there", "--model", "mock:echo")
    assert (code, out) == (0, "hello there\n")
    assert "no language model" in err
    assert batchwork(tmp_path, "ask", "-", "--model", "mock:echo", stdin="from stdin")[1] == "from stdin\n"


def test_ask_with_a_schema_and_a_path(batchwork: Run, tmp_path: Path) -> None:
    (tmp_path / "river.json").write_text(json.dumps(RIVER))
    asked = ("ask", '{"river": "Danube"}', "--model", "mock:echo", "--schema", "river.json")
    assert json.loads(batchwork(tmp_path, *asked)[1]) == {"river": "Danube"}
    assert batchwork(tmp_path, *asked, "--extract", "river")[1] == "Danube\n"
    code, out, err = batchwork(tmp_path, *asked, "--extract", "lake")
    assert (code, out) == (1, "")
    assert "no key 'lake'" in err
    whole = json.loads(batchwork(tmp_path, *asked, "--json")[1])
    assert (whole["status"], whole["usage"]["input_tokens"] > 0) == ("success", True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ask", "x", "--model", "nope:echo"], 2, "unknown model"),
        (["ask", "x", "--model", "mock:echo", "--extract", "a..b"], 2, "invalid_path"),
        (["ask", "x", "--model", "mock:echo", "--schema", "none.json"], 2, "cannot read the schema"),
        (["ask", "x", "--model", "mock:echo", "--max-cost", "0", "--price", "1,1"], 3, "over_budget"),
        (["serve"], 2, "--model is required"),
        (["serve", "--model", "nope:echo", "--port", "0"], 2, "unknown model"),
        (["serve", "--model", "mock:echo", "--host", "0.0.0.0"], 2, "loopback only"),
        (["serve", "--model", "mock:echo", "--key-file", "none"], 2, "cannot read the key file"),
        (["serve", "--model", "mock:echo", "--port", "99999"], 2, "port must be"),
        (["serve", "--model", "mock:echo", "--batch-size", "0"], 2, "--batch-size must be"),
        (["serve", "--model", "mock:echo", "--host", "256.1.1.1", "--key-file", "keys"], 2, "cannot listen"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "keys").write_text("a-key-that-is-long-enough\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BATCHWORK_API_KEYS", raising=False)
    monkeypatch.setattr(sys, "argv", ["batchwork", *arguments])
    monkeypatch.setattr(logs, "set_up", lambda: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert said in capsys.readouterr().err


def test_a_new_key_is_printed_once_and_kept_as_a_digest(batchwork: Run, tmp_path: Path) -> None:
    code, key, err = batchwork(tmp_path, "serve", "--new-key", "--key-file", "keys")
    assert code == 0
    assert key.startswith("bw-")
    assert key.strip() not in (tmp_path / "keys").read_text()
    assert "keys" in err
    assert batchwork(tmp_path, "serve", "--new-key")[1].strip() not in (tmp_path / "keys").read_text()


def test_a_key_that_is_too_short_is_refused_from_the_environment_too(batchwork: Run, tmp_path: Path) -> None:
    code, _, err = batchwork(tmp_path, "serve", "--model", "mock:echo", BATCHWORK_API_KEYS="short")
    assert code == 2
    assert "short" not in err.replace("shorter", "")


def test_serve_says_where_it_listens_and_what_the_budget_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "batchwork", "serve", "--model", "mock:echo", "--port", "0", "--price", "1,1"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [*command, "--max-cost-per-day", "5"], env=environment, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stderr is not None
    said = [process.stderr.readline() for _ in range(4)]
    process.terminate()
    rest = process.communicate(timeout=20)[1]
    assert process.returncode == 0
    assert "http://127.0.0.1:" in said[0]
    assert "no API key is configured: listening on loopback only" in said[1]
    assert "$0.00 of today's $5.00 is spent" in said[3]
    assert (tmp_path / ".local" / "state" / "batchwork" / "budget.json").exists()
    assert json.loads(rest.splitlines()[-1])["event"] == "ended"
