"""Run a job from the command line: show it, write its results, say how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from batchwork._bridge import run_sync
from batchwork.cli.ending import Ending, Exit
from batchwork.cli.inputs import write_results
from batchwork.core.errors import BatchworkError, ConfigError, Interrupted, RunPaused
from batchwork.core.intake import Intake
from batchwork.core.stats import account
from batchwork.display import Display
from batchwork.engine.engine import Engine, Supplied
from batchwork.journal import JournalReader, is_ours, remember_output
from batchwork.plan import Plan
from batchwork.progress import stopping
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
    source: Iterable[Intake] | None,
    *,
    out: Path | None,
    quiet: bool,
    total: int | None,
    apart: bool = False,
    csv_safe: bool = False,
) -> int:
    """Run to the end, whatever it is; the exit code. `apart`: the source may block."""
    assert plan.journal is not None
    seen: list[Engine] = []
    display = Display(quiet=quiet, total=total)

    def watch(engine: Engine) -> None:
        seen.append(engine)
        display.watch(engine)

    def interrupt() -> None:
        session.interrupt()
        if seen and not session.left_at_once:
            display.say(stopping(in_flight=seen[0].tally.in_flight, batches=seen[0].uses_batches), always=True)

    session = RunSession(
        plan, source, Supplied(checker=AnswerChecker()), on_open=watch, ahead=plan.policy.max_in_flight if apart else 0
    )
    paused: str | None = None
    error: str | None = None
    interrupted = False
    try:
        with display:
            run_sync(session.execute, interrupt=interrupt).close()
    except RunPaused as pause:
        paused = str(pause)
        pause.results.close()
    except Interrupted:
        interrupted = True
    except BatchworkError as problem:
        if not seen or not seen[0].tally.read:  # nothing was begun: the plain error says it all
            raise
        error = str(problem)
    with closing(JournalReader(plan.journal)) as reader:
        counts = reader.counts()
        reached_all = session.exhausted and not interrupted
        ending = Ending(
            accounting=account(counts),
            totals=reader.totals(),
            priced=bool(seen) and seen[0].price is not None,
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
    for text in ending.lines():
        display.say(text, always=ending.code != Exit.ALL_SUCCEEDED)
    return ending.code
