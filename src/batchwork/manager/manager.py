"""BatchManager: very many items in jobs, with a budget, a state that survives everything, and results on disk."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from batchwork._bridge import run_sync
from batchwork.assembly import with_kept_limit
from batchwork.core.dsn import Dsn, is_dsn
from batchwork.core.errors import ConfigError, Interrupted
from batchwork.core.event import Ended
from batchwork.core.money import NANO, to_dollars
from batchwork.core.outcome import Status
from batchwork.core.policy import check_at_least
from batchwork.core.words import manager_door
from batchwork.journal import MemoryJournal
from batchwork.journals import open_reader
from batchwork.manager.inputs import PdfMode
from batchwork.manager.job_run import JobRun
from batchwork.manager.options import CitationMode, JobOptions, prepare_job
from batchwork.manager.result_files import ResultFiles
from batchwork.manager.results import BatchResults
from batchwork.manager.run_folder import MANAGER, FoundRun, RunFolder, found_at, new_run, open_run
from batchwork.manager.state_file import State, StateView
from batchwork.manager.state_writer import StateWriter
from batchwork.manager.stats import JobStats, stats_of, summary_of, with_jobs
from batchwork.notebook import in_notebook
from batchwork.results import EveryPlace, OutcomeSource
from batchwork.tables import Exports

_log = logging.getLogger(__name__)
_OURS = {
    "journal": "state_path says where the journal is; only a database, postgresql://..., is named by itself",
    "fresh": "remove the state file to start anew",
    "items_per_batch": "it is items_per_job here",
    "max_parallel_batches": "it is max_parallel_jobs here",
}
_AGAIN = frozenset({Status.FAILED, Status.DEFERRED})


class _Setting:
    """A setting of a manager as it was given, to look at."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, manager: "BatchManager", owner: type) -> Any:
        return self if manager is None else manager._given[self._name]

    def __set__(self, manager: "BatchManager", value: object) -> None:
        raise AttributeError(f"{self._name} is fixed: make another BatchManager with it, on the same state_path")


class BatchManager(Exports):
    """Process very many messages or files in jobs; running again on the same state goes on where it stopped.

    Args:
        messages: conversations, each a list of message dicts or a string; or, with `prompt`, a table, as for
            `batchwork.run`. Either these or `files` with `prompt`.
        files: documents, each a path or bytes.
        prompt: what to do with each file; or what is asked about each row of a table: `"Where is {city}?"`.
        model: `backend:name`, or a bare `claude-...` or `gpt-...` id.
        items_per_job: how many items make one job (one provider batch, unless its limits ask for more).
        max_parallel_jobs: how many jobs are under way at once, at the provider or live.
        max_cost: a ceiling in dollars over all runs on this state; what no longer fits is deferred, never failed.
            None: the ceiling of the run before on this state, where it had one.
        state_path: a JSON file that shows every item and from which a later run goes on; its journal lies beside it.
        save_results_dir: a folder for `raw/` results, as the provider gave them, and `processed/` ones.
        journal: a database that keeps everything, postgresql://HOST/DB?journal=NAME; `state_path` then only shows it.
        response_model, enable_citations, citations, pdf, the limits of documents (max_bytes, max_memory_mb, ...), and
            every option of `batchwork.run`: as for `batch()`.

    Each of these but the input can be looked at as an attribute. A run that is on disk can be looked at (`results()`,
    `stats`) without a key, and without its files.

    Raises:
        ConfigError: something is missing, unknown, contradictory or not there; nothing was sent.
    """

    model, items_per_job, max_parallel_jobs, max_cost = _Setting(), _Setting(), _Setting(), _Setting()
    state_path, save_results_dir, prompt, response_model = _Setting(), _Setting(), _Setting(), _Setting()
    enable_citations, citations, pdf, batch_kwargs = _Setting(), _Setting(), _Setting(), _Setting()

    def __init__(
        self,
        messages: Any = None,
        files: Sequence[Any] | None = None,
        prompt: str | None = None,
        *,
        model: str,
        items_per_job: int = 100,
        max_parallel_jobs: int = 5,
        max_cost: float | Decimal | str | None = None,
        state_path: str | Path | None = None,
        save_results_dir: str | Path | None = None,
        response_model: Any = None,
        enable_citations: bool = False,
        citations: CitationMode | None = None,
        pdf: PdfMode = "text",
        **batch_kwargs: Any,
    ) -> None:
        arguments = locals()
        own = JobOptions.among(arguments)
        arguments["enable_citations"] = own.cite
        self._given = {name: arguments[name] for name, held in vars(BatchManager).items() if isinstance(held, _Setting)}
        check_at_least(1, items_per_job=items_per_job, max_parallel_jobs=max_parallel_jobs)
        database = batch_kwargs.get("journal")
        database = Dsn.parse(database) if isinstance(database, str) and is_dsn(database) else database
        if isinstance(database, Dsn):
            del batch_kwargs["journal"]
        for name, why in _OURS.items():
            if name in batch_kwargs:
                raise ConfigError(f"{name} is not for a BatchManager: {why}")
        options = {"model": model, "max_cost": max_cost, **batch_kwargs}
        self._folder = _folder_of(state_path, save_results_dir, items_per_job, database)
        # Whether its files are there matters to a run, not to a look at what is on disk.
        self._is_unchecked = self._folder.state is not None and self._folder.state.exists()
        options |= {"items_per_batch": items_per_job, "max_parallel_batches": max_parallel_jobs}
        options |= {"journal": self._folder.journal}
        also = ("model", "items_per_job", "max_parallel_jobs", "max_cost", "state_path", "save_results_dir")
        saved = self._folder.files
        self._job = prepare_job(
            own,
            options,
            also=also,
            hidden=_OURS,
            keep_bodies=saved is not None,
            written=None if saved is None else saved.evidence,
            is_reopened=self._is_unchecked,
        )
        self._door = manager_door(self._folder.state or self._folder.database)
        self._most_jobs = max_parallel_jobs
        self._view: StateView | None = None
        self._latest: BatchResults | None = None
        self._memory = MemoryJournal()  # the journal, where there is no state_path

    def run(self, *, print_progress: bool | None = None) -> BatchResults:
        """Do everything that is not done yet; the results of all items in input order.

        `print_progress` shows how far it is; in a notebook that is shown unless you say False.

        Raises:
            ConfigError: the state belongs to another input or model; nothing was sent.
            JournalLockedError: another process is at work on this state.
            RunPaused: the provider does not let us go on; what is finished is in its `results`.
            KeyboardInterrupt: after a clean stop; batches at the provider go on, and the next run takes them up.
        """
        self._latest = self._go(print_progress=print_progress, again=False)
        return self._latest

    def retry_failed(self, *, print_progress: bool | None = None) -> BatchResults:
        """Try every failed and every deferred item again; the results of those, in input order.

        `results()` has all of them; what a first try cost is counted once.
        """
        before = self.results()
        places = [result.original_index for result in before if result.status in _AGAIN]
        if not places:
            return before.at([])
        self._latest = results = self._go(print_progress=print_progress, again=True)
        return results.at(places)

    def results(self) -> BatchResults:
        """What is known so far of all items: after `run()`, however it ended, and before it; the rest is pending.

        Raises:
            ConfigError: the state belongs to another input or model, as for `run()`.
        """
        if self._latest is not None:
            return self._latest
        found = self._found()
        source: OutcomeSource = self._memory if found is None else open_reader(found.journal)
        priced = self._view is None or self._view.priced if found is None else found.priced
        return BatchResults(EveryPlace(source, len(self._job.inputs)), self._job.finisher, priced=priced)

    @property
    def stats(self) -> JobStats:
        """The numbers so far, over all runs on this state.

        Raises:
            ConfigError: the state belongs to another input or model, as for `run()`.
        """
        if self._view is None:
            self._view = self._seen()
        ceiling = self._ceiling_nano
        return stats_of(self._view, max_cost=None if ceiling is None else to_dollars(ceiling))

    def to_dataframe(self) -> Any:
        """The same as `to_pandas()`."""
        return self.to_pandas()

    @property
    def _ceiling_nano(self) -> int | None:
        return with_kept_limit(self._job.plan).policy.max_cost_nano

    @property
    def _ours(self) -> Mapping[str, type]:
        return self.results()._ours

    def _rows(self, *, flat: bool) -> Iterator[dict[str, Any]]:
        return self.results()._rows(flat=flat)

    def _go(self, *, print_progress: bool | None, again: bool) -> BatchResults:
        folder = self._folder
        if self._is_unchecked:
            self._job.inputs.check()
            self._is_unchecked = False
        me = open_run(folder, self._job)
        if folder.files is not None:
            folder.files.refuse_foreign(me["manager_id"])
        view = self._view = self._new_view(me)
        self._latest = None  # should this run break off, what is known stands in the journal
        writer = StateWriter(view, self._job.finisher, state_path=folder.state, files=folder.files)
        run = JobRun(
            self._job,
            view,
            most_jobs=self._most_jobs,
            again=again,
            has_room=writer.has_room,
            journal=self._memory if folder.journal is None else None,
            remembered={MANAGER: me},
            door=self._door,
        )
        display = None
        if in_notebook() if print_progress is None else print_progress:
            from batchwork.display import Display  # noqa: PLC0415 - rich is slow to import

            display = Display(door=self._door, jobs=partial(with_jobs, view), is_retry=again)
            run.watch(display)  # first, so that it ends also where the files cannot be written
        say: Callable[[str], None] = _log.warning if display is None else display.say
        run.watch(writer)
        writer.on_room = run.session.wake
        ended = False
        try:
            results = run_sync(run.execute, interrupt=lambda: run.session.interrupt_aloud(say))
            ended = True
            return results
        except Interrupted:
            raise run.session.stopped() from None
        finally:
            if display is not None and view.tally is not None:
                summary = summary_of(
                    view, self._door, ceiling_nano=self._ceiling_nano, accounts=self._job.plan.accounts
                )
                display.end(summary, verdict=ended)

    def _new_view(self, me: dict[str, Any]) -> StateView:
        inputs, ceiling = self._job.inputs, self._ceiling_nano
        state = State(
            **{name: value for name, value in me.items() if name in State.__struct_fields__},
            max_cost=None if ceiling is None else ceiling / NANO,
            save_results_dir=None if self._folder.files is None else str(self._folder.files.folder),
        )
        return StateView(state, (inputs.content(index) for index in range(len(inputs))))

    def _found(self) -> FoundRun | None:
        """The run that the state holds, which is this one; a state that came alone is taken over."""
        found = found_at(self._folder, self._job)
        if found is not None and found.alone is not None:
            open_run(self._folder, self._job)
        if found is not None and self._folder.files is not None:
            self._folder.files.recognise(found.kept["manager_id"])
        return found

    def _seen(self) -> StateView:
        """What an earlier run has left."""
        found = self._found()
        if found is None:
            return self._new_view(new_run(self._folder, self._job))
        view = self._new_view(found.kept)
        with closing(open_reader(found.journal)) as reader:
            view.restore(reader, reader.totals(), priced=found.priced)
            for ticket in reader.open_batches():
                view.taken_up(ticket)
            ended = reader.last_event()
            view.figures = ended.figures if isinstance(ended, Ended) else None
        return view


def _folder_of(
    state_path: str | Path | None, save_results_dir: str | Path | None, width: int, database: Dsn | None
) -> RunFolder:
    state = None if state_path is None else Path(state_path)
    if state is not None:
        if state.is_dir():
            raise ConfigError(f"state_path {state} is a folder, not a file")
        if not state.parent.is_dir():
            raise ConfigError(f"there is no folder {state.parent} for the state file {state}")
    files = None if save_results_dir is None else ResultFiles(Path(save_results_dir), width=width)
    return RunFolder(state=state, files=files, items_per_job=width, database=database)
