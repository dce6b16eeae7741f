"""Replaces a damaged journal by a new one, in which its events are recorded again in their order; keeps the old file.

Nothing is trusted but the events themselves: tables, indexes and totals are made anew.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec

from batchwork.core.errors import JournalError, JournalWriteError
from batchwork.core.event import (
    Attempted,
    BatchEvent,
    BatchIntended,
    BatchReopened,
    Event,
    ItemEvent,
    Opened,
    Reopened,
    Settled,
)
from batchwork.core.failure import FailureKind
from batchwork.core.money import show
from batchwork.core.words import counted
from batchwork.journal.archive import move_aside
from batchwork.journal.companions import LOG, PRIVATE_FILE, WriterLock, beside, mode_of, real, remove_with_parts
from batchwork.journal.connections import connect
from batchwork.journal.recovery.salvage import Salvage
from batchwork.journal.replayed import WRITE_EVERY, ReplayedJournal
from batchwork.journal.write_ahead_log import is_all_there_is


class _NewJournal(ReplayedJournal):
    def __init__(self, path: Path, salvage: Salvage, utc: Callable[[], float]) -> None:
        super().__init__(path, utc=utc, page_bytes=salvage.page_bytes)
        self._follow(salvage.run_id)


class Replay:
    """A new journal with everything that was saved; items are numbered anew where some are lost."""

    def __init__(self, salvage: Salvage, new: Path) -> None:
        self._salvage = salvage
        self._at = 0.0
        self._journal = _NewJournal(new, salvage, lambda: self._at)
        self._numbers: dict[int, int] = {}  # of items: the old one, the new one
        self._settled: set[int] = set()
        self._missing_nano = 0
        self.items = self.outcomes = self.lost_events = 0

    def run(self) -> None:
        """Record everything that was saved, and what the old totals say was spent beyond it."""
        replayed = 0
        try:
            for at, event in self._salvage.events():
                self._at = at
                replayed += self._record(event)
                if replayed % WRITE_EVERY == 0:
                    self._journal.flush()
            self._book_what_is_missing()
        finally:
            self._journal.close()
        self.items, self.outcomes = len(self._numbers), len(self._settled)
        self.lost_events = self._salvage.written() - replayed

    def _record(self, event: Event) -> bool:
        """Record an event again; False when what it was about is lost."""
        if isinstance(event, Opened):
            number = self._numbers.setdefault(event.item, len(self._numbers))
            self._journal.opened(msgspec.structs.replace(event, item=number))
        elif isinstance(event, ItemEvent):
            if event.item not in self._numbers:
                return False
            event = msgspec.structs.replace(event, item=self._numbers[event.item])
            self._journal.happened(event)
            if isinstance(event, Settled):
                self._settled.add(event.item)
            elif isinstance(event, Reopened):
                self._settled.discard(event.item)
        elif isinstance(event, BatchEvent):
            return self._record_of_batch(event)
        else:
            self._journal.ran(event)
        return True

    def _record_of_batch(self, event: BatchEvent) -> bool:
        if isinstance(event, BatchIntended):
            kept = [place for place, item in enumerate(event.items) if item in self._numbers]
            event = msgspec.structs.replace(
                event,
                items=tuple(self._numbers[event.items[place]] for place in kept),
                custom_ids=tuple(event.custom_ids[place] for place in kept),
                worst_nano=tuple(event.worst_nano[place] for place in kept) if event.worst_nano else (),
            )
        elif isinstance(event, BatchReopened):
            if event.chunk not in {ticket.chunk for ticket in self._journal.batches.lost()}:
                return False
            known = tuple(self._numbers[item] for item in event.items if item in self._numbers)
            event = msgspec.structs.replace(event, items=known)
        elif not self._journal.batches.is_open(event.chunk):
            return False
        self._journal.record(event)
        return True

    def _book_what_is_missing(self) -> None:
        """Money that was surely spent by events that are lost still counts against the ceiling."""
        self._missing_nano = max(0, (self._salvage.spent_nano() or 0) - self._journal.totals().spent_nano)
        if self._missing_nano and self._numbers:
            self._journal.happened(
                Attempted(item=0, kind=FailureKind.INTERNAL, charged_nano=self._missing_nano, unconfirmed=True)
            )

    def summary(self) -> str:
        """What was saved and lost, for people to read."""
        text = f"recovered {counted(self.outcomes, 'outcome')} of {counted(self.items, 'item')}"
        lost = counted(self.lost_events, "event was", "events were") if self.lost_events else "no event was"
        text += f"; {lost} lost"
        if self.lost_events and self._salvage.spent_nano() is None:
            text += " (their cost is not known: the total may be too low)"
        if self._missing_nano:
            text += f" ({show(self._missing_nano)} of lost calls is booked as unconfirmed)"
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What was saved, and where everything is now."""

    path: Path  # the new journal, under the old name
    kept: Path  # the damaged one
    items: int
    outcomes: int
    lost_events: int
    note: str


def recover(path: Path) -> Recovered:
    """Replace a damaged journal by a new one with all that is whole in it; a JournalError when that is nothing."""
    path = real(path)
    if not path.is_file() and not is_all_there_is(path):
        raise JournalError(f"there is no journal at {path}")
    lock = WriterLock(path)
    new, scratch = (path.with_name(f"{path.name}.{what}") for what in ("recovered", "scratch"))
    try:
        path.touch(PRIVATE_FILE)  # where only its log is left
        remove_with_parts(new, scratch)  # left by a recovery that was cut off
        with closing(Salvage(path, scratch)) as salvage:
            if not salvage.gather():
                raise JournalError(
                    f"there is nothing in {path} that could be recovered; it was left as it is. --fresh (in Python"
                    " fresh=True) starts anew and keeps it under another name"
                )
            replay = Replay(salvage, new)
            replay.run()
            note = replay.summary()
        new.chmod(mode_of(path))
        kept = move_aside(path, name="damaged", instead=new)
        _carry_outputs(kept, path)
    except OSError as error:
        raise JournalWriteError(f"cannot recover {path}: {error.strerror}") from error
    finally:
        remove_with_parts(new, scratch)
        lock.release()
    return Recovered(
        path=path,
        kept=kept,
        items=replay.items,
        outcomes=replay.outcomes,
        lost_events=replay.lost_events,
        note=f"{note}; the damaged file is kept as {kept.name}",
    )


def _carry_outputs(old: Path, new: Path) -> None:
    """Tell the new journal of the files that the old one wrote, as far as that can be read."""
    try:
        alone = "" if beside(old, LOG).exists() else "&immutable=1"  # reading it would make a log, and leave it there
        with closing(sqlite3.connect(f"{old.absolute().as_uri()}?mode=ro{alone}", uri=True)) as damaged:
            written = damaged.execute("SELECT path, size, mtime_ns FROM output").fetchall()
        with closing(connect(new, writable=True)) as journal:
            journal.executemany("INSERT OR REPLACE INTO output VALUES (?,?,?)", written)
    except sqlite3.Error:
        return  # then the user is asked for --overwrite
