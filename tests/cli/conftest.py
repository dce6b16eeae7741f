"""The real program, in a folder of its own."""

import json
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.support.program import Program

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def batchwork(program: Program, folder: Path) -> Run:
    """Run `batchwork ARGS` in the folder; what it printed and its exit code."""
    return partial(program, cwd=folder, env={"PATH": os.environ["PATH"], "COLUMNS": "120", "NO_COLOR": "1"})


@pytest.fixture
def rivers(folder: Path) -> Path:
    """Ten rows."""
    path = folder / "rivers.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": f"river {i}"}) + "\n" for i in range(10)))
    return path


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]
