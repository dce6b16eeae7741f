"""`python -m benchmarks.run_benchmark`: parse, run, print."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

import batchwork
from benchmarks.claude_client import BackendType
from benchmarks.config import FORMATS, PLANS, QUICK_TRIALS, TASK_NAMES, BenchmarkConfig, ConfigurationError
from benchmarks.folder import RunFolder
from benchmarks.report import console_lines, summarise
from benchmarks.runner import RESUME, BenchmarkResults, BenchmarkRunner, UnwrittenError, WarmupError
from benchmarks.statistics import DISCORDANCE, trials_per_task


class Exit(IntEnum):
    """How the program ended."""

    DONE = 0
    SOME_MISSING = 1
    WRONG = 2
    BUDGET = 3
    PAUSED = 4
    INTERRUPTED = 130


_EXAMPLES = """examples:
  python -m benchmarks.run_benchmark --mock --no-viz                     the pipeline, without a model
  python -m benchmarks.run_benchmark --backend claude-code --quick --parallel --task statistical
  python -m benchmarks.run_benchmark --backend claude-code --parallel --trial-parallelism 4 --format all
  python -m benchmarks.run_benchmark --backend api --parallel --max-cost 5
  python -m benchmarks.run_benchmark --model openai:my-model --base-url http://127.0.0.1:8000/v1
  python -m benchmarks.run_benchmark --treatment frame --treatment summary-stats --baseline csv --mock
  python -m benchmarks.run_benchmark --power 0.8 --detect 0.1            how many trials are needed; sends nothing
  python -m benchmarks.run_benchmark --resume                            go on with the last unfinished run

exit status: 0 done, 1 done with calls missing, 2 wrong arguments, 3 stopped by the budget, 4 aborted (API errors,
a quota, a failed warm-up, no space to write), 130 interrupted; 3, 4 and 130 keep what is finished: go on with
--resume."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its exit status."""
    told = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: cleanly
    try:
        if (told.detect, told.power, told.discordance) != (None, None, None):
            return _say_power(told)
        return _run(told)
    except (ConfigurationError, batchwork.ConfigError, batchwork.JournalError) as error:
        return _fail(Exit.WRONG, str(error))
    except (WarmupError, UnwrittenError) as error:
        return _fail(Exit.PAUSED, str(error))
    except BrokenPipeError:  # whoever read our output has gone
        sys.stdout = None
        return Exit.DONE
    except OSError as error:  # the plan could not be written, say
        return _fail(Exit.PAUSED, f"{error}; what is finished is kept: mend that, then go on with --resume")
    except KeyboardInterrupt:
        return _fail(Exit.INTERRUPTED, "interrupted; what is finished is kept: go on with --resume")


def _run(told: argparse.Namespace) -> int:
    runner = _runner(told)
    say = _quiet if told.quiet else _say
    runner.config.check()
    say("drawing the data and writing the prompts ...")
    asks = runner.lay_out()
    calls = sum(ask.prompt is not None for ask in asks)
    config, client = runner.config, runner.client
    say(client.shown + (f": {client.notice}" if client.notice else ""))
    say(
        f"{len(config.tasks)} tasks x {config.trials} trials x {len(config.conditions)} conditions"
        f" ({', '.join(config.conditions)}): {calls} calls, {config.window} at once"
        + (f"; left out as too large: {len(asks) - calls}" if len(asks) > calls else "")
    )
    for caution in runner.cautions(calls):
        print(f"WARNING: {caution}", file=sys.stderr)
    results = runner.run_all(asks)
    say("")
    for line in console_lines(summarise(results.info, results.calls)):
        say(line)
    say("")
    say(f"written to {results.folder}: {', '.join(str(path.relative_to(results.folder)) for path in results.files)}")
    return _ending(results)


def _runner(told: argparse.Namespace) -> BenchmarkRunner:
    given = _given(told)
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


def _given(told: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given, by their names in the configuration."""
    given = {name: value for name in _SETTINGS if (value := getattr(told, name)) is not None}
    if told.quick:
        given.setdefault("trials", QUICK_TRIALS)
    if told.parallel:
        given["parallel_workers"] = 2
    if told.no_viz:
        given["charts"] = False
    if "formats" in given:
        given["formats"] = FORMATS if "all" in given["formats"] else tuple(dict.fromkeys(given["formats"]))
    for name in ("tasks", "treatments"):
        if name in given:
            given[name] = tuple(dict.fromkeys(given[name]))
    return given


def _ending(results: BenchmarkResults) -> int:
    if results.aborted is not None:
        _fail(Exit.PAUSED, results.aborted)
        print(f"Go on with: {RESUME} {results.folder}", file=sys.stderr)
        return Exit.BUDGET if results.cause == "budget" else Exit.PAUSED
    failed = sum(call.state == "failed" for call in results.calls)
    if failed:
        print(f"{failed} calls failed and are missing; --resume {results.folder} asks them again", file=sys.stderr)
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
    print(f"  over all {tasks} tasks together  --trials {needed.overall}  ({tasks * needed.overall * ways:,} calls)")
    if tasks > 1:
        print(
            f"  in a task by itself          --trials {needed.each_task}  ({tasks * needed.each_task * ways:,} calls)"
        )
    print("If more of them differ, more trials are needed; a first small run shows how many do (--discordance).")
    return Exit.DONE


def _fail(status: Exit, why: str) -> int:
    print(f"ERROR: {why}", file=sys.stderr)
    return status


def _say(text: str) -> None:
    print(text, flush=True)


def _quiet(text: str) -> None:
    del text


def _whole(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return whole


def _above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


_SETTINGS = (
    "tasks",
    "trials",
    "seed",
    "baseline",
    "treatments",
    "trial_parallelism",
    "max_in_flight",
    "model",
    "base_url",
    "max_tokens",
    "base_timeout",
    "retries",
    "max_wait_s",
    "max_cost",
    "prompts_per_5h",
    "plan",
    "max_data_size",
    "skip_baseline_above",
    "output",
    "formats",
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run_benchmark",
        description="Compare ways of asking a model about numbers: raw data against the series described in words.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _who(parser.add_argument_group("who answers"))
    _what(parser.add_argument_group("what is asked"))
    _how(parser.add_argument_group("how it runs"))
    _where(parser.add_argument_group("what is written"))
    return parser


def _who(group: argparse._ArgumentGroup) -> None:
    backend = group.add_mutually_exclusive_group()
    backend.add_argument(
        "--backend", choices=[kind.value for kind in BackendType], help="default: api, or what --model says"
    )
    backend.add_argument(
        "--mock",
        dest="backend",
        action="store_const",
        const=BackendType.MOCK,
        help="the literal reader: no model, no key, no cost",
    )
    group.add_argument("--model", metavar="M", help="haiku, sonnet (default), opus, or BACKEND:NAME")
    group.add_argument("--base-url", metavar="URL", help="a server that speaks the model's wire")


def _what(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--task", dest="tasks", action="append", choices=TASK_NAMES, help="one task; may be given several times"
    )
    group.add_argument("--trials", type=_whole(1), metavar="N", help="trials per task (30; 5 with --quick)")
    group.add_argument("--quick", action="store_true", help="5 trials per task")
    group.add_argument(
        "--treatment",
        dest="treatments",
        action="append",
        metavar="T",
        help="frame (default), semantic-frame, summary-stats, csv or MODULE:FUNC; may be given several times",
    )
    group.add_argument("--baseline", metavar="B", help="raw (default), or what a treatment may be")
    group.add_argument("--seed", type=_whole(0), metavar="N", help="another seed draws other data (0)")
    group.add_argument(
        "--max-data-size", type=_whole(50), metavar="N", help="points in a data set (1000 for claude-code)"
    )
    group.add_argument(
        "--skip-baseline-above", type=_whole(0), metavar="N", help="no baseline for larger data sets (5000)"
    )
    group.add_argument(
        "--power", type=_above_zero, metavar="P", help="say how many trials a power of P needs, and stop"
    )
    group.add_argument("--detect", type=_above_zero, metavar="D", help="... to see a difference of D, for example 0.1")
    group.add_argument(
        "--discordance",
        type=_above_zero,
        metavar="D",
        help=f"... when D of the trials are answered rightly in one condition only ({DISCORDANCE})",
    )


def _how(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--parallel", action="store_true", help="the conditions of a trial at once (about 2x)")
    group.add_argument("--trial-parallelism", type=_whole(1), metavar="N", help="N trials at once (about Nx)")
    group.add_argument("--max-in-flight", type=_whole(1), metavar="N", help="calls at once, whatever the two above say")
    group.add_argument("--max-cost", type=_above_zero, metavar="USD", help="a ceiling in dollars")
    group.add_argument("--max-tokens", type=_whole(1), metavar="N", help="length of an answer (512)")
    group.add_argument(
        "--timeout",
        dest="base_timeout",
        type=_above_zero,
        metavar="S",
        help="seconds for a call (120); 10 more for every 1000 characters of its prompt",
    )
    group.add_argument("--retries", type=_whole(0), metavar="N", help="tries after the first one (2)")
    group.add_argument(
        "--max-wait", dest="max_wait_s", type=_above_zero, metavar="S", help="longest wait for a limit to end (900)"
    )
    group.add_argument("--plan", choices=list(PLANS), help="the subscription: its prompts per five hours are respected")
    group.add_argument("--prompts-per-5h", type=_whole(1), metavar="N", help="stop after N calls in five hours")
    group.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="go on with that run, or with the last unfinished one under --output",
    )


def _where(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output", type=Path, metavar="DIR", help="a new folder is made here (benchmark_results)")
    group.add_argument(
        "--format", dest="formats", action="append", choices=[*FORMATS, "all"], help="of the report (all)"
    )
    group.add_argument("--no-viz", action="store_true", help="no charts (a resumed run's old ones are removed)")
    group.add_argument("--quiet", action="store_true", help="print errors only")


if __name__ == "__main__":
    sys.exit(main())
