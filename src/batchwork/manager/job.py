"""batch(): one job in the background, and the handle by which it is waited for, read and cancelled."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from batchwork._bridge import BackgroundLoop
from batchwork.core.errors import ConfigError
from batchwork.core.event import BatchSubmitted, Event
from batchwork.engine.engine import Engine
from batchwork.manager.attached import AttachedRun
from batchwork.manager.finisher import Citations
from batchwork.manager.inputs import PdfMode
from batchwork.manager.job_run import JobRun
from batchwork.manager.options import CitationMode, JobOptions, prepare_job
from batchwork.manager.result_files import RawFiles
from batchwork.manager.results import BatchResults
from batchwork.manager.state_file import StateView
from batchwork.manager.stats import JobStats, stats_of


class _BatchIds:
    """The provider's ids of a job's batches, as they come."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.there = threading.Event()

    def opened(self, engine: Engine) -> None:
        self.ids += [t.batch_id for t in engine.journal.batches.open() if t.batch_id is not None]
        if self.ids or not engine.uses_batches:
            self.there.set()

    def heard(self, event: Event) -> None:
        if isinstance(event, BatchSubmitted):
            self.ids.append(event.batch_id)
            self.there.set()

    def closed(self) -> None:
        self.there.set()


class BatchJob:
    """One job under way. Made by `batch()` or `BatchJob.attach()`.

    It works in a thread of its own that ends with the process; the provider's batches go on, and `attach` takes one up
    by its `batch_id` from anywhere.
    """

    def __init__(self, execution: JobRun | AttachedRun) -> None:
        self._execution = execution
        self._batch_ids = _BatchIds()
        execution.watch(self._batch_ids)
        self._background = BackgroundLoop(execution.execute)

    @classmethod
    def attach(
        cls,
        batch_id: str,
        *,
        model: str,
        messages: Any = None,
        files: Sequence[Any] | None = None,
        prompt: str | None = None,
        response_model: Any = None,
        enable_citations: bool = False,
        citations: CitationMode | None = None,
        pdf: PdfMode = "text",
        **options: Any,
    ) -> Self:
        """Take up a batch that is at the provider already, perhaps started by another process.

        The order is that of the original input, restored from the custom ids. Every answer is validated; one that does
        not fit is that item's failure, because a batch that is taken up is not asked again: `batch()` or a
        `BatchManager` on its state does that.

        Args:
            batch_id: the provider's id of the batch.
            model: as it was asked.
            messages: what was asked, all of it and in its order; or
            files: the documents it was asked about, as they were. The provider gives neither back, so citations need
                one of them; they are read when somebody looks.
            prompt: what was asked about the files; it may be left out.
            response_model: a Pydantic model (`schema=` takes a JSON schema).
            enable_citations: for every field, the places in the document that say it.
            citations: as for `batch()`, and as it was asked.
            pdf, options: as for `batch()`.

        Raises:
            ConfigError: something is unknown or wrong.
        """
        knows_inputs = messages is not None or files is not None
        if (enable_citations or citations) and not knows_inputs:
            raise ConfigError(
                "enable_citations=True needs the documents: give files= (or messages=) as they were asked"
            )
        own = replace(
            JobOptions.among(locals()),
            messages=messages if knows_inputs else ["-"],
            prompt=prompt if files is None else prompt or "-",  # where they say something does not depend on it
        )
        options |= {"model": model, "journal": None}  # nothing is sent, so nothing need be remembered
        job = prepare_job(own, options, also=("batch_id", "model"))
        return cls(AttachedRun(batch_id, job, knows_inputs=knows_inputs))

    @property
    def batch_id(self) -> str | None:
        """The provider's id of the latest batch; waits until there is one. None when the job runs live."""
        self._batch_ids.there.wait()
        return self._batch_ids.ids[-1] if self._batch_ids.ids else None

    @property
    def batch_ids(self) -> list[str]:
        """All of them: a job that was split, expired or retried has several."""
        return list(self._batch_ids.ids)

    def is_complete(self) -> bool:
        """Whether it has ended, however."""
        return self._background.wait(0)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most so many seconds; whether it has come."""
        return self._background.wait(timeout)

    def results(self) -> BatchResults:
        """The results in input order; waits for the end.

        Raises:
            RunPaused: the provider does not let us go on; what is finished is in its `results`.
            BatchworkError: the job could not be run.
        """
        self._background.wait()  # Ctrl-C ends the waiting, not the job
        return self._background.result(lambda: None)

    def citations(self) -> list[Citations]:
        """Per item, for every field, the places in its document that say it; waits for the end."""
        return self.results().citations()

    def stats(self) -> JobStats:
        """The numbers so far, with the provider's id of the latest batch, if there is one yet."""
        batch_id = self.batch_ids[-1] if self.batch_ids else None
        return stats_of(self._execution.view, batch_id=batch_id, is_complete=self.is_complete())

    def cancel(self) -> None:
        """Give up what is not finished, at the provider too; what is finished is kept, and `results()` has it."""
        self._background.call(self._execution.cancel)

    def __iter__(self) -> Any:
        return iter(self.results())

    def __repr__(self) -> str:
        view = self._execution.view
        return f"<BatchJob {view.state.model}: {view.done}/{view.total} items>"


def batch(
    messages: Any = None,
    files: Sequence[Any] | None = None,
    prompt: str | None = None,
    *,
    model: str,
    response_model: Any = None,
    enable_citations: bool = False,
    citations: CitationMode | None = None,
    pdf: PdfMode = "text",
    raw_results_dir: str | Path | None = None,
    **options: Any,
) -> BatchJob:
    """Start one job and return at once; it goes through the provider's batches where there are any, else live.

    Args:
        messages: conversations, each a list of message dicts or a string; or, with `prompt`, a table, as for `run`.
            Either these or `files`.
        files: documents, each a path or bytes: PDF, text, Markdown, HTML, DOCX, images.
        prompt: what to do with each file; or what is asked about each row of a table.
        model: `backend:name`, or a bare `claude-...` or `gpt-...` id.
        response_model: a Pydantic model that every answer becomes an instance of (`schema=` takes a JSON schema).
        enable_citations: for every field, the places in the document that say it.
        citations: how, which implies `enable_citations`: `"found"` by our finder, at no cost, or `"quoted"`: the model
            quotes the document beside its answer, which costs output, and every quote is verified.
        pdf: `"text"` sends a PDF's text, `"native"` the file itself.
        raw_results_dir: a folder for the provider's answers as they came, one JSON file per item.
        options: `max_bytes`, `max_pages`, `max_characters`, `max_memory_mb`, `max_cpu_s` and `max_wall_s` say how
            large a document may be and what reading it may take; and everything that `batchwork.run` takes,
            where `mode` is `"batch"` unless you say `"live"`.

    Raises:
        ConfigError: something is missing, unknown or contradictory; nothing was sent.
    """
    own = JobOptions.among(locals())
    raw = None if raw_results_dir is None else RawFiles(Path(raw_results_dir))
    also = ("model", "raw_results_dir")
    job = prepare_job(own, {"model": model, **options}, also=also, keep_bodies=raw is not None)
    run = JobRun(job, StateView.of_one_job(job.plan.model, len(job.inputs)))
    if raw is not None:
        run.watch(raw)
    return BatchJob(run)
