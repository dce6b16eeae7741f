"""One file of a run."""

from pathlib import Path


def write_report(journal: Path, cache: Path, path: Path) -> str:
    """Write it."""
    raise NotImplementedError
