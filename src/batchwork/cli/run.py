"""A run from the command line: shown while it goes on, its results written, its end told by exit code and summary."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from batchwork._bridge import run_sync
from batchwork.cli.inputs import STDOUT, write_results
from batchwork.core.errors import BatchworkError, ConfigError, Interrupted, RunPaused
from batchwork.core.event import Ended
from batchwork.core.intake import InputRow
from batchwork.core.outcome import Status
from batchwork.core.stats import account
from batchwork.core.words import Door, command_line, counted
from batchwork.display import Display
from batchwork.engine.engine import Supplied
from batchwork.journal import JournalReader, is_ours, remember_output
from batchwork.plan import Plan
from batchwork.runs import RunSession
from batchwork.summary import Summary, grouped
from batchwork.tables import check_output


def check_results(out: Path, journal: Path, *, overwrite: bool) -> None:
    """Find out before a run, by a ConfigError, whether its results can be written.

    A file that this journal did not write is not replaced without --overwrite.
    """
    if out == STDOUT:
        return
    check_output(out)
    if out.exists() and not overwrite and not is_ours(journal, out):
        raise ConfigError(
            f"{out} exists and was not written by this run's journal; use --overwrite to replace it, or another -o"
        )


def carry_out(
    plan: Plan,
    source: Iterable[InputRow] | None,
    *,
    out: Path | None,
    quiet: bool,
    total: int | None,
    apart: bool = False,
    csv_safe: bool = False,
    supplied: Supplied,
) -> int:
    """Run to the end, whatever it is; the exit code. `apart`: the source may block."""
    assert plan.journal is not None
    door = command_line(plan.journal)
    display = Display(door=door, quiet=quiet, total=total, is_retry=source is None)
    ahead = plan.policy.max_in_flight if apart else 0
    session = RunSession(plan, source, supplied, on_open=display.opened, ahead=ahead, door=door)
    say = partial(display.say, always=True)
    end: dict[str, Any] = {}
    try:
        run_sync(session.execute, interrupt=lambda: session.interrupt_aloud(say)).close()
    except RunPaused as pause:
        end["paused"] = str(pause)
        pause.results.close()
    except Interrupted:
        end["interrupted"] = True
    except BatchworkError as error:
        if session.engine is None or not session.engine.tally.read:  # nothing was begun: the plain error says it all
            raise
        end["error"] = str(error)
    finally:
        display.closed()
    with closing(JournalReader(plan.journal)) as reader:
        summary = summary_of(reader, door, **end)
        reached_all = session.exhausted and not summary.interrupted
        missing = 0 if reached_all or total is None else total - summary.accounting.inputs
        written = None if session.left_at_once else out
        rows = 0 if written is None else write_results(reader, written, csv_safe=csv_safe)
    if written is not None:
        if written != STDOUT:
            remember_output(plan.journal, written)
        display.say(f"{counted(rows, 'row')} written to {'standard output' if written == STDOUT else out}")
    display.end(replace(summary, missing=missing))
    return summary.code


def summary_of(reader: JournalReader, door: Door, **end: Any) -> Summary:
    """What the runs on a journal have come to."""
    last, accounting = reader.last_run(), account(reader.counts())
    failed = reader.entries(statuses=frozenset({Status.FAILED})) if accounting.failed else ()
    ended = reader.last_event()
    return Summary(
        accounting=accounting,
        totals=reader.totals(),
        priced=last is None or last.priced,
        door=door,
        journal=reader.path,
        ceiling_nano=None if last is None else last.max_cost_nano,
        failures=grouped(None if entry.outcome is None else entry.outcome.error for entry in failed),
        has_ended=isinstance(ended, Ended),
        figures=ended.figures if isinstance(ended, Ended) else None,
        open_batches=len(reader.open_batches()),
        **end,
    )
