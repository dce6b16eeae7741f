"""Run a job, or all jobs of a manager, through the engine, and pass its events on. The one code behind both doors."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, Protocol

from batchwork.core.errors import ConfigError, RunPaused
from batchwork.core.event import Event, RunInput
from batchwork.core.failure import FailureKind
from batchwork.core.intake import InputRow
from batchwork.core.ports import Clock, JournalView
from batchwork.core.words import Door
from batchwork.engine.engine import Engine
from batchwork.engine.slices import Slices
from batchwork.journal import MemoryJournal
from batchwork.journals import open_reader
from batchwork.manager.options import PreparedJob
from batchwork.manager.results import BatchResults
from batchwork.manager.state_file import FAILED, SUCCEEDED, StateView
from batchwork.results import EveryPlace, Results
from batchwork.run_session import RunSession


class Watcher(Protocol):
    """Somebody who keeps an eye on a run: files, progress, whoever waits for a batch's number."""

    def opened(self, engine: Engine) -> None:
        """Everything is open and nothing has been sent."""

    def heard(self, event: Event) -> None:
        """Something was recorded, and the view knows."""

    def closed(self) -> None:
        """The run has ended, however; called once."""


class JobRun:
    """One pass over a job's items. Made once, run once."""

    def __init__(
        self,
        prepared: PreparedJob,
        view: StateView,
        *,
        most_jobs: int = 1,
        again: bool = False,
        has_room: Callable[[], bool] | None = None,
        journal: MemoryJournal | None = None,
        remembered: Mapping[str, Any] | None = None,
        door: Door | None = None,
    ) -> None:
        self.view = view
        self._job = prepared
        self._watchers: list[Watcher] = []
        self._clock: Clock | None = None
        self._memory = journal
        self._retry_failed = frozenset(FailureKind) if again else prepared.plan.retry_failed
        supplied = replace(
            prepared.supplied,
            journal=journal,
            slices=Slices(width=view.state.items_per_job, most_open=most_jobs, on_start=self._started),
            remembered=remembered or {},
            input=RunInput(total=view.total),
            on_event=self._heard,
            has_room=has_room,
        )
        self.session = RunSession(
            prepared.plan,
            self._unchanged(prepared.inputs.rows(self._is_open)),
            supplied,
            retry_failed=self._retry_failed,
            on_open=self._opened,
            ahead=prepared.inputs.ahead,
            door=door,
        )

    def watch(self, watcher: Watcher) -> None:
        """Have one more watcher."""
        self._watchers.append(watcher)

    def cancel(self) -> None:
        """Give up what is not finished, at the provider too; called inside the loop."""
        self.session.cancel()

    async def execute(self) -> BatchResults:
        """Run to the end. Raises RunPaused and Interrupted as a session does; the `results` of a pause are ours."""
        try:
            return self._results(await self.session.execute())
        except RunPaused as paused:
            paused.results = None if paused.results is None else self._results(paused.results)
            raise
        finally:
            if self._clock is not None:
                self.view.forget_processing()
            for watcher in self._watchers:
                watcher.closed()

    def _results(self, results: Results) -> BatchResults:
        every = EveryPlace(results.source, self.view.total)
        cancelled = results.stopped == "cancelled"
        return BatchResults(every, self._job.finisher, priced=results.priced, cancelled=cancelled, keep=results)

    # -- reading, for files in a thread of its own ----------------------------------------------

    def _is_open(self, index: int) -> bool:
        """Whether an item is likely to be sent, as far as the state knows."""
        status = self.view.item(index).status
        return status != SUCCEEDED and (status != FAILED or bool(self._retry_failed))

    def _unchanged(self, rows: Iterator[InputRow]) -> Iterator[InputRow]:
        """The input as it comes, as long as what an earlier run has paid for is still what it was: else ConfigError.

        That is looked up with a connection of its own, because the journal's belongs to the loop.
        """
        paid: JournalView | None = self._memory
        with ExitStack() as stack:
            for index, row in enumerate(rows):
                known = None
                if self.view.item(index).status == SUCCEEDED:  # one that had failed may have been mended
                    if paid is None and (path := self._job.plan.journal) is not None:
                        paid = stack.enter_context(closing(open_reader(path)))
                    known = None if paid is None else paid.at(index)
                if known is not None and known.fingerprint != row.fingerprint:
                    raise ConfigError(
                        f"item {index} ({self._job.inputs.content(index)!r}) is not what it was when it was paid for;"
                        " put it back, or name another state_path to ask about it as it is now"
                    )
                yield row

    # -- listening ------------------------------------------------------------------------------

    def _opened(self, engine: Engine) -> None:
        self._clock = engine.clock
        self.view.tally = engine.tally
        self._restore(engine)
        for watcher in self._watchers:
            watcher.opened(engine)

    def _heard(self, event: Event) -> None:
        if self._clock is not None:  # before, the journal is being opened: what it tells is restored from it
            self.view.apply(event, self._clock.utc())
            for watcher in self._watchers:
                watcher.heard(event)
        if self._job.supplied.on_event is not None:
            self._job.supplied.on_event(event)

    def _started(self, index: int) -> None:
        assert self._clock is not None
        self.view.started(index, self._clock.utc())

    # -- what earlier runs have left ------------------------------------------------------------

    def _restore(self, engine: Engine) -> None:
        """Bring the view up to the journal, which is the truth."""
        view, journal = self.view, engine.journal
        times: dict[int, float] = {}
        if self._job.plan.journal is not None and journal.count():
            with closing(open_reader(self._job.plan.journal)) as reader:
                times = reader.settled_times()
                for event in reader.batch_events():
                    view.recall_batch(event)
        view.restore(journal, engine.standing, priced=engine.price is not None, times=times)
        for ticket in journal.batches.open():
            view.taken_up(ticket)
