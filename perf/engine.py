"""CPU per item with the journal on and fully synced, against async-batch-llm with its SQLite store; and its growth.

The backend answers at once and in the process, so that what is measured is the machine around a call: reading, keys,
admission, retries and deadlines at the ready, the journal.
"""

from __future__ import annotations

import itertools
import sys
from statistics import median

from perf._harness import (
    ROOT,
    Finished,
    arguments,
    folder,
    interleaved,
    peers_python,
    ratio,
    run_child,
    run_module,
    show_table,
    verdict,
)

IN_FLIGHT = 100
LEAST_TIMES_CHEAPER = 8.0
MOST_GROWTH = 1.10
_PEER = ROOT / "perf" / "peer_async_batch_llm.py"


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    small, large, theirs, rounds = (1_000, 3_000, 100, 1) if smoke else (20_000, 200_000, 5_000, 5)
    peer = peers_python()
    with folder() as place:
        files = (place / f"{number}.db" for number in itertools.count())
        sides = {
            "batchwork": lambda: _per_item_us(run_module("perf.one_run", small, IN_FLIGHT, next(files)), small),
            "async-batch-llm": lambda: _per_item_us(run_child([peer, _PEER, theirs, IN_FLIGHT, next(files)]), theirs),
            "batchwork, more": lambda: _per_item_us(run_module("perf.one_run", large, IN_FLIGHT, next(files)), large),
        }
        seen = interleaved(rounds, sides)
    items = dict(zip(sides, (small, theirs, large), strict=True))
    show_table(
        ("", "items", "us CPU per item", "by batchwork"),
        [
            (name, f"{items[name]:,}", f"{median(values):.1f}", f"{ratio(values, seen['batchwork']):.2f}")
            for name, values in seen.items()
        ],
    )
    cheaper = ratio(seen["async-batch-llm"], seen["batchwork"])
    growth = ratio(seen["batchwork, more"], seen["batchwork"])
    return verdict(
        "engine",
        f"1/{cheaper:.1f} of async-batch-llm, {growth:.2f}x per item at {large:,}",
        f"1/{LEAST_TIMES_CHEAPER:g}, {MOST_GROWTH:.2f}x",
        ok=cheaper >= LEAST_TIMES_CHEAPER and growth <= MOST_GROWTH,
        judged=not smoke,
    )


def _per_item_us(run: Finished, items: int) -> float:
    told = run.json()
    assert told["settled"] == items, told
    return float(told["cpu_s"]) / items * 1e6


if __name__ == "__main__":
    sys.exit(main())
