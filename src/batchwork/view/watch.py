"""Follows a journal: fills its index in a thread of its own, and tells how far it is and when there is news."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from batchwork.clock import stopwatch
from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import BatchworkError
from batchwork.journal import JournalReader
from batchwork.journals import open_reader
from batchwork.view.columns import ItemColumns
from batchwork.view.index import SideIndex, index_path, open_index

_EVENTS_AT_ONCE = 4_000
_LOOK_EVERY_S = 0.25
_SORTED_SHARE = 10.0  # so many times as long as sorting took it is not done again: a million items take seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the index is."""

    done: int  # events that it holds
    total: int  # events in the journal
    problem: str | None = None  # why it does not go on

    @property
    def is_whole(self) -> bool:
        """Whether everything in the journal is in the index."""
        return self.done >= self.total


class JournalWatch:
    """One journal that is looked at. `start` begins to follow it, `close` ends that."""

    def __init__(self, journal: JournalAddress, cache: Path) -> None:
        self.journal = journal
        self.columns = ItemColumns()
        self.version = 0  # changes when there is news
        self.progress = Progress(done=0, total=0)
        self._index_path = index_path(journal, cache)
        self._reader = open_reader(journal)  # raises where there is none
        self._index = open_index(self._index_path, self._reader)
        self._pages: tuple[JournalReader, SideIndex] | None = None  # for pages, opened when they are first needed
        self._turn = threading.Lock()
        self._file = self._identity()
        self._seen = 0  # the last event that is in the columns
        self._stop = threading.Event()
        self._listeners: list[Callable[[], object]] = []
        self._thread = threading.Thread(target=self._follow, name="batchwork-view", daemon=True)

    def start(self) -> None:
        """Begin to follow the journal."""
        self._thread.start()

    def close(self) -> None:
        """Let go of everything."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._close_pages()
        self._index.close()
        self._reader.close()

    @contextmanager
    def reading(self) -> Iterator[tuple[JournalReader, SideIndex]]:
        """The journal and its index for one page; pages take turns."""
        with self._turn:
            if self._pages is None:
                self._pages = open_reader(self.journal), SideIndex(self._index_path)
            yield self._pages

    def _close_pages(self) -> None:
        with self._turn:
            for connection in self._pages or ():
                connection.close()
            self._pages = None

    @property
    def is_written(self) -> bool:
        """Whether a run goes on."""
        return self._reader.writer() is not None

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call back from the thread when there is news; the function returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- in the thread --------------------------------------------------------------------------

    def _follow(self) -> None:
        was_written = self.is_written
        elapsed, due = stopwatch(), 0.0
        while not self._stop.is_set():
            try:
                has_news = self.catch_up()
            except (BatchworkError, sqlite3.Error, OSError) as error:  # what is in the index is shown, with the reason
                self._tell(Progress(done=self.progress.done, total=self.progress.total, problem=str(error)))
                return
            if has_news:
                continue
            if elapsed() >= due:
                began = elapsed()
                self.columns.sort()
                due = elapsed() + _SORTED_SHARE * (elapsed() - began)
            if was_written != (was_written := self.is_written):
                self._tell(self.progress)
            self._stop.wait(_LOOK_EVERY_S)

    def catch_up(self) -> bool:
        """Take in what the journal has more; whether there was anything."""
        if self._identity() != self._file:
            self._open_again()
        total, done = self._reader.sums().seq, self._index.seq
        if done != self._seen:  # an earlier viewer, or another one at this moment, has filled it so far
            self.columns.load(self._index.rows())
        elif done < total:
            rows, before = self._index.fill(self._reader, _EVENTS_AT_ONCE), done
            done = self._index.seq
            self.columns.change(rows) if done - before <= _EVENTS_AT_ONCE else self.columns.load(self._index.rows())
        self._seen = done
        now = Progress(done=done, total=max(total, done))
        if now == self.progress:
            return False
        self._tell(now)
        return True

    def _identity(self) -> object:
        """What tells this journal from another one that takes its place; None: there is none."""
        if not isinstance(self.journal, Path):
            return self._reader.sums().run_id
        with suppress(OSError):
            seen = self.journal.stat()
            return seen.st_dev, seen.st_ino
        return None

    def _open_again(self) -> None:
        """Another journal has taken the place of this one."""
        if (file := self._identity()) is None:
            return
        reader = open_reader(self.journal)
        self._reader.close()
        self._index.close()
        self._reader, self._file, self.columns = reader, file, ItemColumns()
        self._index = open_index(self._index_path, reader)
        self._close_pages()

    def _tell(self, progress: Progress) -> None:
        self.progress = progress
        self.version += 1
        for listener in list(self._listeners):
            listener()
