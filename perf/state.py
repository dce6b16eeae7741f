"""The state file's price: time per item of BatchManager with state and results on, and beside it the plain way.

Through BatchManager on the mock, 10,000 and 100,000 items, state and results on: the time per item must be flat within
15%, which is told by the CPU's time, because the machine is shared. At 1,000 items, where the state follows every item,
it must be no slower by the clock on the wall than the founding document's own way: rewrite the whole JSON after each
item, synced alike.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from perf._harness import arguments, folder, interleaved, ratio, run_module, show_table, verdict

FLAT, ROUNDS = 1.15, 3
_PLAIN_BEARS = 2_000  # one whole rewrite per item is a quadratic: beyond this it is only a matter of patience


def main() -> int:
    """The table, and how it ends."""
    smoke = arguments(__doc__ or "").smoke
    small, large = (500, 2_000) if smoke else (10_000, 100_000)
    rounds = 1 if smoke else ROUNDS
    every = 300 if smoke else 1_000
    sides: dict[str, Callable[[], tuple[float, float]]] = {
        f"{small:,} items, manager": lambda: _measured("ours", small),
        f"{large:,} items, manager": lambda: _measured("ours", large),
        f"{every:,} items, manager": lambda: _measured("ours", every),
        f"{every:,} items, one rewrite per item": lambda: _measured("plain", every),
    }
    if not smoke:
        sides[f"{_PLAIN_BEARS:,} items, one rewrite per item"] = lambda: _measured("plain", _PLAIN_BEARS)
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    interleaved(rounds, {name: partial(_note, measured[name], side) for name, side in sides.items()})
    show_table(["", "ms per item", "CPU ms per item"], [[name, *_shown(measured[name])] for name in sides])
    names = list(sides)
    growth = ratio(*(_column(measured[name], 1) for name in (names[1], names[0])))
    against = ratio(*(_column(measured[name], 0) for name in (names[2], names[3])))
    figure = f"{growth:.2f} times the time per item at ten times the items, {against:.2f} of one rewrite per item"
    bar = f"at most {FLAT} and 1.00"
    return verdict("state", figure, bar, ok=growth <= (1.6 if smoke else FLAT) and against <= 1.0)


def _note(seen: list[tuple[float, float]], measure: Callable[[], tuple[float, float]]) -> float:
    seen.append(measure())
    return seen[-1][0]


def _column(seen: list[tuple[float, float]], which: int) -> list[float]:
    return [pair[which] for pair in seen]


def _shown(seen: list[tuple[float, float]]) -> list[str]:
    return [f"{1000 * median(_column(seen, which)):.3f}" for which in (0, 1)]


def _measured(side: str, items: int) -> tuple[float, float]:
    """Seconds per item, on the wall and of the CPU, without what a process needs to start."""
    with folder() as place:
        told = run_module("perf.state", "--child", side, items, place).json()
    return told["seconds"] / items, told["cpu"] / items


def _child(side: str, items: int, place: Path) -> None:
    from batchwork.clock import stopwatch

    if side == "ours":
        from batchwork import BatchManager

        manager = BatchManager(
            messages=[f"prompt number {i}" for i in range(items)],
            model="mock:echo",
            state_path=place / "state.json",
            save_results_dir=place / "results",
        )
        took, cpu = stopwatch(), time.process_time()
        manager.run()
        seconds, cpu = took(), time.process_time() - cpu
        assert manager.stats.completed_items == items
    else:
        took, cpu = stopwatch(), time.process_time()
        _plain_way(items, place / "state.json")
        seconds, cpu = took(), time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpu": cpu}))


def _plain_way(items: int, path: Path) -> None:
    """The whole state, after each item, aside, synced, renamed."""
    state = {
        "manager_id": "plain",
        "jobs": [
            {
                "index": job,
                "status": "processing",
                "items": [
                    {
                        "original_index": i,
                        "content": [{"role": "user", "content": f"prompt number {i}"}],
                        "status": "pending",
                        "error": None,
                        "cost": None,
                        "completed_at": None,
                    }
                    for i in range(job * 100, min(items, (job + 1) * 100))
                ],
            }
            for job in range((items + 99) // 100)
        ],
    }
    aside = path.with_suffix(".part")
    for i in range(items):
        state["jobs"][i // 100]["items"][i % 100] |= {"status": "succeeded", "cost": 0.0}  # type: ignore[index]
        with aside.open("w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main())
