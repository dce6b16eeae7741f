"""How full the window is kept: the makespan of calls with long-tailed latency, on a clock that nobody waits for.

Against ideal list scheduling in input order (whoever is free takes the next call, nothing costs time) and against
gather per 100, which waits for the slowest of every hundred.
"""

import json
import random
import sys
import time
from heapq import heapify, heapreplace
from statistics import median

from batchwork import arun
from batchwork.clock import SystemClock
from batchwork.core.ports import Traits
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from perf._harness import arguments, show_table, verdict
from perf.virtual_time import run_virtually

CALLS = 1_000
IN_FLIGHT = 100
MOST_OVER_IDEAL = 1.02
LEAST_OVER_GATHER = 3.0


class Dawdler:
    """A backend that answers the prompt N after the N-th latency."""

    traits = Traits(name="dawdler", free=True)

    def __init__(self, latencies: list[float]) -> None:
        self._latencies = latencies
        self._clock = SystemClock()

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        del ceiling_nano
        content = request.messages[-1].content
        assert isinstance(content, str)
        await self._clock.sleep(self._latencies[int(content)])
        return Reply(text="done", usage=Usage(input_tokens=1, output_tokens=1))

    async def aclose(self) -> None:
        """Nothing to give back."""


def main() -> int:
    seeds = 5 if arguments(__doc__ or "").smoke else 50
    ours, ideals, gathers = [], [], []
    for seed in range(seeds):
        dice = random.Random(seed)
        latencies = [0.2 * dice.lognormvariate(0.0, 1.0) for _ in range(CALLS)]
        ours.append(makespan(latencies))
        ideals.append(ideal_makespan(latencies))
        gathers.append(_gather(latencies))
    worst = max(a / b for a, b in zip(ours, ideals, strict=True))
    better = median(a / b for a, b in zip(gathers, ours, strict=True))
    show_table(
        (f"{CALLS:,} calls, {IN_FLIGHT} in flight, {seeds} seeds", "median makespan", "by ideal, worst seed"),
        [
            ("batchwork", f"{median(ours):.2f} s", f"{worst:.4f}"),
            ("ideal list scheduling", f"{median(ideals):.2f} s", "1"),
            (
                "gather per 100",
                f"{median(gathers):.2f} s",
                f"{max(a / b for a, b in zip(gathers, ideals, strict=True)):.2f}",
            ),
        ],
    )
    return verdict(
        "window",
        f"{worst:.4f}x of ideal at worst, {better:.2f}x better than gather",
        f"{MOST_OVER_IDEAL:g}x, {LEAST_OVER_GATHER:g}x",
        ok=worst <= MOST_OVER_IDEAL and better >= LEAST_OVER_GATHER,
        timed=False,
    )


def makespan(latencies: list[float], in_flight: int = IN_FLIGHT) -> float:
    """The virtual seconds of a run of these calls."""
    prompts = map(str, range(len(latencies)))
    run = arun(prompts, model="dawdler:1", backend=Dawdler(latencies), max_in_flight=in_flight)
    results, seconds = run_virtually(run)
    assert results.accounting.succeeded == len(latencies)
    return seconds


def ideal_makespan(latencies: list[float], in_flight: int = IN_FLIGHT) -> float:
    """That of a scheduler whose every decision is free."""
    free_at = [0.0] * in_flight
    heapify(free_at)
    for latency in latencies:
        heapreplace(free_at, free_at[0] + latency)
    return max(free_at)


def _gather(latencies: list[float]) -> float:
    return sum(max(latencies[at : at + IN_FLIGHT]) for at in range(0, len(latencies), IN_FLIGHT))


def _child(calls: int) -> None:
    """The CPU that so many calls take, whatever their latency is."""
    dice = random.Random(0)
    latencies = [0.2 * dice.lognormvariate(0.0, 1.0) for _ in range(calls)]
    before = time.process_time()
    makespan(latencies)
    print(json.dumps({"cpu_s": time.process_time() - before}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(int(sys.argv[2]))
    else:
        sys.exit(main())
