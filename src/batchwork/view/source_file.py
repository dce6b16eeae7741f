"""Finds the file that a document of an item came from, by its path, and only if it is still the same by its SHA-256."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import DocumentError
from batchwork.core.request import Attachment
from batchwork.documents import load_file
from batchwork.documents.document import digest_of
from batchwork.manager.finisher import Evidence
from batchwork.manager.result_files import ResultFiles
from batchwork.manager.state_file import State, read_state


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """The bytes of a document, or why there are none."""

    data: bytes | None = None
    path: str | None = None
    note: str = ""


def source_of(journal: JournalAddress, place: int, attachment: Attachment) -> SourceFile:
    """The file of the document at a place: from the journal where it was sent itself, else from its path."""
    if attachment.data is not None and digest_of(attachment.data) == attachment.digest.hex():
        return SourceFile(data=attachment.data, path=attachment.title)
    state = state_of(journal)
    named = None if state is None else _content(state, place)
    if state is None or not isinstance(named, str) or named.startswith("<bytes"):
        return SourceFile(path=attachment.title, note="The run did not record where the file is.")
    changed = False
    for path in dict.fromkeys((Path(named), _state_path(journal).parent / named)):
        try:
            data = load_file(path)
        except DocumentError:
            continue
        if digest_of(data) == attachment.digest.hex():
            return SourceFile(data=data, path=named)
        changed = True
    note = "has changed since the run: its SHA-256 is another one" if changed else "is gone"
    return SourceFile(path=named, note=f"The file {named} {note}.")


def written_result(journal: JournalAddress, place: int) -> tuple[Any, Evidence] | None:
    """The typed value and the evidence that the run's own result file has for an item, if there is one."""
    state = state_of(journal)
    if state is None or state.save_results_dir is None:
        return None
    for folder in (Path(state.save_results_dir), _state_path(journal).parent / state.save_results_dir):
        if not folder.is_dir():
            continue
        files = ResultFiles(folder, width=state.items_per_job)
        files.recognise(state.manager_id)
        values = files.values(place // state.items_per_job)
        if place % state.items_per_job < len(values):
            value = values[place % state.items_per_job]
            evidence = files.evidence(place, value)
            return None if evidence is None else (value, evidence)
    return None


def state_of(journal: JournalAddress) -> State | None:
    """The state file beside a manager's journal, if there is one."""
    path = _state_path(journal)
    try:
        seen = path.stat()
    except OSError:
        return None
    return _read(path, seen.st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: Path, _mtime_ns: int) -> State | None:
    try:
        return read_state(path)
    except OSError:
        return None


def _state_path(journal: JournalAddress) -> Path:
    """Where a manager's state file is; one whose journal is in a database may be anywhere, and is not looked for."""
    return journal.with_suffix("") if isinstance(journal, Path) else Path(os.devnull)


def _content(state: State, place: int) -> Any:
    job, item = divmod(place, max(1, state.items_per_job))
    if job < len(state.jobs) and item < len(state.jobs[job].items):
        return state.jobs[job].items[item].content
    return None
