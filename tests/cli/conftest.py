"""The real program, in a folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def batchwork(folder: Path) -> Run:
    """Run `batchwork ARGS` in the folder; what it printed and its exit code."""

    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "batchwork", *arguments]
        environment = {"PATH": os.environ["PATH"], "COLUMNS": "120", "NO_COLOR": "1"}
        return subprocess.run(
            command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture
def rivers(folder: Path) -> Path:
    """Ten rows."""
    path = folder / "rivers.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": f"river {i}"}) + "\n" for i in range(10)))
    return path


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]
