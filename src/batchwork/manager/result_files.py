"""The files in `save_results_dir`: the provider's answer per item, and the typed results with citations per job.

    raw/job_{j}_item_{i}.json          as the item settles: the provider's own JSON; for an item that failed
                                       {"error": {...}}, with its "reply" where one came
    processed/job_{j}_results.json     as the job settles: {"results": [...], "citations": [...]}, and where the model
                                       was asked to quote, "rejected_quotes": [...]

Every file is written aside and renamed. A folder belongs to one manager, whose id stands in a file inside; a folder
with results of another one is refused, so that nobody's files are ever touched.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError, JournalWriteError
from batchwork.core.event import Event, Settled
from batchwork.core.outcome import Outcome
from batchwork.engine.engine import Engine
from batchwork.journal.atomic import write_atomically
from batchwork.journal.companions import make_folder
from batchwork.manager.finisher import Evidence, raw_of

_MARK = ".batchwork.json"
_RAW, _PROCESSED = "raw", "processed"


class _Processed(msgspec.Struct):
    """The file of one job."""

    results: list[Any] = []
    citations: list[Any] = []
    rejected_quotes: list[Any] | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Processed).decode


class ResultFiles:
    """The folder of one manager."""

    def __init__(self, folder: Path, *, width: int) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"save_results_dir {folder} is not a folder")
        self.folder = folder
        self._width = width
        self._ours = False  # what is in it was written by this manager
        self._read: tuple[int, _Processed] | None = None  # the job that was looked at last

    def owner(self) -> str | None:
        """Whose results are here: a manager's id, "" for somebody unknown, None when there are none."""
        try:
            return str(msgspec.json.decode((self.folder / _MARK).read_bytes())["manager_id"])
        except (OSError, msgspec.MsgspecError, KeyError, TypeError):
            pass
        taken = any(
            (self.folder / name).is_dir() and any((self.folder / name).iterdir()) for name in (_RAW, _PROCESSED)
        )
        return "" if taken else None

    def recognise(self, manager_id: str) -> str | None:
        """Find out whether the results here are this manager's; whose they are."""
        owner = self.owner()
        self._ours = owner == manager_id
        return owner

    def refuse_foreign(self, manager_id: str) -> None:
        """Make sure that nobody else's results are here: else ConfigError."""
        owner = self.recognise(manager_id)
        if owner not in (None, manager_id):
            raise ConfigError(
                f"{self.folder} holds results of another run{f' ({owner})' if owner else ''}, which are never touched;"
                " name another save_results_dir, or move them away"
            )

    def claim(self, manager_id: str) -> None:
        """Make the folder this manager's, whose id must be on disk elsewhere already, unless it is another one's."""
        self.refuse_foreign(manager_id)
        try:
            for name in (_RAW, _PROCESSED):
                make_folder(self.folder / name)
            if self.owner() != manager_id:
                write_atomically(self.folder / _MARK, msgspec.json.encode({"manager_id": manager_id}))
        except OSError as error:
            raise JournalWriteError(f"cannot write {self.folder}: {error.strerror or error}") from error

    def set_aside(self) -> None:
        """Keep the results of an earlier run of the same state file, if there are any, under other names."""
        number = 1
        while any((self.folder / f"{name}.old-{number}").exists() for name in (_RAW, _PROCESSED)):
            number += 1
        for name in (_RAW, _PROCESSED):
            if (self.folder / name).is_dir():
                (self.folder / name).rename(self.folder / f"{name}.old-{number}")
        (self.folder / _MARK).unlink(missing_ok=True)
        self._ours, self._read = False, None

    def raw_path(self, index: int) -> Path:
        """Where the answer of an item goes; `i` counts within the job."""
        return self.folder / _RAW / f"job_{index // self._width}_item_{index % self._width}.json"

    def processed_path(self, job: int) -> Path:
        """Where the results of a job go."""
        return self.folder / _PROCESSED / f"job_{job}_results.json"

    def write_raw(self, outcome: Outcome) -> None:
        """Write what the provider said about one item; it can be made again from the journal, so it is not synced."""
        _write_raw(self.raw_path(outcome.index), outcome)

    def write_processed(self, job: int, results: list[Any], evidence: Sequence[Evidence], *, quoted: bool) -> None:
        """Write one entry per item of the job, in order."""
        rejected = [one.rejected_quotes for one in evidence] if quoted else msgspec.UNSET
        citations = [one.citations for one in evidence]
        body = msgspec.json.encode(_Processed(results=results, citations=citations, rejected_quotes=rejected))
        write_atomically(self.processed_path(job), msgspec.json.format(body, indent=2), sync=False)
        self._ours, self._read = True, None

    def values(self, job: int) -> list[Any]:
        """The results that were written for a job; empty when there are none."""
        return self._processed(job).results

    def evidence(self, index: int, value: Any) -> Evidence | None:
        """The evidence that this manager has written for an item, if the file has this value for it, too."""
        job, item = divmod(index, self._width)
        if not self._ours:
            return None
        if self._read is None or self._read[0] != job:
            self._read = (job, self._processed(job))
        written = self._read[1]
        there = item < min(len(written.results), len(written.citations)) and written.results[item] == value
        if not there:
            return None
        rejected = [] if written.rejected_quotes is msgspec.UNSET else written.rejected_quotes
        return Evidence(written.citations[item], rejected[item] if item < len(rejected) else [])

    def _processed(self, job: int) -> _Processed:
        try:
            return _decode(self.processed_path(job).read_bytes())
        except (OSError, msgspec.MsgspecError):
            return _Processed()


class RawFiles:
    """Writes what the provider said about the items of one job as they settle."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"raw_results_dir {folder} is not a folder")
        self._folder = folder

    def opened(self, engine: Engine) -> None:
        """Make the folder."""
        del engine
        try:
            make_folder(self._folder)
        except OSError as error:
            raise JournalWriteError(f"cannot write {self._folder}: {error.strerror or error}") from error

    def heard(self, event: Event) -> None:
        """Write one."""
        if isinstance(event, Settled):
            _write_raw(self._folder / f"job_0_item_{event.outcome.index}.json", event.outcome)

    def closed(self) -> None:
        """Nothing is left to do."""


def _write_raw(path: Path, outcome: Outcome) -> None:
    if (body := raw_of(outcome)) is not None:
        write_atomically(path, msgspec.json.format(body, indent=2), sync=False)
