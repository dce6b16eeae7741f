"""A benchmark from the command line: the run, and what is printed of it."""

import argparse
import sys
from collections.abc import Callable
from enum import IntEnum
from functools import partial
from pathlib import Path

import batchwork
from batchwork.benchmarks.arguments import settings_given
from batchwork.benchmarks.config import TASK_NAMES, BackendType, BenchmarkConfig, ConfigurationError
from batchwork.benchmarks.folder import RunFolder
from batchwork.benchmarks.report import LIMITS, console_lines, counted, summarise
from batchwork.benchmarks.runner import RESUME, BenchmarkResults, BenchmarkRunner, UnwrittenError, WarmupError
from batchwork.benchmarks.statistics import ALPHA, DISCORDANCE, shares, trials_per_task


class Exit(IntEnum):
    """How the program ended."""

    DONE = 0
    SOME_MISSING = 1
    WRONG = 2
    BUDGET = 3
    PAUSED = 4


def program(told: argparse.Namespace) -> int:
    """Run what the arguments say; the exit status."""
    try:
        if (told.detect, told.power, told.discordance) != (None, None, None):
            return _say_power(told)
        return _run(told)
    except (ConfigurationError, batchwork.ConfigError, batchwork.JournalError) as error:
        return _fail(Exit.WRONG, str(error))
    except (WarmupError, UnwrittenError) as error:
        return _fail(Exit.PAUSED, str(error))
    except OSError as error:  # the plan could not be written, say
        return _fail(Exit.PAUSED, f"{error}; what is finished is kept: mend that, then go on with --resume")


def _run(told: argparse.Namespace) -> int:
    runner = _runner(told)
    say: Callable[[str], None] = (lambda _: None) if told.quiet else partial(print, flush=True)
    runner.check()
    client = runner.client
    if client.notice:
        say(f"{client.shown}: {client.notice}. {' '.join(LIMITS)}")
    say("drawing the data and writing the prompts ...")
    asks = runner.lay_out()
    calls = sum(ask.prompt is not None for ask in asks)
    config = runner.config
    if not client.notice:
        say(client.shown)
    say(
        f"{counted(len(config.tasks), 'task')} x {counted(config.trials, 'trial')}"
        f" x {len(config.conditions)} conditions ({', '.join(config.conditions)}):"
        f" {counted(calls, 'call')}, {config.window} at once"
        + (f"; left out as too large: {len(asks) - calls}" if len(asks) > calls else "")
    )
    for caution in runner.cautions(calls):
        print(f"WARNING: {caution}", file=sys.stderr)
    results = runner.run_all(asks)
    say("")
    if results.info.notice and not client.notice:  # known by the answers alone
        say(f"{client.shown}: {results.info.notice}. {' '.join(LIMITS)}")
    for line in console_lines(summarise(results.info, results.calls)):
        say(line)
    say("")
    say(f"written to {results.folder}: {', '.join(str(path.relative_to(results.folder)) for path in results.files)}")
    return _ending(results)


def _runner(told: argparse.Namespace) -> BenchmarkRunner:
    given = settings_given(told)
    folder = None
    if told.resume is not None:
        output = given.get("output", BenchmarkConfig().output)
        folder = RunFolder.open(Path(told.resume)) if told.resume else RunFolder.latest_unfinished(output)
        config, backend = folder.changed(given), folder.plan.backend
        if told.backend is not None and told.backend != backend:
            raise ConfigurationError(f"{folder.path} was begun with --backend {backend}, not {told.backend}")
    else:
        config, backend = BenchmarkConfig(**given), told.backend or _backend_of(told.model)
    return BenchmarkRunner(config, backend, resume=folder, progress=not told.quiet)


def _backend_of(model: str | None) -> str:
    """The backend that a model names; the API's when it names none."""
    prefix = (model or "").partition(":")[0]
    return prefix if prefix in list(BackendType) else BackendType.API


def _ending(results: BenchmarkResults) -> int:
    if results.aborted is not None:
        _fail(Exit.PAUSED, results.aborted)
        print(f"Go on with: {RESUME} {results.folder}", file=sys.stderr)
        return Exit.BUDGET if results.cause == "budget" else Exit.PAUSED
    failed = sum(call.state == "failed" for call in results.calls)
    if failed:
        missing = f"{counted(failed, 'call')} failed and {'is' if failed == 1 else 'are'} missing"
        print(f"{missing}; --resume {results.folder} asks again", file=sys.stderr)
        return Exit.SOME_MISSING
    return Exit.DONE


def _say_power(told: argparse.Namespace) -> int:
    power, detect = told.power or 0.8, told.detect or 0.1
    tasks, treatments = len(set(told.tasks or TASK_NAMES)), len(set(told.treatments or ("frame",)))
    discordance = told.discordance or max(DISCORDANCE, detect)
    if discordance < detect:
        raise ConfigurationError(f"a difference of {detect:g} needs a discordance of as much, got {discordance:g}")
    try:
        needed = trials_per_task(power, detect, tasks=tasks, treatments=treatments, discordance=discordance)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    ways = 1 + treatments
    print(f"To see a difference of {100 * detect:g} percentage points with a power of {power:g} at the 5% level,")
    print(f"assuming that {100 * discordance:g}% of the trials are answered rightly in one condition only:")
    plans = {"in a task by itself": needed.each_task}
    if tasks > 1:  # else both are one question
        plans = {f"over all {tasks} tasks together": needed.overall, **plans}
    for where, trials in plans.items():
        print(f"  {where:<28} --trials {trials}  ({tasks * trials * ways:,} calls)")
    share = shares(tasks, treatments)
    levels = {f"{100 * ALPHA * level:.3g}%" for level in share}
    print(f"Reckoned exactly for McNemar's exact test, two-sided, at {' and '.join(sorted(levels, reverse=True))}.")
    if len(levels) > 1 or treatments > 1:
        print("That is the part of the 5% that each question has: the run's questions share them (Holm).")
    print("If more of them differ, more trials are needed; a first small run shows how many do (--discordance).")
    return Exit.DONE


def _fail(status: Exit, why: str) -> int:
    print(f"ERROR: {why}", file=sys.stderr)
    return status
