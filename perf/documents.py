"""What it costs to read PDFs in limited processes: computing time of very many, and how much later one is there.

Beside it stands the same reading without a process around it, which nothing protects.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from examples.invoices import write_invoices
from perf._harness import arguments, folder, interleaved, ratio, run_module, show_table, verdict

MOST_CPU = 1.15
MOST_LATER_S = 0.3


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    count, rounds = (60, 1) if smoke else (1_000, 5)
    with folder() as place:
        write_invoices(place / "many", count)
        write_invoices(place / "one", 1)
        _same_text(place / "many")
        many = interleaved(rounds, {way: lambda way=way: _cpu_s(way, place / "many") for way in ("apart", "here")})
        one = interleaved(2 * rounds, {way: lambda way=way: _wall_s(way, place / "one") for way in ("apart", "here")})
    more_cpu = ratio(many["apart"], many["here"])
    later_s = median(a - b for a, b in zip(one["apart"], one["here"], strict=True))
    show_table(
        ("PDFs", f"CPU of {count:,}", "wall of 1, cold"),
        [
            (label, f"{median(many[way]):.2f} s", f"{median(one[way]):.2f} s")
            for way, label in (("apart", "in limited processes"), ("here", "in the same process"))
        ],
    )
    return verdict(
        "documents",
        f"{more_cpu:.2f}x the CPU, one {later_s:+.2f} s",
        f"{MOST_CPU:.2f}x, {MOST_LATER_S:+.2f} s",
        ok=more_cpu <= MOST_CPU and later_s <= MOST_LATER_S,
        judged=not smoke,
    )


def _same_text(place: Path) -> None:
    apart, here = (run_module("perf.one_reading", way, place).out for way in ("apart", "here"))
    assert apart == here, "both ways read the same"


def _cpu_s(way: str, place: Path) -> float:
    return run_module("perf.one_reading", way, place).cpu_s


def _wall_s(way: str, place: Path) -> float:
    return run_module("perf.one_reading", way, place).wall_s


if __name__ == "__main__":
    sys.exit(main())
