"""Peak memory of a run over a million rows of Arrow, and how much more that is than over a tenth of them.

The table is a dataset on disk; its results are written as Parquet and as JSONL.
"""

from __future__ import annotations

import sys

from perf._harness import Finished, arguments, folder, run_module, show_table, verdict

MOST_MB = 350.0  # pyarrow and the threads with which it reads are half of it
MOST_GROWTH_MB = 40.0


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    few, many = (2_000, 6_000) if smoke else (100_000, 1_000_000)
    small, large = _run(few), _run(many)
    show_table(
        ("run(dataset, prompt=...)", "peak RSS", "us CPU per row", "wall"),
        [
            (f"{count:,} rows", f"{run.peak_mb:.0f} MB", f"{run.cpu_s / count * 1e6:.0f}", f"{run.wall_s:.0f} s")
            for count, run in ((few, small), (many, large))
        ],
    )
    growth = large.peak_mb - small.peak_mb
    return verdict(
        "tables",
        f"{large.peak_mb:.0f} MB at {many:,} rows, {growth:+.0f} MB over {few:,}",
        f"{MOST_MB:.0f} MB, {MOST_GROWTH_MB:+.0f} MB",
        ok=large.peak_mb <= MOST_MB and growth < MOST_GROWTH_MB,
        judged=not smoke,
        timed=False,
    )


def _run(count: int) -> Finished:
    with folder() as place:
        given, out = place / "in", place / "out"
        given.mkdir()
        out.mkdir()
        run_module("perf.one_table", "write", given, count)
        done = run_module("perf.one_table", "run", given, out)
        with (out / "out.jsonl").open("rb") as lines:
            rows = sum(1 for _ in lines)
        assert rows == count, f"{rows} rows of {count} came out"
    return done


if __name__ == "__main__":
    sys.exit(main())
