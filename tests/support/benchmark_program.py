"""The benchmark as a program, for the tests that run it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
QUICK = ["--no-viz", "--max-data-size", "60", "--trials", "2"]


def folders(tmp_path: Path) -> list[Path]:
    """The folders of the runs under the usual output."""
    return sorted((tmp_path / "benchmark_results").iterdir())
