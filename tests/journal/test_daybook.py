"""The day's book: what is spent today, whatever happens in between."""

import asyncio
import os
from pathlib import Path

import pytest

from batchwork.core.errors import JournalDamagedError, JournalLockedError, JournalWriteError
from batchwork.core.ledger import Ledger
from batchwork.journal import DayBook
from batchwork.journal.daybook import day_of, seconds_left


class Calendar:
    def __init__(self) -> None:
        self.utc_s = 1_000_000.0

    def __call__(self) -> float:
        return self.utc_s


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


def opened(path: Path, calendar: Calendar, ceiling: int | None = 10_000) -> DayBook:
    return DayBook(path, ledger=Ledger(ceiling=ceiling), utc=calendar)


async def _cover(book: DayBook, amount: int) -> None:
    assert book.ledger.reserve(amount)
    await book.cover()


def test_the_mark_on_disk_is_never_below_what_is_spent_and_reserved(tmp_path: Path, calendar: Calendar) -> None:
    async def story() -> None:
        book = opened(tmp_path / "book", calendar)
        for _ in range(30):
            await _cover(book, 70)
            crashed = (tmp_path / "book").read_bytes()
            (tmp_path / "after").write_bytes(crashed)
            after = opened(tmp_path / "after", calendar)
            assert book.ledger.spent + book.ledger.reserved <= after.ledger.spent <= 30 * 70 + 100
            await after.aclose()
            book.ledger.settle(70, 20)
        await book.aclose()
        again = opened(tmp_path / "book", calendar)
        assert again.ledger.spent == 600
        await again.aclose()

    asyncio.run(story())


def test_a_new_day_has_a_new_budget_and_a_clock_that_goes_back_has_none(tmp_path: Path, calendar: Calendar) -> None:
    async def story() -> None:
        book = opened(tmp_path / "book", calendar)
        await _cover(book, 900)
        book.ledger.settle(900, 900)
        assert not book.turn_page()
        calendar.utc_s -= 100_000
        assert not book.turn_page()
        assert book.ledger.spent == 900
        calendar.utc_s += 100_000 + seconds_left(calendar.utc_s + 100_000)
        assert book.turn_page()
        assert (book.ledger.spent, book.day) == (0, day_of(calendar.utc_s))
        await book.aclose()
        assert opened(tmp_path / "book", calendar).ledger.spent == 0

    asyncio.run(story())


def test_a_clock_set_back_across_a_restart_gives_no_second_budget(
    tmp_path: Path, calendar: Calendar, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        book = opened(tmp_path / "book", calendar)
        await _cover(book, 900)
        book.ledger.settle(900, 900)
        await book.aclose()
        calendar.utc_s -= 100_000
        again = opened(tmp_path / "book", calendar)
        assert again.ledger.spent == 900
        assert "move the book away to start at $0" in caplog.text
        assert not again.turn_page()
        assert again.seconds_left() == 100_000 + seconds_left(calendar.utc_s + 100_000)
        await again.aclose()
        calendar.utc_s += 100_000
        assert opened(tmp_path / "book", calendar).ledger.spent == 900, "nor does coming back to the right day"

    asyncio.run(story())


def test_a_book_of_a_clock_that_was_far_ahead_is_moved_away_to_start_anew(tmp_path: Path, calendar: Calendar) -> None:
    async def story() -> None:
        calendar.utc_s += 4_000 * 86_400
        book = opened(tmp_path / "book", calendar)
        await _cover(book, 900)
        book.ledger.settle(900, 900)
        await book.aclose()
        calendar.utc_s -= 4_000 * 86_400
        again = opened(tmp_path / "book", calendar)
        assert (again.ledger.spent, again.seconds_left()) == (900, 4_000 * 86_400 + seconds_left(calendar.utc_s))
        await again.aclose()
        (tmp_path / "book").rename(tmp_path / "away")
        anew = opened(tmp_path / "book", calendar)
        assert (anew.ledger.spent, anew.day) == (0, day_of(calendar.utc_s))
        await anew.aclose()

    asyncio.run(story())


def test_one_process_writes_a_book_at_a_time(tmp_path: Path, calendar: Calendar) -> None:
    opened(tmp_path / "book", calendar)
    with pytest.raises(JournalLockedError):
        opened(tmp_path / "book", calendar)


@pytest.mark.parametrize("text", ["", "{}", '{"day": "1970-01-12", "spent_nano": 5, "check": 1}', "\xff"])
def test_a_book_that_cannot_be_trusted_is_not_read_as_zero(tmp_path: Path, calendar: Calendar, text: str) -> None:
    (tmp_path / "book").write_text(text, encoding="latin-1")
    with pytest.raises(JournalDamagedError):
        opened(tmp_path / "book", calendar)


def test_a_book_that_cannot_be_written_says_so(tmp_path: Path, calendar: Calendar) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(JournalWriteError):
        opened(tmp_path / "file" / "book", calendar)

    async def story() -> None:
        book, full = opened(tmp_path / "book", calendar), tmp_path / f".book.{os.getpid()}.part"
        full.mkdir()  # stands in for a disk that takes no more
        with pytest.raises(JournalWriteError):
            await _cover(book, 50)
        full.rmdir()
        await book.cover()
        await book.aclose()

    asyncio.run(story())
