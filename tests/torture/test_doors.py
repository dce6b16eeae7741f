"""Whole processes, as users start them, are killed, ended, stopped and cut off; the same command again goes on.

Over every door, wire and mode. It is judged by the provider's own bill: every prompt has its answer, in order; in
batches each is billed once; live, a window of them at most is billed again for every sudden end; and at least as much
is booked as was billed.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.journal import JournalReader
from batchwork.simulator import Latency, Simulator
from tests.support.cut_network import CutNetwork, cut_network
from tests.support.misbehaving import MODELS
from tests.support.waiting import becomes_true

ROOT = Path(__file__).resolve().parents[2]
ITEMS, WINDOW = 60, 6
ENDS = ("kill", "terminate", "interrupt", "stop", "cut")
SUDDEN = frozenset({"kill", "cut"})  # calls that are under way then may be billed and have to be asked again
WIRES = ("anthropic", "openai", "gemini", "mistral")  # one service of each; the others are rows of the second
CELLS = [
    (door, wire, mode, end)
    for door in ("command line", "manager")
    for wire in WIRES
    for mode in ("live", "batch")
    for end in ENDS
]
SMOKE = [
    ("command line", "openai", "batch", "kill"),
    ("command line", "anthropic", "live", "terminate"),
    ("manager", "anthropic", "batch", "cut"),
]


@dataclass(frozen=True, kw_only=True)
class Life:
    """One run on one journal, whose process ends badly again and again."""

    folder: Path
    provider: Simulator
    way: CutNetwork
    door: str
    wire: str
    mode: str
    end: str
    seed: int

    @property
    def prompts(self) -> list[str]:
        return [f"Prompt {number:03d}" for number in range(ITEMS)]

    @property
    def journal(self) -> Path:
        return self.folder / ("state.json.journal" if self.door == "manager" else "out.jsonl.journal.db")

    def start(self) -> subprocess.Popen[bytes]:
        (self.folder / "in.jsonl").write_text("".join(json.dumps({"prompt": p}) + "\n" for p in self.prompts))
        (self.folder / "prompts.txt").write_text("\n".join(self.prompts))
        command = self._manager() if self.door == "manager" else self._command_line()
        keys = {f"{wire.upper()}_API_KEY": "none" for wire in WIRES} | {"PYTHONPATH": str(ROOT / "src")}
        with (self.folder / "stderr").open("ab") as stderr:
            quiet = subprocess.DEVNULL
            return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **keys}, stdout=quiet, stderr=stderr)

    def _command_line(self) -> list[str]:
        options = {
            "--output": self.folder / "out.jsonl", "--model": f"{self.wire}:{MODELS[self.wire]}",
            "--base-url": self.way.url, "--max-tokens": 20, "--max-cost": 1, "--mode": self.mode,
            "--max-in-flight": WINDOW, "--poll-interval": 0.1, "--adopt-wait": 1, "--retries": 20,
        }  # fmt: skip
        words = [str(word) for option in options.items() for word in option]
        return [sys.executable, "-m", "batchwork", "run", str(self.folder / "in.jsonl"), *words, "--quiet"]

    def _manager(self) -> list[str]:
        given = {
            "prompts": str(self.folder / "prompts.txt"), "model": f"{self.wire}:{MODELS[self.wire]}",
            "base_url": self.way.url, "max_tokens": 20, "max_cost": 1, "mode": self.mode, "items_per_job": 20,
            "max_in_flight": WINDOW, "poll_interval": 0.1, "adopt_wait": 1, "retries": 20,
            "state_path": str(self.folder / "state.json"), "save_results_dir": str(self.folder / "results"),
        }  # fmt: skip
        return [sys.executable, "-m", "tests.support.door_manager", json.dumps(given)]

    def live_through(self, times: int) -> int:
        """How often it ended badly."""
        dice, ended_badly = random.Random(self.seed), 0
        for _ in range(times):
            process, seen = self.start(), self._touched()
            if self._comes_further(process, seen):
                time.sleep(dice.uniform(0.0, 0.25))
                ended_badly += self._end(process)
            process.wait(60)
            _all_answered(self.provider)
        with self.start() as process:
            assert process.wait(120) == 0, (self.folder / "stderr").read_text()
        return ended_badly

    def _comes_further(self, process: subprocess.Popen[bytes], seen: int) -> bool:
        return becomes_true(lambda: self._touched() > seen, unless=lambda: process.poll() is not None)

    def _touched(self) -> int:
        log = self.provider.log()
        return len(log["requests"]) + len(log["batches"]) + sum(log["other"].values())

    def _end(self, process: subprocess.Popen[bytes]) -> bool:
        if process.poll() is not None:
            return False
        if self.end == "cut":
            self.way.cut(0.3)
        elif self.end == "stop":
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            process.send_signal(signal.SIGCONT)
        else:
            name = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "interrupt": signal.SIGINT}[self.end]
            process.send_signal(name)
        return True

    def judge(self, ended_badly: int) -> None:
        self.provider.advance(60)
        log = self.provider.log()
        again = log["total"]["billed"] - ITEMS
        assert again >= 0, "every prompt was asked"
        sudden = self.end in SUDDEN or (self.door, self.end) == ("manager", "terminate")  # a script does as Python does
        allowed = WINDOW * ended_badly if sudden and self.mode == "live" else 0
        assert again <= allowed, f"{again} prompts were billed again after {ended_badly} ends"
        results = batchwork.open_results(self.journal)
        assert [outcome.text for outcome in results] == self.prompts
        results.close()
        reader = JournalReader(self.journal)
        assert reader.totals().spent_nano >= log["total"]["nano_dollars"], "less is booked than was billed"
        reader.close()


def _all_answered(provider: Simulator) -> None:
    """Wait for what was under way when the process ended."""
    received = -1
    while received != (received := len((log := provider.log())["requests"])) or any(
        row["status"] is None for row in log["requests"]
    ):
        time.sleep(0.03)


def _lived(folder: Path, cell: tuple[str, str, str, str], times: int, seed: int = 1) -> int:
    door, wire, mode, end = cell
    with (
        Simulator(persona="echo", seed=seed, batch_time_s=0.3, latency=Latency(median_s=0.05)) as provider,
        cut_network(provider.service_url(wire)) as way,
    ):
        life = Life(folder=folder, provider=provider, way=way, door=door, wire=wire, mode=mode, end=end, seed=seed)
        ended_badly = life.live_through(times)
        life.judge(ended_badly)
    return ended_badly


@pytest.mark.parametrize("cell", SMOKE, ids="-".join)
def test_a_process_that_ends_badly_loses_nothing(cell: tuple[str, str, str, str], tmp_path: Path) -> None:
    assert _lived(tmp_path, cell, times=1) == 1


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_every_door_wire_and_mode_survives_every_bad_end(
    cell: tuple[str, str, str, str], record_property: Any, tmp_path: Path
) -> None:
    ended_badly = 0
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        ended_badly += _lived(folder, cell, times=3, seed=seed)
    record_property(cell[-1], ended_badly)
    assert ended_badly >= 2
