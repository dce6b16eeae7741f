"""What may be said on the command line of a benchmark, and what it means for the configuration.

Needs nothing that is an extra: help is there before anything is installed.
"""

import argparse
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from batchwork.benchmarks.config import (
    DISCORDANCE,
    FORMATS,
    PLANS,
    QUICK_TRIALS,
    TASK_NAMES,
    BackendType,
    BenchmarkConfig,
)

_EXAMPLES = """examples:
  batchwork bench --mock --no-viz                     the pipeline, without a model
  batchwork bench --backend claude-code --quick --parallel --task statistical
  batchwork bench --backend claude-code --parallel --trial-parallelism 4 --format all
  batchwork bench --backend api --parallel --max-cost 5
  batchwork bench --model openai:my-model --base-url http://127.0.0.1:8000/v1
  batchwork bench --treatment frame --treatment summary-stats --baseline csv --mock
  batchwork bench --power 0.8 --detect 0.1            how many trials are needed; sends nothing
  batchwork bench --resume                            go on with the last unfinished run

exit status: 0 done, 1 done with calls missing, 2 wrong arguments, 3 stopped by the budget, 4 aborted (API errors,
a quota, a failed warm-up, no space to write), 130 interrupted; 3, 4 and 130 keep what is finished: go on with
--resume."""
_SETTINGS = {field.name for field in fields(BenchmarkConfig)}


def settings_given(told: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given, by their names in the configuration."""
    given = {name: value for name, value in vars(told).items() if name in _SETTINGS and value is not None}
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


def parser() -> argparse.ArgumentParser:
    """The program's flags, with their help."""
    made = argparse.ArgumentParser(
        prog="batchwork bench",
        description="Compare ways of asking a model about numbers: raw data against the series described in words.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _who(made.add_argument_group("who answers"))
    _what(made.add_argument_group("what is asked"))
    _how(made.add_argument_group("how it runs"))
    _where(made.add_argument_group("what is written"))
    return made


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
        help="the literal reader: no model, no key, no cost, no verdict",
    )
    group.add_argument("--model", metavar="M", help="haiku, sonnet (default), opus, or BACKEND:NAME")
    group.add_argument("--base-url", metavar="URL", help="a server that speaks the model's wire")


def _what(group: argparse._ArgumentGroup) -> None:
    add, count, amount = group.add_argument, partial(_count, group), partial(_amount, group)
    add("--task", dest="tasks", action="append", choices=TASK_NAMES, help="one task; may be given several times")
    count("--trials", 1, "trials per task (30; 5 with --quick)")
    add("--quick", action="store_true", help="5 trials per task")
    text = "frame (default), semantic-frame, summary-stats, csv or MODULE:FUNC; may be given several times"
    add("--treatment", dest="treatments", action="append", metavar="T", help=text)
    add("--baseline", metavar="B", help="raw (default), or what a treatment may be")
    count("--seed", 0, "another seed draws other data (0)")
    count("--max-data-size", 50, "points in a data set (1000 for claude-code)")
    text = "larger data sets are not written out number by number: no raw and no csv of them (5000)"
    count("--skip-baseline-above", 0, text)
    amount("--power", "P", "say how many trials a power of P needs, and stop")
    amount("--detect", "D", "... to see a difference of D, for example 0.1")
    text = f"... when D of the trials are answered rightly in one condition only ({DISCORDANCE})"
    amount("--discordance", "D", text)


def _how(group: argparse._ArgumentGroup) -> None:
    add, count, amount = group.add_argument, partial(_count, group), partial(_amount, group)
    add("--parallel", action="store_true", help="two conditions of a trial at once (about 2x)")
    count("--trial-parallelism", 1, "N trials at once (about Nx)")
    count("--max-in-flight", 1, "calls at once, whatever the two above say")
    amount("--max-cost", "USD", "a ceiling in dollars")
    add("--price", metavar="IN,OUT", help="dollars per million tokens, where the price is not known")
    count("--max-tokens", 1, "length of an answer (512)")
    text = "seconds for a call (120); 10 more for every 1000 characters of its prompt"
    amount("--timeout", "S", text, dest="base_timeout")
    count("--retries", 0, "tries after a failed one (2); a call that is turned away (429, 503, 529) uses up none")
    text = "longest wait for a limit to end, or for a call that is turned away (900)"
    amount("--max-wait", "S", text, dest="max_wait_s")
    add("--plan", choices=list(PLANS), help="the subscription: its prompts per five hours are respected")
    count("--prompts-per-5h", 1, "stop after N calls in five hours")
    text = "go on with that run, or with the last unfinished one under --output"
    add("--resume", nargs="?", const="", metavar="FOLDER", help=text)


def _where(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output", type=Path, metavar="DIR", help="a new folder is made here (benchmark_results)")
    group.add_argument(
        "--format", dest="formats", action="append", choices=[*FORMATS, "all"], help="of the report (all)"
    )
    group.add_argument("--no-viz", action="store_true", help="no charts (a resumed run's old ones are removed)")
    group.add_argument("--quiet", action="store_true", help="print errors only")


def _count(group: argparse._ArgumentGroup, flag: str, least: int, text: str) -> None:
    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    group.add_argument(flag, type=whole, metavar="N", help=text)


def _amount(group: argparse._ArgumentGroup, flag: str, metavar: str, text: str, **more: Any) -> None:
    group.add_argument(flag, type=_above_zero, metavar=metavar, help=text, **more)


def _above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value
