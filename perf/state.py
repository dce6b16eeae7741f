"""The state file's price: time per item of BatchManager with state and results on, and beside it the plain way.

Through BatchManager on the mock, 10,000 and 100,000 items, state and results on: the time per item must be flat within
15%. It is told by the CPU's time, because the machine is shared; the smaller run stands on both sides of the larger
one, because a machine's speed drifts; and the files are in memory where that can be had, because to make a file costs a
disk's file system ten times as much for a while after many were removed, with nothing of ours in it.

At 1,000 items, where the state follows every item, it must be no slower by the clock on the wall than the founding
document's own way: rewrite the whole JSON after each item, synced alike, both on the disk.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from perf._harness import arguments, folder, ratio, run_module, show_table, verdict

FLAT, ROUNDS = 1.15, 5
_PLAIN_BEARS = 2_000  # one whole rewrite per item is a quadratic: beyond this it is only a matter of patience


class PerItem(NamedTuple):
    """What one item of a run took."""

    wall_s: float
    cpu_s: float


def main() -> int:
    """The table, and how it ends."""
    smoke = arguments(__doc__ or "").smoke
    small, large, every = (500, 2_000, 300) if smoke else (10_000, 100_000, 1_000)
    rounds = 1 if smoke else ROUNDS
    before, many, after, ours, plain = [], [], [], [], []
    for _ in range(rounds):
        before.append(_measured("ours", small, in_memory=True))
        many.append(_measured("ours", large, in_memory=True))
        after.append(_measured("ours", small, in_memory=True))
        ours.append(_measured("ours", every))
        plain.append(_measured("plain", every))
    rows = [
        _row(f"{small:,} items, manager", before + after),
        _row(f"{large:,} items, manager", many),
        _row(f"{every:,} items, manager", ours),
        _row(f"{every:,} items, one rewrite per item", plain),
    ]
    if not smoke:
        rows.append(_row(f"{_PLAIN_BEARS:,} items, one rewrite per item", [_measured("plain", _PLAIN_BEARS)]))
    show_table(["", "ms per item", "CPU ms per item"], rows)
    around = [mean((first.cpu_s, last.cpu_s)) for first, last in zip(before, after, strict=True)]
    growth = ratio([run.cpu_s for run in many], around)
    against = ratio([run.wall_s for run in ours], [run.wall_s for run in plain])
    figure = f"{growth:.2f} times the time per item at {large // small} times the items"
    figure += f", {against:.2f} of one rewrite per item"
    ok = growth <= (1.6 if smoke else FLAT) and against <= 1.0
    return verdict("state", figure, f"at most {FLAT} and 1.00", ok=ok)


def _row(name: str, seen: Sequence[PerItem]) -> list[str]:
    return [name, *(f"{1000 * median(column):.3f}" for column in zip(*seen, strict=True))]


def _measured(side: str, items: int, *, in_memory: bool = False) -> PerItem:
    """Seconds per item, without what a process needs to start."""
    with folder(in_memory=in_memory) as place:
        told = run_module("perf.state", "--child", side, items, place).json()
    return PerItem(told["seconds"] / items, told["cpu"] / items)


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
