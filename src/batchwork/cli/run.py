"""Run a job from the command line: show it, write its results, say how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from batchwork._bridge import run_sync
from batchwork.cli.inputs import write_results
from batchwork.cli.summary import Exit, Summary
from batchwork.core.errors import BatchworkError, ConfigError, Interrupted, RunPaused
from batchwork.core.intake import InputRow
from batchwork.core.stats import account
from batchwork.display import Display
from batchwork.engine.engine import Supplied
from batchwork.journal import JournalReader, is_ours, remember_output
from batchwork.plan import Plan
from batchwork.runs import RunSession
from batchwork.schema import AnswerChecker


def refuse_foreign_output(out: Path, journal: Path, *, overwrite: bool) -> None:
    """A file that this journal did not write is not replaced without being asked.

    Raises:
        ConfigError: it is there, and --overwrite is not.
    """
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
) -> int:
    """Run to the end, whatever it is; the exit code. `apart`: the source may block."""
    assert plan.journal is not None
    display = Display(quiet=quiet, total=total)

    def interrupt() -> None:
        session.interrupt()
        if (text := session.farewell) is not None:
            display.say(text, always=True)

    supplied = Supplied(checker=AnswerChecker())
    ahead = plan.policy.max_in_flight if apart else 0
    session = RunSession(plan, source, supplied, on_open=display.opened, ahead=ahead)
    paused: str | None = None
    error: str | None = None
    interrupted = False
    try:
        run_sync(session.execute, interrupt=interrupt).close()
    except RunPaused as pause:
        paused = str(pause)
        pause.results.close()
    except Interrupted:
        interrupted = True
    except BatchworkError as problem:
        if session.engine is None or not session.engine.tally.read:  # nothing was begun: the plain error says it all
            raise
        error = str(problem)
    finally:
        display.closed()
    with closing(JournalReader(plan.journal)) as reader:
        reached_all = session.exhausted and not interrupted
        summary = Summary(
            accounting=account(reader.counts()),
            totals=reader.totals(),
            priced=session.engine is not None and session.engine.price is not None,
            journal=plan.journal,
            paused=paused,
            interrupted=interrupted,
            error=error,
            total=None if reached_all else total,
            open_batches=len(reader.open_batches()),
        )
        written = None if session.left_at_once else out
        rows = 0 if written is None else write_results(reader, written, csv_safe=csv_safe)
    if written is not None:
        remember_output(plan.journal, written)
        display.say(f"{rows:,} rows written to {out}")
    for text in summary.lines():
        display.say(text, always=summary.code != Exit.ALL_SUCCEEDED)
    return summary.code
