"""Run a job, or all jobs of a manager, through the engine; whoever watches is told. The one code behind both doors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from batchwork.core.errors import ConfigError, RunPaused
from batchwork.core.event import BatchIntended, BatchSubmitted, Event
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake
from batchwork.core.outcome import Status
from batchwork.core.ports import Clock, JournalView
from batchwork.engine.engine import Engine
from batchwork.engine.slices import Slices
from batchwork.journal import JournalReader, MemoryJournal
from batchwork.manager.options import PreparedJob
from batchwork.manager.results import BatchResults, Ending
from batchwork.manager.state_file import FAILED, SUCCEEDED, StateView
from batchwork.results import EveryPlace, Results
from batchwork.runs import RunSession

_TOLD = frozenset({Status.FAILED, Status.DEFERRED, Status.SKIPPED})


class Watcher(Protocol):
    """Somebody who keeps an eye on a run: files, progress, whoever waits for a batch's number."""

    def opened(self, engine: Engine) -> None:
        """Everything is open and nothing has been sent."""
        ...

    def heard(self, event: Event) -> None:
        """Something was recorded, and the view knows."""
        ...

    def closed(self) -> None:
        """The run has ended, however; called once."""
        ...


class JobRun:
    """One pass over a job's items. Made once, run once."""

    def __init__(
        self,
        prepared: PreparedJob,
        view: StateView,
        *,
        watchers: Sequence[Watcher] = (),
        most_jobs: int = 1,
        again: bool = False,
        has_room: Callable[[], bool] | None = None,
        journal: MemoryJournal | None = None,
        remembered: Mapping[str, Any] | None = None,
    ) -> None:
        self.view = view
        self.engine: Engine | None = None
        self._job = prepared
        self._watchers = watchers
        self._clock: Clock | None = None
        self._memory = journal
        self._retry_failed = frozenset(FailureKind) if again else prepared.plan.retry_failed
        supplied = replace(
            prepared.supplied,
            journal=journal,
            slices=Slices(width=view.state.items_per_job, most_open=most_jobs, on_start=self._started),
            remembered=remembered or {},
            on_event=self._heard,
            has_room=has_room,
        )
        self.session = RunSession(
            prepared.plan,
            self._unchanged(prepared.inputs.intakes(prepared.defaults, self._is_open)),
            supplied,
            retry_failed=self._retry_failed,
            on_open=self._opened,
            ahead=prepared.inputs.ahead,
        )

    async def execute(self) -> BatchResults:
        """Run to the end.

        Raises:
            RunPaused: the breaker ended it; its `results` are ours.
            Interrupted: it was interrupted, and has stopped cleanly.
        """
        try:
            return self._results(await self.session.execute())
        except RunPaused as paused:
            results = None if paused.results is None else self._results(paused.results)
            raise RunPaused(
                reason=paused.reason,
                remedy=paused.remedy,
                results=results,
                cause=paused.cause,
                retry_after_s=paused.retry_after_s,
            ) from None
        finally:
            self._settle_down()
            for watcher in self._watchers:
                watcher.closed()

    def _results(self, results: Results) -> BatchResults:
        ending = Ending(priced=results.priced, cancelled=results.stopped == "cancelled")
        source = EveryPlace(results.source, self.view.total)
        return BatchResults(source, self._job.finisher, keep=results, ending=ending)

    # -- reading, for files in a thread of its own ----------------------------------------------

    def _is_open(self, index: int) -> bool:
        """Whether an item is likely to be sent, as far as the state knows."""
        status = self.view.item(index).status
        return status != SUCCEEDED and (status != FAILED or bool(self._retry_failed))

    def _unchanged(self, intakes: Iterator[Intake]) -> Iterator[Intake]:
        """The input as it comes, as long as what an earlier run has paid for is still what it was.

        Raises:
            ConfigError: it is not; one that had failed may have been mended.
        """
        with closing(_Paid(self._job.plan.journal, self._memory)) as paid:
            for index, intake in enumerate(intakes):
                if self.view.item(index).status == SUCCEEDED and not paid.is_for(index, intake.fingerprint):
                    raise ConfigError(
                        f"item {index} ({self._job.inputs.content(index)!r}) is not what it was when it was paid for;"
                        " put it back, or name another state_path to ask about it as it is now"
                    )
                yield intake

    # -- listening ------------------------------------------------------------------------------

    def _opened(self, engine: Engine) -> None:
        self.engine = engine
        self._clock = engine.clock
        engine.tally.total = self.view.total
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
        view.priced = engine.price is not None
        view.total_nano = engine.standing.spent_nano
        if journal.count():
            times: dict[int, float] = {}
            if self._job.plan.journal is not None:
                with closing(JournalReader(self._job.plan.journal)) as reader:
                    times = reader.settled_times()
                    self._retell_batches(reader)
            errors = {entry.index: entry.outcome for entry in journal.entries(statuses=_TOLD)}
            for entry in journal.entries(bodies=False):
                if entry.index < view.total and (entry.status is not Status.PENDING or entry.paid_nano):
                    outcome = errors.get(entry.index)
                    error = None if outcome is None else outcome.error
                    at = times.get(entry.index)
                    view.restored(entry.status, entry.index, nano=entry.paid_nano, at=at, error=error)
        for ticket in journal.batches.open():
            view.taken_up(ticket)

    def _retell_batches(self, reader: JournalReader) -> None:
        for event in reader.batch_events():
            if isinstance(event, BatchIntended):
                self.view.recall(event.chunk, event.custom_ids)
            elif isinstance(event, BatchSubmitted):
                self.view.submitted(event.chunk, event.batch_id)

    def _settle_down(self) -> None:
        """What is not at the provider is no longer under way."""
        if self.engine is not None:
            self.view.forget_processing(self.view.riding())


class _Paid:
    """What an earlier run has paid for, looked up with a connection of its own: the journal's belongs to the loop."""

    def __init__(self, path: Path | None, memory: MemoryJournal | None) -> None:
        self._path = path
        self._view: JournalView | None = memory if path is None else None

    def is_for(self, index: int, fingerprint: bytes) -> bool:
        """Whether the item at this place is the one that was paid for, as far as anybody knows."""
        if self._view is None and self._path is not None:
            self._view = JournalReader(self._path)
        known = None if self._view is None else self._view.at(index)
        return known is None or known.fingerprint == fingerprint

    def close(self) -> None:
        """Let go of it."""
        if self._view is not None:
            self._view.close()
