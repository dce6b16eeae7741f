"""Clocks that jump: the day's budget is not given twice."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.hostile.disk import program, spend

DAY = 86_400


@pytest.mark.attack(
    "Disk and clock",
    "the clock is set back by an hour, a day or ten years across a restart of the service",
    "no second budget: the later day goes on until it ends, and the log names the remedy",
)
@pytest.mark.parametrize("back_s", [3600, DAY, 3650 * DAY])
def test_a_clock_set_back_gives_no_second_budget(back_s: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    now = 20_000.0 * DAY + 60.0  # a minute after midnight
    assert asyncio.run(spend(tmp_path / "book", now, 900)) == 900
    assert asyncio.run(spend(tmp_path / "book", now - back_s, 900)) == 900, "there is no money for 900 more"
    assert "move the book away to start at $0" in caplog.text
    assert asyncio.run(spend(tmp_path / "book", now, 50)) == 950
    assert asyncio.run(spend(tmp_path / "book", now + DAY, 50)) == 50, "the next day is a new one"


@pytest.mark.slow
@pytest.mark.attack(
    "Disk and clock",
    "`batchwork serve` with a budget runs under a clock of next year, is ended, and runs again under today's",
    "what was spent still counts",
)
def test_the_served_budget_outlives_a_clock_set_back(tmp_path: Path) -> None:
    if shutil.which("faketime") is None:
        pytest.skip("needs faketime (a Debian package)")
    arguments = ["serve", "--model", "mock:echo", "--port", "0", "--price", "0,100", "--max-cost-per-day", "0.015"]
    arguments += ["--budget-file", str(tmp_path / "book")]
    answers = [
        _statuses_of(["faketime", "-f", offset, *program("batchwork", *arguments)]) for offset in ("+365d", "+0d")
    ]
    assert answers[0] == [200, 402], "a call costs a cent and may cost that much"
    assert answers[1][0] == 402


def _statuses_of(command: list[str]) -> list[int]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    try:
        line = ""
        while "http://127.0.0.1:" not in line:
            line = process.stderr.readline()
            assert line, "the server did not start"
        url = "http://127.0.0.1:" + line.split("http://127.0.0.1:")[1].split()[0].rstrip('"}') + "/api/v1/prompt"
        statuses = []
        for _ in range(2):
            body = json.dumps({"prompt": "x" * 396, "max_tokens": 100}).encode()
            request = urllib.request.Request(url, body, {"content-type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    statuses.append(answer.status)
            except urllib.error.HTTPError as refusal:
                statuses.append(refusal.code)
                refusal.close()
        return statuses
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # faketime stays in between
        process.communicate(timeout=20)
