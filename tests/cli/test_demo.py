"""The demonstration as a stranger runs it: its numbers add up, it leaves nothing behind, and Ctrl-C ends it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, rows


def test_it_kills_resumes_stops_at_the_budget_finishes_and_cites(batchwork: Run, folder: Path) -> None:
    done = batchwork("demo", "--keep", "kept")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Killed" in done.stdout
    assert "Exit code 3: stopped by the budget." in done.stdout
    assert "Exit code 0: all succeeded." in done.stdout
    assert [row["id"] for row in rows(folder / "kept" / "answers.jsonl")] == list(range(1, 301))
    assert "9 of 9 fields are quoted from their document" in done.stdout
    counted = section(done.stdout, "5.")
    received, each, refused, again, billed = (number(counted, of) for of in (
        "requests reached the provider", "  one for each", "  refused", "  under way", "requests were billed",
    ))  # fmt: skip
    assert received == each + refused + again
    assert each <= billed <= each + again
    assert refused > 0
    assert done.stdout.splitlines()[-1] == "Kept: kept"


def section(text: str, begins: str) -> str:
    return next(part for part in text.split("\n\n") if part.startswith(begins))


def number(text: str, what: str) -> int:
    (found,) = re.findall(rf"(?m)^ *(\d+)  {what}", text)
    return int(found)


def test_a_folder_that_is_there_is_left_alone(batchwork: Run, folder: Path) -> None:
    (folder / "mine").mkdir()
    refused = batchwork("demo", "--keep", "mine")
    assert refused.returncode == 2
    assert "--keep mine: File exists; name a folder that is not there yet" in refused.stderr


@pytest.mark.parametrize(("sent", "prelude"), [(signal.SIGINT, ""), (signal.SIGTERM, "trap '' INT; ")])
def test_ctrl_c_and_sigterm_end_it_without_a_traceback_and_leave_nothing(
    folder: Path, sent: signal.Signals, prelude: str
) -> None:
    """SIGTERM also where Ctrl-C is ignored, as in a shell's background job."""
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(folder)}
    command = ["bash", "-c", f"{prelude}exec {sys.executable} -m batchwork demo"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert any(line.startswith("$ batchwork run") for line in process.stdout)  # the inner run has been started
    assert list(folder.glob("batchwork-demo-*"))
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    assert not list(folder.iterdir())
