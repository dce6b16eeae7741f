"""A run that was killed, its journal, and what the next run makes of it."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

import batchwork
from batchwork.core.errors import JournalDamagedError
from batchwork.core.ledger import Ledger
from batchwork.core.outcome import Status
from batchwork.journal import DayBook, JournalReader
from tests.support.killed import options, prompts

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("", "-wal", "-shm", ".mark")


def program(*arguments: object) -> list[str]:
    return [sys.executable, "-m", *map(str, arguments)]


def calls(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def run(folder: Path) -> batchwork.Results:
    return batchwork.run(prompts(), **options(folder / "j.db", Path("calls")))


def settled_in(path: Path) -> int:
    with closing(JournalReader(path)) as reader:
        return reader.counts()[Status.SUCCEEDED]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


def refusal(folder: Path) -> tuple[str, bool]:
    """Why the run is refused as damaged, and whether everything that was there, calls included, is as it was."""
    before = contents(folder)
    with pytest.raises(JournalDamagedError) as refused:
        run(folder)
    after = contents(folder)
    return str(refused.value), all(after.get(name) == body for name, body in before.items())


async def spend(book: Path, utc: float, amount: int) -> int:
    """Open the day's book, spend, close; what it says is spent."""
    day = DayBook(book, ledger=Ledger(ceiling=1000), utc=lambda: utc)
    if day.ledger.reserve(amount):
        await day.cover()
        day.ledger.settle(amount, amount)
    spent = day.ledger.spent
    await day.aclose()
    return spent
