"""`python -m perf.frame [--smoke] [--no-peer] [--series N] [--nulls N]`: the tables, then one line."""

from __future__ import annotations

import argparse
import sys
from math import sqrt

from perf.frame.cases import Family
from perf.frame.clean import CLEAN
from perf.frame.families import NULLS, SIGNALS
from perf.frame.holes import HOLED
from perf.frame.judge import CLAIMS
from perf.frame.peer import Peer
from perf.frame.power import WEAK
from perf.frame.reference import references
from perf.frame.speed import Pace, memory, paces
from perf.frame.suite import Cell, run_cell

FALSE_ALARMS, ANY_FALSE_ALARM = 0.05, 0.10
MOST_SECONDS = 0.25  # of CPU, for a million points
NEW = {"Weak signals": WEAK, "Series with holes": HOLED, "Series without noise": CLEAN}
RECALL = {60: 0.90, 300: 0.95, 2000: 0.95}


def allowed(count: int, share: float = FALSE_ALARMS) -> int:
    """False alarms that 5% (or another share) may show in so many series (one-sided 99%; 31 of 400)."""
    return int(share * count + 2.33 * sqrt(share * (1 - share) * count) + 0.5)


def least(bar: float, count: int) -> float:
    """The share that a true `bar` may show in so many series (one-sided 99%)."""
    return bar - 2.33 * sqrt(bar * (1 - bar) / count) if count < 100 else bar


def show_nulls(cells: list[Cell], title: str) -> list[str]:
    print(f"\n{title}: false alarms in percent, ours | semantic-frame 0.4.0")
    print(f"{'':28}{'n':>6} " + "".join(f"{name:>15}" for name in CLAIMS) + f"{'any':>8}")
    short = []
    for cell in cells:
        row = []
        for name in CLAIMS:
            made = cell.ours.alarms.get(name)
            if made is None:
                row.append(f"{'':>15}")
                continue
            mark = " "
            if made > allowed(cell.ours.series):
                short.append(f"{cell.family.name} n={cell.size}: {name} {made} of {cell.ours.series}")
                mark = "!"
            theirs = ""
            if cell.peers is not None and name != "spread":
                theirs = f"{100 * cell.peers.alarms.get(name, 0) / cell.peers.series:.0f}"
            row.append(f"{100 * made / cell.ours.series:>8.1f}{mark}|{theirs:>4} ")
        any_alarm = cell.ours.any_alarm
        if cell.family in NULLS and any_alarm > allowed(cell.ours.series, ANY_FALSE_ALARM):
            short.append(f"{cell.family.name} n={cell.size}: any false claim {any_alarm} of {cell.ours.series}")
        row.append(f"{100 * any_alarm / cell.ours.series:>8.1f}")
        print(f"{_name(cell.family):28}{cell.size or '10-30':>6} " + "".join(row))
    return short


def show_signals(cells: list[Cell], title: str) -> list[str]:
    print(f"\n{title}: found in percent (bar), ours | semantic-frame 0.4.0")
    short = []
    for cell in cells:
        parts = []
        for name in cell.family.bars:
            points = name == "odd" and cell.family.name.startswith("odd points")
            bar = RECALL[cell.size] if points else cell.family.bar(name, cell.size)
            share = cell.ours.share(name)
            if name == "odd":
                clean = cell.ours.odd_right / max(cell.ours.odd_claimed, 1)
                parts.append(f"precision {100 * clean:.1f} (95)")
                if clean < least(0.95, cell.ours.series):
                    short.append(f"{cell.family.name} n={cell.size}: precision {100 * clean:.1f}")
            theirs = ""
            if cell.peers is not None and name != "spread":
                peer_share = (
                    cell.peers.odd_right / max(cell.peers.odd_true, 1)
                    if name == "odd"
                    else cell.peers.hits.get(name, 0) / cell.peers.series
                )
                theirs = f" | {100 * peer_share:.0f}"
            if share < least(bar, cell.ours.series):
                short.append(f"{cell.family.name} n={cell.size}: {name} {100 * share:.1f} (bar {100 * bar:.0f})")
            parts.append(f"{name} {100 * share:.1f} ({100 * bar:.0f}){theirs}")
        print(f"{_name(cell.family):34}{cell.size:>6}  " + ", ".join(parts))
    return short


def show_paces(found: list[Pace], memories: list[tuple[int, float]]) -> list[str]:
    print("\nCPU seconds of one description")
    short = []
    for pace in found:
        theirs = ""
        if pace.peers_s is not None:
            times = pace.peers_s / pace.ours_s
            theirs = f", semantic-frame {pace.peers_s:.2f}, {times:.0f}x"
            if times < 20:
                short.append(f"{pace.name} n={pace.size}: {times:.1f}x less CPU than semantic-frame (bar 20x)")
        if pace.size == 1_000_000 and pace.ours_s > MOST_SECONDS:
            short.append(f"{pace.name} n={pace.size}: {pace.ours_s:.2f} s (bar {MOST_SECONDS})")
        print(f"  {pace.name:8}{pace.size:>10}  ours {pace.ours_s:.3f}{theirs}")
    for n, times in memories:
        print(f"  memory   {n:>10}  {times:.1f}x the input")
        if times > 7.0:
            short.append(f"memory n={n}: {times:.1f}x the input (bar about 6x)")
    return short


def show_references(count: int) -> None:
    print("\nPlain references: found at 5% in white noise; claimed of another noise then; found at 5% in every noise")
    for line in references(count):
        print(
            f"{line.name:34}{line.size:>6}  found {line.found:.0f}, claimed of {line.worst_noise} {line.claimed:.0f}, "
            f"found at 5% everywhere {line.found_at_all:.0f}"
        )


def worst_cell(cells: list[Cell]) -> str:
    """The cell that is farthest below its bar, or nearest above it."""
    margins = [
        (share - bar, f"{cell.family.name} n={cell.size}: {claim} {100 * share:.1f} (bar {100 * bar:.0f})")
        for cell in cells
        for claim in cell.family.bars
        for share, bar in [(cell.ours.share(claim), cell.family.bar(claim, cell.size))]
    ]
    return "worst cell: " + min(margins)[1]


def _name(family: Family) -> str:
    return family.name + (" *" if family.kept_out else "")


def run(families: list[Family], count: int, peer: Peer | None, for_peer: int) -> list[Cell]:
    return [run_cell(family, size, count, peer, for_peer) for family in families for size in family.sizes]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m perf.frame")
    parser.add_argument("--smoke", action="store_true", help="a cut that ends within a minute")
    parser.add_argument("--no-peer", action="store_true", help="without semantic-frame")
    parser.add_argument("--nulls", type=int, default=400, help="series per null cell")
    parser.add_argument("--series", type=int, default=100, help="series per signal cell")
    options = parser.parse_args()
    nulls, signals, for_peer = options.nulls, options.series, 100
    if options.smoke:
        nulls, signals, for_peer = 6, 6, 6
    peer = None if options.no_peer else Peer()
    every = 4 if options.smoke else 1
    null_cells = run(NULLS[::every], nulls, peer if not options.smoke else None, for_peer)
    signal_cells = run(SIGNALS[::every], signals, peer if not options.smoke else None, for_peer)
    new_cells = {name: run(families[:: 2 * every - 1], max(signals // 2, 6), None, 0) for name, families in NEW.items()}
    short = show_nulls(null_cells, "Nulls (* kept out of tuning)")
    short += show_nulls(signal_cells, "Other signals (* kept out of tuning)")
    short += show_signals(signal_cells, "Detection")
    for name, cells in new_cells.items():
        short += show_nulls(cells, name) + show_signals([cell for cell in cells if cell.family.bars], name)
    new = [cell for cells in new_cells.values() for cell in cells]
    show_references(20 if options.smoke else 200)
    sizes = (100_000, 1_000_000) if options.smoke else (100_000, 1_000_000, 10_000_000)
    found = paces(sizes, ("noise",) if options.smoke else ("noise", "walk", "mixed"), peer, 1_000_000)
    short += show_paces(found, [(1_000_000, memory(1_000_000))] if options.smoke else [(n, memory(n)) for n in sizes])
    everything = null_cells + signal_cells + new
    wrong = [f"{cell.family.name} n={cell.size}: {text}" for cell in everything for text in cell.ours.wrong_numbers]
    print(f"\nNumbers against numpy: {len(wrong)} wrong in {sum(cell.ours.series for cell in everything)} series")
    short += [f"number: {text}" for text in wrong[:3]]
    for text in short:
        print("short:", text)
    print(worst_cell(everything))
    bars = _bars(everything, found) + len(null_cells)
    print(f"frame: {bars - len(short)} of {bars} bars met (bar all) {'short' if short else 'ok'}")
    return 1 if short else 0


def _bars(cells: list[Cell], found: list[Pace]) -> int:
    judged = sum(len(cell.ours.alarms) + len(cell.family.bars) + ("odd" in cell.family.bars) for cell in cells)
    return judged + len(found) + 2


if __name__ == "__main__":
    sys.exit(main())
