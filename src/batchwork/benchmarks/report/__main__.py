"""`python -m batchwork.benchmarks.report FOLDER`: render the reports of a run again, without a call."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from batchwork.benchmarks.config import FORMATS
from batchwork.benchmarks.report.runfiles import RunFilesError, load_run
from batchwork.benchmarks.report.writing import write_reports
from batchwork.benchmarks.streams import lasting


def main(arguments: Sequence[str] | None = None) -> int:
    """Render, print where the files are, and return the exit status: 0, or 2 when there is nothing to render."""
    parser = argparse.ArgumentParser(prog="python -m batchwork.benchmarks.report", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that a run wrote")
    parser.add_argument(
        "--format",
        choices=(*FORMATS, "all"),
        default="all",
        help="which report, beside those that are there; all by default",
    )
    parser.add_argument("--no-viz", action="store_true", help="no charts and no page; those that are there are removed")
    told = parser.parse_args(arguments)
    formats = FORMATS if told.format == "all" else (told.format,)
    try:
        info, calls = load_run(told.folder)
        written = write_reports(told.folder, info, calls, formats, charts=not told.no_viz)
    except (RunFilesError, OSError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 2
    with lasting():
        print("\n".join(map(str, written)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
