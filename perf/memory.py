"""Peak memory of `batchwork run` over a million rows, and how much more that is than over a tenth of them."""

from __future__ import annotations

import sys
from pathlib import Path

from perf._harness import Finished, arguments, folder, run_child, show_table, verdict
from perf.rows import PROMPT, write_rows

MOST_MB = 250.0
MOST_GROWTH_MB = 30.0


def main() -> int:
    few, many = (20_000, 100_000) if arguments(__doc__ or "").smoke else (100_000, 1_000_000)
    small, large = _run(few), _run(many)
    show_table(
        ("batchwork run", "peak RSS", "us CPU per row", "wall"),
        [
            (f"{count:,} rows", f"{run.peak_mb:.0f} MB", f"{run.cpu_s / count * 1e6:.0f}", f"{run.wall_s:.0f} s")
            for count, run in ((few, small), (many, large))
        ],
    )
    growth = large.peak_mb - small.peak_mb
    return verdict(
        "memory",
        f"{large.peak_mb:.0f} MB at {many:,} rows, {growth:+.0f} MB over {few:,}",
        f"{MOST_MB:.0f} MB, {MOST_GROWTH_MB:+.0f} MB",
        ok=large.peak_mb <= MOST_MB and growth < MOST_GROWTH_MB,
        timed=False,
    )


def _run(count: int) -> Finished:
    with folder() as place:
        given, out = place / "in.jsonl", place / "out.jsonl"
        write_rows(given, count)
        command = [sys.executable, "-m", "batchwork", "run", given, "-o", out]
        done = run_child([*command, "--model", "mock:echo", "--prompt", PROMPT, "--quiet"])
        _must_be_whole(out, count)
    return done


def _must_be_whole(out: Path, count: int) -> None:
    with out.open("rb") as lines:
        rows = sum(1 for _ in lines)
    assert rows == count, f"{rows} rows of {count} came out"


if __name__ == "__main__":
    sys.exit(main())
