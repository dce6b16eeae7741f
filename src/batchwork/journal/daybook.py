"""The day's money on disk, so that a day's budget survives a restart and a crash.

The file holds one number: a mark that is never below what is spent and reserved. It is raised in steps *before* the
calls that need it. A clean end writes what was really spent; after a crash the mark counts: at most one step and the
calls under way too much, never too little. A clock that is set back gives no second budget: the later day goes on until
it ends.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Self
from zlib import crc32

import msgspec

from batchwork.core.errors import JournalDamagedError, JournalWriteError
from batchwork.core.ledger import Ledger
from batchwork.journal.atomic import write_atomically
from batchwork.journal.companions import WriterLock, make_folder

_log = logging.getLogger(__name__)
_STEPS = 100  # the mark is raised by the hundredth part of the day's budget


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    day: date
    spent_nano: int
    check: int = 0

    def sealed(self) -> Self:
        """The page with its checksum."""
        return msgspec.structs.replace(self, check=crc32(f"{self.day} {self.spent_nano}".encode()))


class DayBook:
    """One day's money: a ledger in memory, covered by a mark on disk. One process writes it at a time."""

    def __init__(self, path: Path, *, ledger: Ledger, utc: Callable[[], float]) -> None:
        """Open the book and put into the ledger what today has cost so far; a JournalError if nobody knows that."""
        self.path = path
        self.ledger = ledger
        self._utc = utc
        self._step = max(1, (ledger.ceiling or 0) // _STEPS)
        self._raising: asyncio.Task[None] | None = None
        try:
            make_folder(path.parent)
        except OSError as error:
            raise JournalWriteError(f"cannot make a folder for the day's book {path}: {error.strerror}") from error
        self._lock = WriterLock(path)
        try:
            page = _read(path)
        except BaseException:
            self._lock.release()
            raise
        today = day_of(utc())
        self.day = today if page is None else max(today, page.day)
        self._mark = page.spent_nano if page is not None and page.day == self.day else 0
        ledger.spent = self._mark
        self._is_ahead = False
        self._warn_if_ahead(today)

    async def cover(self) -> None:
        """Return when the mark on disk is not below what is spent and reserved; a JournalWriteError if it cannot."""
        while self.ledger.spent + self.ledger.reserved > self._mark:
            if self._raising is None:
                self._raising = asyncio.create_task(self._raise())
            await asyncio.shield(self._raising)

    async def _raise(self) -> None:
        try:
            mark = self.ledger.spent + self.ledger.reserved + self._step
            if self.ledger.ceiling is not None:
                mark = max(min(mark, self.ledger.ceiling), self.ledger.spent + self.ledger.reserved)
            day = self.day
            await asyncio.to_thread(_write, self.path, _Page(day=day, spent_nano=mark))
            if day == self.day:
                self._mark = mark
        finally:
            self._raising = None

    def turn_page(self) -> bool:
        """Begin a new day when there is one; whether there was. Calls under way are paid from the day they end in."""
        today = day_of(self._utc())
        self._warn_if_ahead(today)
        if today <= self.day:
            return False
        self.day = today
        self.ledger.spent = 0
        self._mark = 0
        return True

    def _warn_if_ahead(self, today: date) -> None:
        if today < self.day and not self._is_ahead:
            _log.warning(
                "the day's book %s is at %s, but the clock says %s: the later day's budget goes on until it ends. If"
                " the clock was wrong when the book was written, end the service and move the book away to start at $0",
                *(self.path, self.day, today),
            )
        self._is_ahead = today < self.day

    def seconds_left(self) -> float:
        """Seconds until the next day's budget."""
        days_ahead = (self.day - day_of(self._utc())).days
        return seconds_left(self._utc()) + 86_400.0 * max(0, days_ahead)

    async def aclose(self) -> None:
        """Write what was really spent, and release the lock."""
        try:
            if self._raising is not None:
                await asyncio.wait([self._raising])
            await asyncio.to_thread(
                _write, self.path, _Page(day=self.day, spent_nano=self.ledger.spent + self.ledger.reserved)
            )
        finally:
            self._lock.release()


def day_of(utc_s: float) -> date:
    """The day in UTC."""
    return datetime.fromtimestamp(utc_s, UTC).date()


def seconds_left(utc_s: float) -> float:
    """Seconds until the next day begins."""
    return 86_400.0 - utc_s % 86_400.0


def _read(path: Path) -> _Page | None:
    try:
        page = msgspec.json.decode(path.read_bytes(), type=_Page)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalWriteError(f"cannot read the day's book {path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise JournalDamagedError(f"{path} is not a day's book: {error}; move it away to start at $0 today") from error
    if page != page.sealed():
        raise JournalDamagedError(f"{path} contradicts its checksum; move it away to start at $0 today")
    return page


def _write(path: Path, page: _Page) -> None:
    """Whole or not at all, and on disk when this returns."""
    try:
        write_atomically(path, msgspec.json.encode(page.sealed()))
    except OSError as error:
        raise JournalWriteError(f"cannot write the day's book {path}: {error.strerror}") from error
