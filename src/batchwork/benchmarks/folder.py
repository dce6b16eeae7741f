"""The folder of one run: made new, never over an old one; and what a killed run needs to go on.

`plan.json` is written before anything is sent, the journal beside it holds every answer from the moment it came.
"""

import dataclasses
import errno
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import msgspec

from batchwork.benchmarks.config import BenchmarkConfig, ConfigurationError
from batchwork.benchmarks.files import write_whole

QUOTA_WINDOW = timedelta(hours=5)
_PLAN = "plan.json"
JOURNAL = "journal.db"
# What is asked, which another sitting may not change: how the rest is run it may.
_ASKED = frozenset(
    ("tasks", "trials", "seed", "baseline", "treatments", "model", "base_url", "max_tokens", "max_data_size")
) | {"skip_baseline_above"}


class Sitting(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of work on a run."""

    started_at: datetime
    ended_at: datetime
    calls: int = 0
    wall_s: float = 0.0
    warm_up_usd: float = 0.0


class Plan(msgspec.Struct, kw_only=True):
    """What the run was told, and who has worked on it so far."""

    backend: str
    config: dict[str, Any]
    prompts_sha256: str = ""  # of all prompts together: going on with others would be another run
    sittings: list[Sitting] = msgspec.field(default_factory=list)


class RunFolder:
    """Where one run lives."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = path
        self.plan = plan

    @classmethod
    def make(cls, config: BenchmarkConfig, backend: str, prompts_sha256: str) -> Self:
        """A new folder under `config.output`, with the plan in it. Raises ConfigurationError: it cannot be made."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
        number = 1
        while True:
            path = Path(config.output) / f"{stamp}-{backend}{'' if number == 1 else f'-{number}'}"
            try:
                path.mkdir(parents=True)
                break
            except FileExistsError:
                number += 1
            except OSError as error:
                raise ConfigurationError(f"cannot make {path}: {error.strerror}; choose another --output") from error
        folder = cls(path, Plan(backend=backend, config=_told(config), prompts_sha256=prompts_sha256))
        folder.save()
        return folder

    @staticmethod
    def must_be_possible(output: Path) -> None:
        """Refuse an output in which no folder can be made, before any work is done for it; makes nothing.

        Raises ConfigurationError: something that is no folder is in the way, or it may not be written.
        """
        there = next(path for path in (Path(output).absolute(), *Path(output).absolute().parents) if path.exists())
        code = errno.ENOTDIR if not there.is_dir() else 0 if os.access(there, os.W_OK | os.X_OK) else errno.EACCES
        if code:
            raise ConfigurationError(f"cannot write into {output}: {os.strerror(code)}; choose another --output")

    @classmethod
    def open(cls, path: Path) -> Self:
        """The folder of an earlier run. Raises ConfigurationError: there is none."""
        try:
            plan = msgspec.json.decode((path / _PLAN).read_bytes(), type=Plan)
        except (OSError, msgspec.MsgspecError) as error:
            raise ConfigurationError(f"{path} is not the folder of a benchmark run ({error})") from error
        return cls(path, plan)

    @classmethod
    def latest_unfinished(cls, output: Path) -> Self:
        """The newest run under `output` that did not come to its end. Raises ConfigurationError: there is none."""
        plans = sorted(output.glob(f"*/{_PLAN}"), key=lambda path: path.stat().st_mtime_ns)
        for path in reversed(plans):
            if not _is_finished(path.parent):
                return cls.open(path.parent)
        raise ConfigurationError(f"no unfinished run under {output}; name one with --resume FOLDER")

    @property
    def journal(self) -> Path:
        """Every answer, from the moment it came."""
        return self.path / JOURNAL

    def config(self) -> BenchmarkConfig:
        """What the run was told."""
        fields = dict(self.plan.config, output=self.path.parent)
        try:
            for name in ("tasks", "treatments", "formats"):
                fields[name] = tuple(fields[name])
            return BenchmarkConfig(**fields)
        except (KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{self.path / _PLAN} is not the plan of a run of this version ({error})"
            ) from error

    def changed(self, given: dict[str, Any]) -> BenchmarkConfig:
        """The run's own settings with those that another sitting may change.

        Raises ConfigurationError: one would change what is asked.
        """
        config = self.config()
        for name, value in given.items():
            if name in _ASKED and value != getattr(config, name):
                raise ConfigurationError(
                    f"{self.path} was begun with {name} = {getattr(config, name)!r}, not {value!r};"
                    " leave it out, or start a new run"
                )
        return dataclasses.replace(config, **{name: value for name, value in given.items() if name != "output"})

    def must_ask(self, prompts_sha256: str) -> None:
        """Refuse to go on with other questions than those that the run was begun with.

        Raises ConfigurationError: the prompts are not the same.
        """
        if prompts_sha256 != self.plan.prompts_sha256:
            raise ConfigurationError(
                f"{self.path} was begun with other prompts: a treatment or the data have changed since; start a new run"
            )

    def discard(self) -> bool:
        """Take a folder away in which nothing has come about, and say whether that was so."""
        if self.journal.exists() or self.plan.sittings:
            return False
        (self.path / _PLAN).unlink()
        self.path.rmdir()
        return True

    def catch_up(self, attempts: int) -> None:
        """Count the calls that a killed sitting could not: those in the journal that no sitting has noted."""
        missed = attempts - sum(sitting.calls for sitting in self.plan.sittings)
        if missed > 0 and self.journal.exists():
            when = datetime.fromtimestamp(self.journal.stat().st_mtime, UTC)
            self.note(Sitting(started_at=when, ended_at=when, calls=missed))

    def note(self, sitting: Sitting) -> None:
        """Remember a stretch of work; the same one again replaces it."""
        others = [other for other in self.plan.sittings if other.started_at != sitting.started_at]
        self.plan.sittings = [*others, sitting]
        self.save()

    def save(self) -> None:
        """Write the plan, whole or not at all."""
        write_whole(self.path / _PLAN, msgspec.json.format(msgspec.json.encode(self.plan), indent=2))


def recent_sittings(output: Path, backend: str, since: datetime) -> list[Sitting]:
    """Every stretch of work with a backend, over all runs under `output`, that ended after a moment."""
    found = []
    for path in Path(output).glob(f"*/{_PLAN}"):
        with suppress(ConfigurationError):
            plan = RunFolder.open(path.parent).plan
            found += [sitting for sitting in plan.sittings if plan.backend == backend and sitting.ended_at > since]
    return found


def _told(config: BenchmarkConfig) -> dict[str, Any]:
    told = {field.name: getattr(config, field.name) for field in dataclasses.fields(config) if field.name != "output"}
    return told | {"max_cost": config.ceiling}


def _is_finished(path: Path) -> bool:
    try:
        info = msgspec.json.decode((path / "run.json").read_bytes())
    except (OSError, msgspec.DecodeError):
        return False
    return isinstance(info, dict) and not info.get("aborted")
