"""An Arrow dataset on disk, or one run over it with its results written as Parquet and JSONL; for its bill alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

import batchwork
from perf.rows import PROMPT

_FILE_ROWS = 50_000


def write_dataset(folder: Path, count: int) -> None:
    """Files of a made-up catalogue, the same every time."""
    for start in range(0, count, _FILE_ROWS):
        numbers = range(start, min(count, start + _FILE_ROWS))
        text = [f"It is {n % 6000} km long, and number {n * 7919 % 1_000_003} in an old catalogue." for n in numbers]
        columns = {"id": list(numbers), "name": [f"River {n}" for n in numbers], "text": text}
        pa.parquet.write_table(pa.table(columns), folder / f"{start:09}.parquet")


def main(folder: Path, out: Path) -> None:
    dataset = pa.dataset.dataset(sorted(map(str, folder.glob("*.parquet"))))
    results = batchwork.run(dataset, prompt=PROMPT, model="mock:echo", journal=out / "j.db")
    results.to_parquet(out / "out.parquet")
    results.to_jsonl(out / "out.jsonl")
    results.close()


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write_dataset(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(Path(sys.argv[2]), Path(sys.argv[3]))
