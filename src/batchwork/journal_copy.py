"""Copies a journal between a file and a database: the same events in the same order, recorded again over there.

The copy is made under another name, compared with the original event by event, and only then gets its own, which must
be free. Of a journal that is being written, the copy is what it was at one instant.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Protocol

from batchwork.core.dsn import Dsn, JournalAddress
from batchwork.core.errors import ConfigError, JournalDamagedError, JournalWriteError
from batchwork.core.event import Event
from batchwork.journal import JournalReader, SqliteJournal
from batchwork.journal.archive import give_name
from batchwork.journal.companions import PARTS, remove_with_parts
from batchwork.journal.replayed import WRITE_EVERY, ReplayedJournal
from batchwork.journals import is_there, note_output, open_reader, wrote


class _Target(Protocol):
    """Where a copy is made."""

    def open(self, run_id: str, *, utc: Callable[[], float]) -> ReplayedJournal:
        """A new journal under a name of its own."""

    def read(self) -> JournalReader:
        """The same, to be looked at."""

    def finish(self, reader: JournalReader) -> None:
        """Give it the name that was asked for."""

    def undo(self) -> None:
        """Leave nothing behind that is not finished."""


def copy_journal(source: JournalAddress, to: JournalAddress) -> int:
    """Copy a journal to an address where there is none; how many events the copy has."""
    _refuse_taken(to)
    target: _Target = _FileCopy(to) if isinstance(to, Path) else _database_copy(to)
    try:
        with closing(open_reader(source)) as reader:
            count = reader.sums().seq
            _record(reader, count, target)
            with closing(target.read()) as copy:
                _compare(reader, copy, count, to)
                target.finish(copy)
            outputs = [path for path, _, _ in reader.outputs()]
    finally:
        target.undo()
    for path in outputs:
        with suppress(OSError):
            if wrote(source, path):
                note_output(to, path)
    return count


def _refuse_taken(to: JournalAddress) -> None:
    if isinstance(to, Dsn):
        taken = is_there(to)
    else:
        if to.is_dir():
            raise ConfigError(f"{to} is a folder: name the file that the copy becomes")
        if not to.parent.is_dir():
            raise ConfigError(f"there is no folder {to.parent} for the copy {to.name}")
        taken = any(os.path.lexists(to.with_name(to.name + part)) for part in PARTS)
    if taken:
        raise ConfigError(f"there is a journal at {to}, and a copy replaces nothing: name another one")


def _events(reader: JournalReader, count: int) -> Iterator[tuple[float, Event]]:
    """The first so many events, each with the time when it was recorded."""
    last = 0
    while last < count and (page := reader.events_after(last, min(WRITE_EVERY, count - last))):
        last = page[-1][0]
        yield from ((at, event) for _, at, event in page)


def _record(reader: JournalReader, count: int, target: _Target) -> None:
    now = 0.0
    with closing(target.open(reader.sums().run_id, utc=lambda: now)) as journal:
        events = _events(reader, count)
        while page := list(islice(events, WRITE_EVERY)):
            for now, event in page:  # noqa: B007 - it is the time of what is recorded
                journal.replay(event)
            journal.flush()


def _compare(reader: JournalReader, copy: JournalReader, count: int, to: JournalAddress) -> None:
    """Hold the copy against the original, event by event, and its sums against theirs."""
    copied = _events(copy, copy.sums().seq)
    for number, pair in enumerate(_events(reader, count), start=1):
        if next(copied, None) != pair:
            raise JournalDamagedError(f"event {number} did not arrive at {to} as it was; nothing is there")
    if next(copied, None) is not None or copy.counts() != copy.sums().counts:
        raise JournalDamagedError(f"the sums at {to} are not what the events add up to; nothing is there")


class _ReplayedFile(ReplayedJournal):
    def __init__(self, path: Path, run_id: str, utc: Callable[[], float]) -> None:
        SqliteJournal.__init__(self, path, utc=utc)
        self._follow(run_id)


class _FileCopy:
    """A copy in a file."""

    def __init__(self, to: Path) -> None:
        self._to = to
        self._aside = to.with_name(f".{to.name}.{os.getpid()}.part")

    def open(self, run_id: str, *, utc: Callable[[], float]) -> ReplayedJournal:
        remove_with_parts(self._aside)
        return _ReplayedFile(self._aside, run_id, utc)

    def read(self) -> JournalReader:
        return JournalReader(self._aside)

    def finish(self, reader: JournalReader) -> None:
        try:
            give_name(self._aside, self._to, reader.sums())
        except OSError as error:
            raise JournalWriteError(f"cannot write {self._to}: {error.strerror}; nothing is there") from error

    def undo(self) -> None:
        remove_with_parts(self._aside)


def _database_copy(to: Dsn) -> _Target:
    from batchwork.postgres.copy import DatabaseCopy  # noqa: PLC0415 - its driver is an extra

    return DatabaseCopy(to)
