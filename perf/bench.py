"""The modes of the benchmark against the ideal: how well the window of a run is kept full.

A plan of trials is asked of a mock that only waits (reading would cost time of its own), 50 ms each and then with a
heavy tail (lognormal, median 50 ms, sigma 1): one after the other, with `--parallel`, with `--trial-parallelism 4`, and
with both. Beside each stands the ideal list schedule of the very same latencies, as they were: every call starts the
moment one of the places is free.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from batchwork import Results
from benchmarks.claude_client import MockClient
from benchmarks.conduct import conduct, lay_out
from benchmarks.config import BenchmarkConfig
from benchmarks.tasks import TASKS
from perf._harness import arguments, show_table, verdict

BAR = 0.97
MODES = {"sequential": (1, 1), "--parallel": (2, 1), "--trial-parallelism 4": (1, 4), "both": (2, 4)}
TASK = "trend"


class Timed(MockClient):
    """A mock that waits and echoes, and how long a run over it took."""

    seconds = 0.0

    @property
    def model(self) -> str:
        return self.config.model or ""

    def ask_all(self, *args: Any, **options: Any) -> Results:
        began = time.perf_counter()
        try:
            return super().ask_all(*args, **options)
        finally:
            self.seconds = time.perf_counter() - began


def ideal(latencies: list[float], places: int) -> float:
    """The makespan when every call starts the moment a place is free."""
    free = [0.0] * places
    for latency in latencies:
        heapq.heappush(free, heapq.heappop(free) + latency)
    return max(free)


def measure(trials: int, sigma: float, mode: tuple[int, int]) -> tuple[float, float]:
    """Seconds of one run, and of the ideal schedule of its calls."""
    config = BenchmarkConfig(
        tasks=(TASK,),
        trials=trials,
        max_data_size=50,
        parallel_workers=mode[0],
        trial_parallelism=mode[1],
        model=f"mock:echo?latency=0.05&sigma={sigma}&seed=7",
    )
    client = Timed(config)
    asks = lay_out(TASKS[TASK].plan(trials, config.seed, 50), config)
    with tempfile.TemporaryDirectory() as folder:
        done = conduct(client, asks, journal=Path(folder) / "journal.db")
    latencies = [call.latency_s for call in done.calls if call.latency_s is not None and not call.missing]
    if len(latencies) < len(asks):
        raise SystemExit("calls are missing: this is no measurement")
    return client.seconds, ideal(latencies, config.window)


def main() -> int:
    options = arguments(__doc__ or "")
    trials = 25 if options.smoke else 250
    rows, worst = [], 1.0
    for name, sigma in (("50 ms", 0.0), ("heavy tail", 1.0)):
        alone = None
        for mode, workers in MODES.items():
            rounds = 1 if options.smoke or max(workers) < 4 else 3  # the short ones feel what else the machine does
            runs = [measure(trials, sigma, workers) for _ in range(rounds)]
            seconds, best = sorted(runs, key=lambda run: run[1] / run[0])[rounds // 2]
            alone = alone or seconds
            worst = min(worst, best / seconds)
            figures = [f"{seconds:.2f}", f"{best:.2f}", f"{best / seconds:.3f}", f"{alone / seconds:.2f}x"]
            rows.append([name, mode, *figures])
    show_table([f"{2 * trials} calls", "mode", "seconds", "ideal", "of the ideal", "speed-up"], rows)
    # In a cut of a second, opening the journal weighs more than the schedule: it only shows that all of it runs.
    return verdict("bench", f"{worst:.3f} of the ideal schedule at worst", f"{BAR}", ok=options.smoke or worst >= BAR)


if __name__ == "__main__":
    sys.exit(main())
