"""One pass over an input, however its calls are made: what may end it early, and how its end is recorded."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator

import msgspec

from batchwork.core.breaker import Pause
from batchwork.core.errors import BatchworkError
from batchwork.core.event import Ended
from batchwork.core.intake import Work
from batchwork.core.outcome import Status
from batchwork.core.stats import Tally
from batchwork.engine.parts import Parts
from batchwork.engine.read_ahead import Later

_log = logging.getLogger(__name__)


class Run(ABC):
    """What live runs and batch runs have in common. Made once, run once."""

    def __init__(self, parts: Parts, tally: Tally) -> None:
        self.tally = tally
        self.pause: Pause | None = None
        self.interrupted = False
        self.cancelled = False
        self.exhausted = False
        self._p = parts
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None

    @property
    def stopped(self) -> str | None:
        """Why the run ended before all was done; None when all was."""
        if self.interrupted:
            return "interrupted"
        if self.cancelled:
            return "cancelled"
        if self.pause is not None:
            return "paused"
        if self._error is not None:
            return "error"
        return "budget" if self.tally.settled[Status.DEFERRED] else None

    @abstractmethod
    async def run(self, source: Iterator[Work | Later | None], *, is_input: bool = True) -> None:
        """See everything through that the source yields.

        `is_input` says that the source is an input read from its start, so that its end is the end of the input.
        Raises BatchworkError where the input, a callback or the journal failed; calls under way are left cleanly first.
        """

    @abstractmethod
    def interrupt(self) -> None:
        """Stop cleanly; called a second time, leave at once."""

    @abstractmethod
    def cancel(self) -> None:
        """Give up what is not finished, at the provider too; what is finished is kept."""

    @abstractmethod
    def wake(self) -> None:
        """Whoever takes the outcomes can take more, or the input has more."""

    @property
    def still_running(self) -> list[str]:
        """The batches that go on at the provider."""
        return []

    @abstractmethod
    def _close(self) -> None:
        """Begin nothing more; whoever waits wakes up."""

    def _on_pause(self, pause: Pause) -> None:
        if self.pause is None:
            self.pause = pause
            _log.info("pausing: %s", pause.reason)  # whoever called is told by the exception
        self._close()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.stop(error)  # a defect of ours: never to be passed over in silence

    def stop(self, error: BaseException) -> None:
        """End with this error, once what is under way has ended."""
        if self._error is None:
            self._error = error
        self._close()

    def _record_end(self, *, is_input: bool) -> None:
        inputs = self.tally.read if self.exhausted and is_input else None
        self.tally.elapsed_s = self._p.clock.now() - self.tally.started_at
        journal, pause = self._p.journal, self.pause
        try:
            if journal.book_lost_calls():  # nobody waits for them any more
                totals = journal.totals()
                self.tally.charged_nano = totals.spent_nano - self.tally.spent_before_nano
                self.tally.unconfirmed_nano = totals.unconfirmed_nano
            ended = Ended(inputs=inputs, stopped=self.stopped)
            if not any(self.tally.elsewhere.values()):  # of several processes, each knows its own figures alone
                ended = msgspec.structs.replace(ended, figures=self.tally.figures(self.tally.elapsed_s))
            if pause is not None:
                ended = msgspec.structs.replace(ended, reason=pause.reason, remedy=pause.remedy)
            elif self._error is not None:
                ended = msgspec.structs.replace(ended, reason=str(self._error))
            journal.record(ended)
        except BatchworkError as error:  # a callback raised at the very end
            self.stop(error)
