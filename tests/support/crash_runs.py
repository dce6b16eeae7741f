"""Managers, or embedding runs, in processes that can be killed, over a provider that keeps the bill."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from batchwork.simulator import Simulator, SimulatorConfig

ITEMS, PER_JOB = 6, 3
ROOT = Path(__file__).resolve().parents[2]


class Runs:
    """What the crash server is told to run, one after the other."""

    def __init__(self, process: subprocess.Popen[str], provider: Simulator) -> None:
        self._process = process
        self.provider = provider

    def run(self, folder: Path, **told: Any) -> int:
        """How one ended, which may be by a kill."""
        given = {
            "state": str(folder / "state.json"),
            "results": str(folder / "results"),
            "items": ITEMS,
            "items_per_job": PER_JOB,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(given | told), file=self._process.stdin, flush=True)
        ended: int = json.loads(self._process.stdout.readline())
        if (state := folder / "state.json").exists():
            json.loads(state.read_text())  # whole, however it ended
        return ended


@contextmanager
def crash_runs() -> Iterator[Runs]:
    """Until the block ends."""
    command = [sys.executable, "-m", "tests.support.crash_server"]
    with (
        Simulator(SimulatorConfig(persona="reader", batch_time_s=0.15)) as provider,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process,
    ):
        yield Runs(process, provider)
        assert process.stdin is not None
        process.stdin.close()
