"""The modes of the benchmark against the ideal: how well the window of a run is kept full.

A plan of trials is asked of a mock that only waits (reading would cost time of its own), 50 ms each and then with a
heavy tail (lognormal, median 50 ms, sigma 1): one after the other, with `--parallel`, with `--trial-parallelism 4`, and
with both. A mode with more places gets as many more trials, so that each runs for about ten seconds and it is the
schedule that decides, not the opening of a journal.

Beside each stands the ideal list schedule: every call starts the moment one of the places is free. It is made twice. Of
the latencies as they were, which is judged: the timer of asyncio rounds up, by up to a millisecond a call, and no
schedule can undo that. And of those that the mock drew: there the rounding counts against us, but nothing that we do
while a call waits can pass for its latency. The speed-up is the drawn latency gone through in a second, against
sequential.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
import tempfile
import time
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

from batchwork import Request, Results
from batchwork.backends import Setup, open_backend
from batchwork.benchmarks.claude_client import MockClient
from batchwork.benchmarks.conduct import Ask, conduct, lay_out
from batchwork.benchmarks.config import BenchmarkConfig
from batchwork.benchmarks.tasks import TASKS
from batchwork.clock import SystemClock
from perf._harness import arguments, show_table, verdict

BAR = 0.97
MODES = {"sequential": (1, 1), "--parallel": (2, 1), "--trial-parallelism 4": (1, 4), "both": (2, 4)}
TASK = "trend"
TRIALS = 100  # for each place of the window


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


class Noting(SystemClock):
    """A clock on which nothing waits, and that knows how long it would have been."""

    def __init__(self) -> None:
        self.told: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.told.append(seconds)


def drawn(model: str, calls: int) -> list[float]:
    """The latencies that a new mock of this name draws."""
    clock = Noting()

    async def ask() -> None:
        backend, _ = open_backend(model, Setup(clock=clock, max_in_flight=1))
        for _ in range(calls):
            await backend.complete(Request.ask("how long?"))

    asyncio.run(ask())
    return clock.told


class Measured(NamedTuple):
    """One run; first by what is judged."""

    of_ideal: float  # of the latencies as they were
    of_drawn: float
    seconds: float
    ideal_s: float
    calls: int
    pace: float  # drawn latency gone through in a second


def measure(asks: list[Ask], sigma: float, mode: tuple[int, int]) -> Measured:
    """One run, beside the ideal schedules of its calls."""
    model = f"mock:echo?latency=0.05&sigma={sigma}&seed=7"
    config = BenchmarkConfig(parallel_workers=mode[0], trial_parallelism=mode[1], model=model)
    client = Timed(config)
    with tempfile.TemporaryDirectory() as folder:
        done = conduct(client, asks, journal=Path(folder) / "journal.db")
    latencies = [call.latency_s for call in done.calls if call.latency_s is not None and not call.missing]
    if len(latencies) < len(asks):
        raise SystemExit("calls are missing: this is no measurement")
    best, wished = ideal(latencies, config.window), drawn(model, len(asks))
    return Measured(
        of_ideal=best / client.seconds,
        of_drawn=ideal(wished, config.window) / client.seconds,
        seconds=client.seconds,
        ideal_s=best,
        calls=len(asks),
        pace=sum(wished) / client.seconds,
    )


def main() -> int:
    options = arguments(__doc__ or "")
    each = 5 if options.smoke else TRIALS
    config = BenchmarkConfig()
    most = max(pair * trials for pair, trials in MODES.values())
    asks = lay_out(TASKS[TASK].plan(each * most, config.seed, 50), config)  # a shorter plan is the beginning of it
    rows, worst = [], 1.0
    for name, sigma in (("50 ms", 0.0), ("heavy tail", 1.0)):
        alone = None
        for mode, (pair, trials) in MODES.items():
            rounds = 1 if options.smoke or trials < 4 else 3  # many calls at once feel what else the machine does
            planned = asks[: each * pair * trials * len(config.conditions)]
            run = median_low(measure(planned, sigma, (pair, trials)) for _ in range(rounds))
            alone = alone or run.pace
            worst = min(worst, run.of_ideal)
            figures = [f"{run.calls:,}", f"{run.seconds:.2f}", f"{run.ideal_s:.2f}"]
            ratios = [f"{run.of_ideal:.3f}", f"{run.of_drawn:.3f}", f"{run.pace / alone:.2f}x"]
            rows.append([name, mode, *figures, *ratios])
    show_table(["latency", "mode", "calls", "seconds", "ideal", "of the ideal", "of the drawn", "speed-up"], rows)
    # In a cut of a second, opening the journal weighs more than the schedule: it only shows that all of it runs.
    figure = f"{worst:.3f} of the ideal schedule at worst"
    return verdict("bench", figure, f"{BAR}", ok=worst >= BAR, judged=not options.smoke)


if __name__ == "__main__":
    sys.exit(main())
