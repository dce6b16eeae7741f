"""Decide what a manager finds at its `state_path`: nothing, a run to go on with, a state that came alone, or trouble.

The journal beside the state is the truth; the state is a view of it that can be rebuilt. Nothing is ever deleted: what
is replaced is set aside under a new name. Whatever would pay for something twice is an error that says what to do.
"""

import logging
import uuid
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchwork.clock import SystemClock
from batchwork.core.dsn import Dsn, JournalAddress, name_of
from batchwork.core.errors import ConfigError
from batchwork.core.event import Began
from batchwork.core.words import counted
from batchwork.journal import journal_of_state, set_aside
from batchwork.journal.atomic import write_atomically
from batchwork.journal.connections import holds_nothing
from batchwork.journals import is_there, open_reader
from batchwork.manager.options import PreparedJob
from batchwork.manager.result_files import ResultFiles
from batchwork.manager.state_file import PROCESSING, State, read_state, stamp
from batchwork.manager.state_import import import_state

_log = logging.getLogger(__name__)
MANAGER = "manager"  # under which name a journal's settings keep what follows
_FREE = frozenset({"response_model", "enable_citations"})  # names and views: they change no answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """Where a manager keeps its things."""

    state: Path | None
    files: ResultFiles | None
    items_per_job: int
    database: Dsn | None = None  # the journal, where it is not beside the state

    @property
    def journal(self) -> JournalAddress | None:
        """The truth, beside the view or in a database."""
        if self.database is not None:
            return self.database
        return None if self.state is None else journal_of_state(self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """The run that is at a place: what identifies it, and what was known of its prices."""

    journal: JournalAddress
    kept: dict[str, Any]
    priced: bool
    alone: State | None  # the state, where it came without its journal


def found_at(folder: RunFolder, job: PreparedJob) -> FoundRun | None:
    """The run that is there, which is this one; None when there is none. Touches nothing.

    Raises ConfigError where what is there belongs to another input or model, or cannot be told.
    """
    if folder.journal is None:
        return None
    has_state = folder.state is not None and folder.state.exists()
    if folder.database is None and not has_state:
        return None
    found = _of_journal(folder.journal)
    if found is None and (folder.state is None or not has_state):
        return None
    if found is None:
        assert folder.state is not None
        found = _of_state(folder.state, folder.journal)
    difference = _difference(found.kept, _identity(folder, job), folder.state, job)
    if difference is not None:
        where = folder.state if folder.database is None else folder.database
        raise ConfigError(
            f"{where} belongs to another run: {difference}. Go on with what it was made with, name another"
            " state_path for this one, or move the state file away to start anew (its journal is then set aside, not"
            " deleted)"
        )
    return found


def open_run(folder: RunFolder, job: PreparedJob) -> dict[str, Any]:
    """What identifies this run: that of the run found there, or of a new one. Sets aside and imports as needed.

    Raises ConfigError also where there are open batches that nobody would take up.
    """
    mine = new_run(folder, job)
    if folder.journal is None:
        return mine
    found = found_at(folder, job)
    if found is None and isinstance(folder.journal, Dsn):
        return mine
    if found is None:
        assert folder.state is not None
        _start_afresh(folder.state, journal_of_state(folder.state), folder.files)
        return mine
    mine |= {name: found.kept[name] for name in ("manager_id", "created_at")}
    if folder.state is None:
        return mine
    if found.alone is not None:
        _refuse_unknown_batches(folder.state, folder.journal, found.alone)
        import_state(found.alone, job, folder.journal, folder.files, settings={MANAGER: mine})
    elif folder.state.exists() and _read(folder.state) is None:
        _keep_damaged(folder.state)
    return mine


def new_run(folder: RunFolder, job: PreparedJob) -> dict[str, Any]:
    """What identifies a run that begins now."""
    return _identity(folder, job) | {"manager_id": str(uuid.uuid4()), "created_at": stamp(SystemClock().utc())}


def _identity(folder: RunFolder, job: PreparedJob) -> dict[str, Any]:
    """What tells one run from another."""
    return {
        "model": job.plan.model,
        "items_per_job": folder.items_per_job,
        "items": len(job.inputs),
        "inputs_digest": job.inputs.identity(),
        "batch_kwargs": job.identity,
    }


def _last_run(journal: JournalAddress) -> Began | None:
    """The latest run on a journal; a file whose making was cut off is nothing yet."""
    if holds_nothing(journal) if isinstance(journal, Path) else not is_there(journal):
        return None
    with closing(open_reader(journal)) as reader:
        return reader.last_run()


def _of_journal(path: JournalAddress) -> FoundRun | None:
    began = _last_run(path)
    if began is None:
        return None
    kept = began.settings.get(MANAGER)
    if not isinstance(kept, dict):
        raise ConfigError(f"{path} is not the journal of a BatchManager; move it away")
    return FoundRun(journal=path, kept=kept, priced=began.priced, alone=None)


def _of_state(path: Path, journal: JournalAddress) -> FoundRun:
    state = _read(path)
    if state is None:
        raise ConfigError(
            f"{path} is not a state file, and its journal {name_of(journal)} is not there;"
            " name another state_path, or move the file away to start anew"
        )
    names = ("manager_id", "created_at", "model", "items_per_job", "inputs_digest", "batch_kwargs")
    kept = {name: getattr(state, name) for name in names} | {"items": sum(len(job.items) for job in state.jobs)}
    return FoundRun(journal=journal, kept=kept, priced=state.total_cost is not None, alone=state)


def _read(path: Path | None) -> State | None:
    if path is None:
        return None
    try:
        return read_state(path)
    except OSError as error:
        raise ConfigError(f"cannot read the state file {path}: {error.strerror}") from error


def _start_afresh(state: Path, journal: Path, files: ResultFiles | None) -> None:
    """The user removed the state file: a fresh start, unless the provider still works for the old one."""
    began = _last_run(journal)
    if began is None:
        return
    with closing(open_reader(journal)) as reader:
        tickets = reader.open_batches()
    if tickets:
        names = ", ".join(ticket.batch_id or "one without a number yet" for ticket in tickets[:3])
        batches = counted(len(tickets), "batch", "batches")
        raise ConfigError(
            f"the state file {state} is gone, but its journal {journal.name} has {batches} open at the provider"
            f" ({names}). To take them up, put the state file back or create an empty one in its place: it is"
            f" rebuilt from the journal. To give them up, move {journal.name} away"
        )
    kept = began.settings.get(MANAGER)
    if files is not None:
        files.refuse_foreign(kept["manager_id"] if isinstance(kept, dict) else "another program")
        files.set_aside()
    aside = set_aside(journal)
    _log.warning("the state file %s is gone: starting anew; the old journal is kept as %s", state, aside)


def _refuse_unknown_batches(path: Path, journal: JournalAddress, state: State) -> None:
    """What is at the provider is taken up by its number and its custom ids, or not asked again without a word."""
    named = {place for batch in state.open_batches if batch.batch_id is not None for place in batch.places()}
    lost = [
        job
        for job in state.jobs
        if any(item.status == PROCESSING and item.original_index not in named for item in job.items)
        and (job.batch_id is not None or any(batch.batch_id is None for batch in state.open_batches))
    ]
    if lost:
        names = ", ".join(f"job {job.index} as {job.batch_id or 'one without a number yet'}" for job in lost[:3])
        raise ConfigError(
            f"{path} came without its journal, and {len(lost)} of its jobs were at the provider when it was written"
            f" ({names}): asking again could pay for them twice. To take them up, put {name_of(journal)} beside it, or"
            " read them with BatchJob.attach(). To give them up, set the batch_id of these jobs to null and"
            f" open_batches to [] in {path.name}"
        )


def _keep_damaged(path: Path) -> None:
    """Copy it: were it moved, a crash before the next state would look as if the user had removed it."""
    number = 1
    while (aside := path.with_name(f"{path.name}.bad-{number}")).exists():
        number += 1
    write_atomically(aside, path.read_bytes())
    _log.warning("the state file %s cannot be read: it is rebuilt from the journal and kept as %s", path, aside.name)


def _difference(kept: dict[str, Any], mine: dict[str, Any], path: Path | None, job: PreparedJob) -> str | None:
    """What tells a run from the one that is there: it goes on with the same input and question, or not at all."""
    if kept["model"] != mine["model"]:
        return f"its model is {kept['model']!r}, this one's {mine['model']!r}"
    if kept["items_per_job"] != mine["items_per_job"]:
        return f"its items_per_job is {kept['items_per_job']}, this one's {mine['items_per_job']}"
    if kept["items"] != mine["items"]:
        return f"it has {kept['items']:,} items, this one {mine['items']:,}"
    before, now = kept["batch_kwargs"], mine["batch_kwargs"]
    if before.get("schema") != now.get("schema") and (kept["inputs_digest"] or "schema" in before):
        return _other_schema(before, now)
    free = _FREE if now.get("schema") is not None else _FREE - {"enable_citations"}
    # A state that another program wrote may say less than ours; what it says must be the same.
    names = before.keys() | now.keys() if kept["inputs_digest"] else before.keys() & now.keys()
    for name in sorted(names - free):
        if before.get(name) != now.get(name):
            return f"its {name} is {_short(before.get(name))}, this one's {_short(now.get(name))}"
    if kept["inputs_digest"] == mine["inputs_digest"]:
        return None
    found = _other_input(_read(path), job)
    return found or ("the content of an item is not the same" if kept["inputs_digest"] else None)


def _other_schema(before: dict[str, Any], now: dict[str, Any]) -> str:
    was, is_now = (_fields(options.get("schema")) for options in (before, now))
    changes = (("without", sorted(was - is_now)), ("with", sorted(is_now - was)))
    how = " and ".join(f"{word} {', '.join(names)}" for word, names in changes if names) or "with other types or rules"
    return f"the schema of {now.get('response_model') or 'this one'} is not the one stored: this one is {how}"


def _fields(schema: Any) -> set[str]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return set(properties) if isinstance(properties, dict) else set()


def _other_input(state: State | None, job: PreparedJob) -> str | None:
    items = [] if state is None else [item for job in state.jobs for item in job.items]
    for item in items:
        content = job.inputs.content(item.original_index)
        if item.content != content:
            return f"item {item.original_index} is {_short(item.content)} there and {_short(content)} here"
    return None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
