"""Ctrl-C, once and twice, from outside the process."""

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import batchwork
from batchwork.core.outcome import Status
from batchwork.journal import JournalReader
from tests.support.interrupted import ITEMS
from tests.support.scripted import Scripted
from tests.support.virtual_time import run_virtual

_ROOT = Path(__file__).resolve().parents[2]


def _interrupt(journal: Path, latency: str, *more: str, times: int = 1) -> tuple[str, str]:
    told = [sys.executable, "-m", "tests.support.interrupted", str(journal), latency, *more]
    child = subprocess.Popen(told, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "under way\n"
    for n in range(times):
        if n:  # the first one must have arrived: signals that wait are one
            with suppress(subprocess.TimeoutExpired):
                child.wait(timeout=0.3)
        child.send_signal(signal.SIGINT)
    try:
        out, err = child.communicate(timeout=30 if times == 1 else 10)
    except subprocess.TimeoutExpired:
        if times == 1:
            raise
        child.send_signal(signal.SIGINT)  # on a busy machine the first may not have arrived before the second: one
        out, err = child.communicate(timeout=20)
    assert child.returncode == 0, err
    return out, err


def _goes_on(journal: Path) -> int:
    """How many were settled; the rest is done now, and nothing twice."""
    reader = JournalReader(journal)
    settled = reader.counts()[Status.SUCCEEDED]
    reader.close()
    backend = Scripted(free=True)
    prompts = [str(n) for n in range(ITEMS)]
    results = run_virtual(batchwork.arun(prompts, model="mock:echo", backend=backend, journal=journal))
    assert [r.text for r in results] == prompts
    assert len(backend.asked) == ITEMS - settled
    return settled


@pytest.mark.parametrize("door", [[], ["stream"]])
def test_once_lets_calls_in_flight_finish_and_keeps_them(door: list[str], tmp_path: Path) -> None:
    out, err = _interrupt(tmp_path / "j.db", "0.2", *door)
    assert (out, err) == ("interrupted\n", "")
    assert 4 <= _goes_on(tmp_path / "j.db") < ITEMS


def test_twice_leaves_at_once_and_a_rerun_continues(tmp_path: Path) -> None:
    out, err = _interrupt(tmp_path / "j.db", "600", times=2)
    assert out == "interrupted\n"
    assert "Traceback" not in err
    assert _goes_on(tmp_path / "j.db") == 0


@pytest.mark.parametrize(("kind", "times"), [("stuck", 1), ("stuck-list", 2)])
def test_an_input_that_blocks_does_not_keep_it_from_ending(kind: str, times: int, tmp_path: Path) -> None:
    out, err = _interrupt(tmp_path / "j.db", "0", kind, times=times)
    assert out == "interrupted\n"
    assert "Traceback" not in err
    assert 0 < _goes_on(tmp_path / "j.db") <= ITEMS // 2
