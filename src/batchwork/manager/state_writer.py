"""Write the state view and the result files beside a run, in a thread of its own, never more often than it pays.

Up to 1,000 items the view is rewritten after every one that settles; beyond that every two seconds or every twenty
rewrite-times, whichever is longer, so that the time per item does not grow with their number.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from batchwork.clock import stopwatch
from batchwork.core.errors import JournalWriteError
from batchwork.core.event import BatchClosed, BatchIntended, BatchSubmitted, Event, Settled
from batchwork.core.outcome import AnyOutcome
from batchwork.core.ports import Entry
from batchwork.engine.engine import Engine
from batchwork.journal.atomic import write_atomically
from batchwork.journals import open_reader
from batchwork.manager.finisher import Evidence, Finisher
from batchwork.manager.result_files import ResultFiles
from batchwork.manager.state_file import FAILED, SUCCEEDED, StateView

_log = logging.getLogger(__name__)
_ALWAYS_UP_TO = 1_000  # items
_PAUSE_S = 2.0
_REWRITE_TIMES = 20.0
_MOST_BEHIND = 2_000  # outcomes that may wait for their files before the run waits for us


class StateWriter:
    """Watches one run and writes for it: the first state is on disk before anything is sent, the last at the end."""

    def __init__(
        self, view: StateView, finisher: Finisher, *, state_path: Path | None, files: ResultFiles | None
    ) -> None:
        self._view = view
        self._finisher = finisher
        self._state_path = state_path
        self._files = files
        self._engine: Engine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.on_room: Callable[[], None] = lambda: None  # called in the run's loop when there is room again
        self._news = threading.Condition()
        self._settled: deque[AnyOutcome] = deque()
        self._changed = False
        self._closing = False
        self._error: Exception | None = None
        self._last_s = 0.0  # how long the latest rewrite took
        self._thread: threading.Thread | None = None

    def has_room(self) -> bool:
        """Whether the files keep up."""
        return self._error is not None or len(self._settled) < _MOST_BEHIND

    # -- called by the run ----------------------------------------------------------------------

    def opened(self, engine: Engine) -> None:
        """Write the first view, and the files that a crash may have kept from being written."""
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        try:
            if self._files is not None:
                self._files.claim(self._view.state.manager_id)
                self._catch_up(self._files)
            self._write_state()
        except OSError as error:
            raise self._failed(error) from error
        self._thread = threading.Thread(target=self._work, name="state-writer", daemon=True)
        self._thread.start()

    def heard(self, event: Event) -> None:
        """Take note; the writing is done elsewhere."""
        with self._news:
            self._changed = True
            if isinstance(event, Settled):
                self._settled.append(event.outcome)
            if isinstance(event, Settled | BatchIntended | BatchSubmitted | BatchClosed):
                self._news.notify()

    def closed(self) -> None:
        """Write what is left, and the last view. Raises JournalWriteError where something could not be written."""
        if self._thread is None:
            return
        with self._news:
            self._closing = True
            self._news.notify()
        self._thread.join()
        self._thread = None
        try:
            if self._error is None:
                self._write_state()
        except OSError as error:
            self._error = error
        if isinstance(self._error, OSError):
            raise self._failed(self._error) from self._error
        if self._error is not None:
            raise self._error

    # -- the thread -----------------------------------------------------------------------------

    def _work(self) -> None:
        since = stopwatch()
        try:
            while True:
                with self._news:
                    while not (self._settled or self._closing):
                        self._news.wait(self._patience(since()))
                        if self._changed and since() >= self._pause():
                            break
                    batch = list(self._settled)
                    self._settled.clear()
                    closing_down = self._closing
                    changed, self._changed = self._changed, False
                self._tell_of_room()
                self._write_files(batch)
                if changed and since() >= self._pause():
                    self._write_state()
                    since = stopwatch()
                elif changed:
                    self._changed = True
                if closing_down and not self._settled:
                    return
        except Exception as error:  # the edge of this thread: whoever closes it gets it, and the run need not wait
            self._error = error
            _log.warning("the state and results are not written any more: %s", error)
            self._tell_of_room()

    def _tell_of_room(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.on_room)

    def _patience(self, since_s: float) -> float | None:
        return max(0.01, self._pause() - since_s) if self._changed else None

    def _pause(self) -> float:
        return 0.0 if self._view.total <= _ALWAYS_UP_TO else max(_PAUSE_S, _REWRITE_TIMES * self._last_s)

    def _write_state(self) -> None:
        if self._state_path is None or self._engine is None:
            return
        took = stopwatch()
        write_atomically(self._state_path, self._view.encoded(self._engine.clock.utc()))
        self._last_s = took()

    def _failed(self, error: OSError) -> JournalWriteError:
        return JournalWriteError(
            f"cannot write {error.filename or self._state_path}: {error.strerror or error}; the journal is whole, and"
            " the next run writes what is missing"
        )

    # -- result files ---------------------------------------------------------------------------

    def _write_files(self, batch: list[AnyOutcome]) -> None:
        if self._files is None:
            return
        for outcome in batch:
            self._files.write_raw(outcome)
        for job in sorted({self._view.job_of(outcome.index) for outcome in batch}):
            if self._view.is_settled(job):
                self._write_job(self._files, job)

    def _write_job(self, files: ResultFiles, job: int) -> None:
        results: list[object] = []
        evidence: list[Evidence] = []
        for entry in self._entries(job):
            results.append(self._finisher.plain(entry.outcome))
            document = partial(self._finisher.document, entry.request)
            evidence.append(self._finisher.evidence(entry.outcome, document))
        files.write_processed(job, results, evidence, quoted=self._finisher.quoting is not None)

    def _entries(self, job: int) -> list[Entry]:
        width = self._view.state.items_per_job
        start, stop = job * width, min((job + 1) * width, self._view.total)
        assert self._engine is not None
        if self._engine.plan.journal is None:
            return list(self._engine.journal.entries(start, stop))
        with closing(open_reader(self._engine.plan.journal)) as reader:
            return list(reader.entries(start, stop))

    def _catch_up(self, files: ResultFiles) -> None:
        """What settled before a crash, and was not written any more."""
        for job in self._view.state.jobs if self._view.done else ():
            settled = (item.original_index for item in job.items if item.status in (SUCCEEDED, FAILED))
            missing = {index for index in settled if not files.raw_path(index).exists()}
            for entry in self._entries(job.index) if missing else ():
                if entry.index in missing and entry.outcome is not None:
                    files.write_raw(entry.outcome)
            if self._view.is_settled(job.index) and not files.processed_path(job.index).exists():
                self._write_job(files, job.index)
