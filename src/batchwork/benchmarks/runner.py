"""Run a benchmark: lay the plan out, ask it, keep every trial, report."""

import dataclasses
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from batchwork.benchmarks.claude_client import SIMULATION, BackendType, ClaudeResponse, Client, get_client, is_simulated
from batchwork.benchmarks.conduct import Ask, Conducted, attempts_in, conduct, lay_out, prompts_sha256
from batchwork.benchmarks.config import PLANS, WORKERS_WARNING, BenchmarkConfig
from batchwork.benchmarks.folder import QUOTA_WINDOW, RunFolder, Sitting, recent_sittings
from batchwork.benchmarks.report import counted, save_run, write_reports
from batchwork.benchmarks.scoring import false_alarm_rate, measured_error
from batchwork.benchmarks.statistics import ALPHA, shares, smallest_difference
from batchwork.benchmarks.tasks import TASKS
from batchwork.benchmarks.trial import Call, RunInfo, Trial

RESUME = "batchwork bench --resume"
_LITTLE = 0.5  # a run that can show no smaller difference than this shows next to nothing
_WARM_UP = "Reply with OK."
_VERSIONS = ("batchwork", "numpy", "scipy", "semantic-frame")


class WarmupError(RuntimeError):
    """The backend could not answer the first, tiny call; nothing else was sent."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came while a run was going on; the message says what is kept and how to go on."""


class UnwrittenError(RuntimeError):
    """The run is kept, and what is written of it at its end could not be; the message says how to have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResults:
    """What a run came to."""

    info: RunInfo
    calls: list[Call]
    folder: Path
    files: list[Path]
    cause: str | None = None  # of an early end: failures, credentials, quota, stalled, budget, prompts, interrupted

    @property
    def aborted(self) -> str | None:
        """Why the run ended before its plan did; None when it did not."""
        return self.info.aborted


class BenchmarkRunner:
    """One benchmark. Making it touches nothing; `run_all()` does."""

    def __init__(
        self,
        config: BenchmarkConfig | None = None,
        backend: BackendType | str = BackendType.API,
        *,
        resume: RunFolder | None = None,
        progress: bool = False,
    ) -> None:
        self.config = config or BenchmarkConfig()
        self.client: Client = get_client(backend, self.config)
        self._folder = resume
        self._progress = progress

    def run_all(self, asks: list[Ask] | None = None) -> BenchmarkResults:
        """Every task of the configuration, through one engine run; what there is, also when it ends early.

        `asks` is what `lay_out()` gave, for who has looked at it first.

        Raises ConfigurationError: a setting is wrong; nothing was sent; WarmupError: the backend does not answer at
        all; UnwrittenError: the run is over and its files could not be written, for want of space or of a right;
        Interrupted: by Ctrl-C, after what was finished has been kept and, unless it came twice, reported.
        """
        self.check()
        asks = self.lay_out() if asks is None else asks
        folder = self._opened(asks)
        try:
            done = self._sit(folder, asks)
            results = self._report(folder, self._with_time(done))
        except KeyboardInterrupt:  # in the warm-up, or once more while the first one was obeyed
            if folder.discard():
                raise Interrupted("interrupted before the first question; nothing is left behind") from None
            kept = "before the report was written; every answer that came is kept"
            raise Interrupted(f"interrupted {kept}: go on with {RESUME} {folder.path}") from None
        except Exception:
            folder.discard()
            raise
        if done.cause == "interrupted":
            raise Interrupted(f"interrupted; what is finished is kept and reported: go on with {RESUME} {folder.path}")
        return results

    def check(self) -> None:
        """Refuse what cannot be run, before anything is drawn. Writes nothing.

        Raises ConfigurationError: a setting is wrong, or there is no place for the results.
        """
        self.client.check()
        if self._folder is None:
            RunFolder.must_be_possible(self.config.output)

    def _opened(self, asks: list[Ask]) -> RunFolder:
        """The folder that is gone on with, or a new one."""
        prompts = prompts_sha256(asks)
        if self._folder is None:
            return RunFolder.make(self.config, self.client.backend.value, prompts)
        self._folder.must_ask(prompts)
        self._folder.catch_up(attempts_in(self._folder.journal))
        return self._folder

    def _sit(self, folder: RunFolder, asks: list[Ask]) -> Conducted:
        """One stretch of work: as much of the rest as quota, money and provider allow."""
        now, began = datetime.now(UTC), time.perf_counter()
        sitting = Sitting(started_at=now, ended_at=now)
        left = self._prompts_left()
        if left != 0 and self.client.warms_up:
            sitting = msgspec.structs.replace(sitting, calls=1, warm_up_usd=self.warmup().cost_usd or 0.0)
            folder.note(sitting)
        done = conduct(
            self.client,
            asks,
            journal=folder.journal,
            most_new=None if left is None else max(0, left - sitting.calls),
            max_cost=self._money_left(folder),
            progress=self._progress,
        )
        made = sitting.calls + done.made
        wall_s = time.perf_counter() - began
        folder.note(msgspec.structs.replace(sitting, ended_at=datetime.now(UTC), calls=made, wall_s=wall_s))
        return done

    def run_task(self, task: str) -> BenchmarkResults:
        """One task alone, with everything else as configured."""
        config = dataclasses.replace(self.config, tasks=(task,))
        return BenchmarkRunner(config, self.client.backend, progress=self._progress).run_all()

    def warmup(self) -> ClaudeResponse:
        """One tiny call, so that a backend that cannot answer says so before the run begins.

        Raises WarmupError: it cannot; the message says what to do.
        """
        told = self.client.query(_WARM_UP)
        if told.error is None:
            return told
        remedy = "Mend that, then run it again."
        if told.cause == "credentials":
            remedy = "Re-authenticate by running `claude` once."
        elif told.retry_after_s is not None:
            remedy = f"Run it again after {_clock_time(_in(told.retry_after_s))}."
        raise WarmupError(f"warmup failed: {told.error.rstrip('.')}. {remedy}")

    def lay_out(self) -> list[Ask]:
        """Every call of the run, in order. Nothing is sent.

        Raises ConfigurationError: a setting is wrong, or a condition unknown.
        """
        self.client.check()
        return lay_out(self._trials(), self.config)

    def cautions(self, calls: int) -> list[str]:
        """What a user should know before so many calls are made."""
        config = self.config
        said = [] if self.client.notice else too_few(config)
        if self.client.backend is not BackendType.CLAUDE_CODE:
            return said
        plan = PLANS.get(config.plan or "")
        if config.window > WORKERS_WARNING:
            said.append(f"{config.window} calls at once may hit rate limits: 2 are recommended on Max 5x, 4 on Max 20x")
        elif plan is not None and config.window > plan.workers:
            said.append(f"{config.window} calls at once; {plan.workers} are recommended on {config.plan}")
        if plan is not None and calls > plan.fewest:
            said.append(
                f"{calls} calls are planned; {config.plan} allows {plan.fewest} to {plan.most} prompts in five hours"
            )
        if config.quota is not None and calls > config.quota:
            said.append(f"the run stops after {config.quota} calls and goes on five hours later with --resume")
        return said

    def _trials(self) -> Iterator[Trial]:
        size = self.client.most_points
        config = self.config
        plans = [TASKS[name].plan(config.trials, config.seed, max_data_size=size) for name in config.tasks]
        for trials in zip(*plans, strict=True):  # a run that ends early has a part of every task, not all of some
            yield from trials

    def _recent(self) -> list[Sitting]:
        return recent_sittings(self.config.output, self.client.backend.value, datetime.now(UTC) - QUOTA_WINDOW)

    def _prompts_left(self) -> int | None:
        """Calls that the quota still allows, over all runs under the same output; None when there is no quota."""
        quota = self.config.quota
        return None if quota is None else max(0, quota - sum(sitting.calls for sitting in self._recent()))

    def _money_left(self, folder: RunFolder) -> float | None:
        """The ceiling for the journal: the budget without what warming up has cost."""
        if self.config.ceiling is None:
            return None
        return max(0.0, self.config.ceiling - sum(sitting.warm_up_usd for sitting in folder.plan.sittings))

    def _with_time(self, done: Conducted) -> Conducted:
        """Say when it is worth going on, where that is known."""
        if done.cause == "prompts":
            free = min(sitting.ended_at for sitting in self._recent() if sitting.calls) + QUOTA_WINDOW
            return dataclasses.replace(done, aborted=f"{done.aborted}; {_again(free)}")
        if done.retry_after_s is not None:
            return dataclasses.replace(done, aborted=f"{done.aborted} ({_again(_in(done.retry_after_s))})")
        return done

    def _report(self, folder: RunFolder, done: Conducted) -> BenchmarkResults:
        config, sittings, error = self.config, folder.plan.sittings, measured_error()
        answered_by = tuple(sorted({call.model for call in done.calls if not call.missing}))
        info = RunInfo(
            backend=self.client.backend.value,
            model=self.client.shown,
            baseline=config.baseline,
            treatments=config.treatments,
            tasks=config.tasks,
            trials=config.trials,
            seed=config.seed,
            window=config.window,
            started_at=min(sitting.started_at for sitting in sittings).isoformat(timespec="seconds"),
            ended_at=datetime.now(UTC).isoformat(timespec="seconds"),
            wall_s=round(sum(sitting.wall_s for sitting in sittings), 3),
            answered_by=answered_by,
            notice=self.client.notice or (SIMULATION if any(map(is_simulated, answered_by)) else None),
            aborted=done.aborted,
            settings={
                **folder.plan.config,
                "invented_false_alarm_rate": false_alarm_rate(error),
                "invented_error": error,
            },
            versions=_versions(),
        )
        try:
            info = save_run(folder.path, info, done.calls)
        except OSError as error:
            again = f"every answer is in its journal; mend that, then: {RESUME} {folder.path}"
            raise UnwrittenError(f"the run could not be written: {error}; {again}") from error
        try:
            files = write_reports(folder.path, info, done.calls, formats=config.formats, charts=config.charts)
        except OSError as error:
            again = f"mend that, then: python -m batchwork.benchmarks.report {folder.path}"
            raise UnwrittenError(f"the run is kept, but its report could not be written: {error}; {again}") from error
        return BenchmarkResults(info=info, calls=done.calls, folder=folder.path, files=files, cause=done.cause)


def too_few(config: BenchmarkConfig) -> list[str]:
    """A word to those whose run will tell them little, before it is paid for."""
    pairs, level = len(config.tasks) * config.trials, shares(len(config.tasks), len(config.treatments)).overall
    smallest = smallest_difference(pairs, level=ALPHA * level)
    if smallest is not None and smallest <= _LITTLE:
        return []
    shown = "no difference, however large"
    if smallest is not None:
        shown = f"only a difference of {100 * smallest:.0f} points or more"
    return [f"{counted(pairs, 'pair')} can show {shown}; --detect 0.1 says how many --trials would show 10 points"]


def _again(when: datetime) -> str:
    return f"run again with --resume after {_clock_time(when)}"


def _in(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def _clock_time(when: datetime) -> str:
    return f"{when.astimezone():%Y-%m-%d %H:%M %Z}"


def _versions() -> dict[str, str]:
    found = {}
    for name in _VERSIONS:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
