"""`make torture`: everything that can end a run badly, full-size, and a table of how each of it ended.

Every test judges what it did by the provider's own bill; those that kill, end, stop or cut something off say how often.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
PLACES = [
    HERE,
    *(TESTS / "hostile" / f"test_{name}.py" for name in ("disk", "disk_clock", "disk_copies")),
    TESTS / "journal" / "test_damage.py",
    TESTS / "manager" / "test_budget.py",
]
ENDS = ("kill", "terminate", "interrupt", "stop", "cut")
LEAST_KILLS = 300


@dataclass
class Row:
    """What became of one test, over all its cells."""

    cells: int = 0
    failed: int = 0
    seconds: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)


class Rows:
    """Collects what the tests report."""

    def __init__(self) -> None:
        self.of: dict[str, Row] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        row = self.of.setdefault(report.nodeid.partition("[")[0], Row())
        row.seconds += report.duration
        row.failed += report.failed
        if report.when == "call":
            row.cells += 1
            row.ends.update({name: int(str(count)) for name, count in report.user_properties if name in ENDS})


def main() -> int:
    """Run everything, and show the table."""
    rows = Rows()
    code = pytest.main(
        [*map(str, PLACES), "-n", "auto", "--dist", "worksteal", "-m", "slow and not wires"], plugins=[rows]
    )
    table = Table("what", "cells", *ENDS, "seconds", "")
    ends: Counter[str] = Counter()
    for test, row in rows.of.items():
        ends += row.ends
        name = test.rpartition("::")[2].removeprefix("test_").replace("_", " ")
        counts = [str(row.ends[end] or "") for end in ENDS]
        table.add_row(
            name, str(row.cells), *counts, f"{row.seconds:.0f}", f"{row.failed} FAILED" if row.failed else "ok"
        )
    Console(width=None if sys.stdout.isatty() else 160).print(table)
    failed = sum(row.failed for row in rows.of.values())
    print(f"{sum(row.cells for row in rows.of.values())} cells, {failed} failed; ends: {dict(ends)}")
    if ends["kill"] < LEAST_KILLS:
        print(f"too few kills: {ends['kill']} of at least {LEAST_KILLS}")
    return int(code) or int(ends["kill"] < LEAST_KILLS)


if __name__ == "__main__":
    sys.exit(main())
