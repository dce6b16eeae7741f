"""How the cost of a run grows: over the number of items, and over the width of the window.

Over items: `batchwork run` on a file with a mock that answers at once, and the same command again, which sends nothing.
Over windows: calls with long-tailed latency on a clock that nobody waits for, against ideal list scheduling.
"""

import random
import sys
from pathlib import Path
from statistics import median

from perf._harness import Finished, arguments, folder, run_child, show_table, verdict
from perf.rows import PROMPT, write_rows
from perf.window import ideal_makespan, makespan

MOST_GROWTH = 1.15  # of what one more item costs
MOST_OVER_IDEAL = 1.02
_CALLS_PER_PLACE = 10
_SMALL, _TIMES = 10_000, 5  # so few items are over in a second, of which one alone says little


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    counts = (1_000, 5_000) if smoke else (1_000, 10_000, 100_000, 1_000_000)
    windows = (1, 100) if smoke else (1, 10, 100, 500, 1_000, 2_000)
    cpu_s = _over_items(counts, times=1 if smoke else _TIMES)
    worst = max(_over_windows(windows))
    # What one more item costs, because the first ones mostly pay for the start of the process.
    steps = [(b - a) / (n - m) for a, b, m, n in zip(cpu_s, cpu_s[1:], counts, counts[1:], strict=False)]
    growth = steps[-1] / steps[0]
    return verdict(
        "curves",
        f"one more item costs {growth:.2f}x at {counts[-1]:,} items, {worst:.3f}x of ideal at worst",
        f"{MOST_GROWTH:g}x, {MOST_OVER_IDEAL:g}x",
        ok=growth <= MOST_GROWTH and worst <= MOST_OVER_IDEAL,
        judged=not smoke,
    )


def _over_items(counts: tuple[int, ...], *, times: int) -> list[float]:
    rows, cpu_s = [], []
    for count in counts:
        spent = []
        for _ in range(times if count <= _SMALL else 1):
            with folder() as place:
                first, journal_bytes = _run(place, count)
                again, _ = _run(place, count)
            spent.append(first.cpu_s)
        cpu_s.append(median(spent))
        rows.append(
            (
                f"{count:,}",
                f"{cpu_s[-1] / count * 1e6:.0f}",
                f"{first.wall_s:.1f} s",
                f"{first.peak_mb:.0f} MB",
                f"{journal_bytes / count:.0f}",
                f"{again.wall_s:.1f} s",
                f"{again.peak_mb:.0f} MB",
            )
        )
    head = ("items", "us CPU per item", "wall", "peak RSS", "journal bytes per item", "run again", "peak RSS")
    show_table(head, rows)
    return cpu_s


def _run(place: Path, count: int) -> tuple[Finished, int]:
    """The bill of one run and the size of its journal."""
    given, out, journal = place / "in.jsonl", place / "out.jsonl", place / "run.db"
    if not given.exists():
        write_rows(given, count)
    command = [sys.executable, "-m", "batchwork", "run", given, "-o", out, "--journal", journal]
    done = run_child([*command, "--model", "mock:echo", "--prompt", PROMPT, "--quiet"])
    with out.open("rb") as lines:
        rows = sum(1 for _ in lines)
    assert rows == count, f"{rows} rows of {count} came out"
    return done, sum(part.stat().st_size for part in place.glob("run.db*"))


def _over_windows(windows: tuple[int, ...]) -> list[float]:
    rows, ratios = [], []
    for window in windows:
        dice = random.Random(window)
        latencies = [0.2 * dice.lognormvariate(0.0, 1.0) for _ in range(_CALLS_PER_PLACE * window)]
        ours, ideal = makespan(latencies, window), ideal_makespan(latencies, window)
        ratios.append(ours / ideal)
        rows.append((f"{window:,}", f"{len(latencies):,}", f"{ours:.2f} s", f"{ideal:.2f} s", f"{ratios[-1]:.4f}"))
    show_table(("window", "calls", "makespan (virtual)", "ideal", "by ideal"), rows)
    return ratios


if __name__ == "__main__":
    sys.exit(main())
