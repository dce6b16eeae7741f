"""CPU seconds and memory of one description, ours and the peer's in the same run."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np

from batchwork.frame import describe_series
from perf.frame.peer import ROOT, Peer

_MEMORY = """
import sys
import numpy as np
from batchwork.frame import describe_series
n = int(sys.argv[1])
describe_series(np.random.default_rng(0).standard_normal(30000))  # what is loaded and kept once is not the series'
values = np.random.default_rng(1).standard_normal(n)
open("/proc/self/clear_refs", "w").write("5")
peak = lambda: int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
before = peak()
describe_series(values)
print((peak() - before) * 1024 / values.nbytes)
"""


@dataclass(frozen=True, slots=True)
class Pace:
    name: str
    size: int
    ours_s: float
    peers_s: float | None


def series(name: str, n: int) -> np.ndarray:
    dice = np.random.default_rng(n)
    at = np.arange(n)
    noise = dice.standard_normal(n)
    if name == "noise":
        return noise
    if name == "walk":
        return np.cumsum(noise)
    values = noise + 3.0 * at / n + 2.0 * np.sin(2 * np.pi * at / 24) + 3.0 * (at > n // 3)
    values[:: n // 20] += 20.0
    return values


def seconds(values: np.ndarray, rounds: int) -> float:
    """The least CPU time of some rounds: what else runs on the machine only adds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        describe_series(values)
        best = min(best, time.process_time() - start)
    return best


def paces(sizes: tuple[int, ...], names: tuple[str, ...], peer: Peer | None, peer_most: int) -> list[Pace]:
    describe_series(series("mixed", 5000))
    found = []
    for n in sizes:
        for name in names:
            values = series(name, n)
            mine = seconds(values, 3 if n <= 1_000_000 else 1)
            theirs = peer.seconds(values) if peer is not None and n <= peer_most else None
            found.append(Pace(name, n, mine, theirs))
    return found


def memory(n: int) -> float:
    """Peak memory of one description over the size of its input, beyond the input."""
    done = subprocess.run([sys.executable, "-c", _MEMORY, str(n)], check=True, capture_output=True, text=True, cwd=ROOT)
    return float(done.stdout)
