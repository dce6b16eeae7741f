"""A run from the command line: shown while it goes on, its results written, its end told by exit code and summary."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

from batchwork._bridge import run_sync
from batchwork.cli.inputs import write_results
from batchwork.core.errors import BatchworkError, ConfigError, Interrupted, RunPaused
from batchwork.core.intake import InputRow
from batchwork.core.money import show
from batchwork.core.ports import Totals
from batchwork.core.stats import Accounting, account
from batchwork.display import Display
from batchwork.engine.engine import Supplied
from batchwork.journal import JournalReader, is_ours, remember_output
from batchwork.plan import Plan
from batchwork.runs import RunSession
from batchwork.schema import AnswerChecker


class Exit(IntEnum):
    """Where several hold, the one furthest down."""

    ALL_SUCCEEDED = 0
    SOME_FAILED = 1
    BAD_INPUT = 2
    BUDGET = 3
    PAUSED = 4
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run came to."""

    accounting: Accounting
    totals: Totals
    priced: bool
    journal: Path
    paused: str | None = None
    interrupted: bool = False
    error: str | None = None
    total: int | None = None  # rows in the input, when it is known and was not read to its end
    open_batches: int = 0  # that go on at the provider

    @property
    def code(self) -> Exit:
        """The exit code."""
        return self._verdict()[0]

    def lines(self) -> list[str]:
        """The accounting, the cost, and what to do next."""
        cost = show(self.totals.spent_nano) if self.priced or self.totals.spent_nano else "unknown"
        if self.totals.unconfirmed_nano:
            cost += f", of which {show(self.totals.unconfirmed_nano)} unconfirmed (booked at the worst case)"
        missing = 0 if self.total is None else self.total - self.accounting.inputs
        not_reached = f" ({missing:,} more rows not reached)" if missing > 0 else ""
        texts = [f"{self.accounting}{not_reached}", f"cost {cost}"]
        if self.error is not None:
            texts.append(f"error: {self.error}")
        if self.open_batches:
            texts.append(f"{self.open_batches} batches go on at the provider; the same command takes them up again")
        return [*texts, self._verdict()[1]]

    def _verdict(self) -> tuple[Exit, str]:
        """How it ended, and what to do next: the first of these that holds."""
        counts, again = self.accounting, "run the same command again"
        if self.interrupted:
            return Exit.INTERRUPTED, f"Interrupted: everything finished is kept; {again} to go on."
        if self.paused is not None:
            return Exit.PAUSED, f"Paused: {self.paused}"
        if counts.deferred:
            text = f"Stopped by the budget: {again} with a higher --max-cost for the deferred ones."
            return Exit.BUDGET, text
        if self.error is not None:
            return Exit.BAD_INPUT, f"Everything finished is kept; mend the cause and {again}."
        if counts.failed:
            text = f"Some failed: see the column 'error'; `batchwork retry {self.journal}` tries them again."
            return Exit.SOME_FAILED, text
        if counts.pending:
            return Exit.SOME_FAILED, f"Some are pending: {again} to go on."
        return Exit.ALL_SUCCEEDED, "All succeeded."


def refuse_foreign_output(out: Path, journal: Path, *, overwrite: bool) -> None:
    """A file that this journal did not write is not replaced without --overwrite: that is a ConfigError."""
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
    supplied = Supplied(checker=AnswerChecker())
    ahead = plan.policy.max_in_flight if apart else 0
    session = RunSession(plan, source, supplied, on_open=display.opened, ahead=ahead)
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
        reached_all = session.exhausted and "interrupted" not in end
        summary = Summary(
            accounting=account(reader.counts()),
            totals=reader.totals(),
            priced=session.engine is not None and session.engine.price is not None,
            journal=plan.journal,
            total=None if reached_all else total,
            open_batches=len(reader.open_batches()),
            **end,
        )
        written = None if session.left_at_once else out
        rows = 0 if written is None else write_results(reader, written, csv_safe=csv_safe)
    if written is not None:
        remember_output(plan.journal, written)
        display.say(f"{rows:,} rows written to {out}")
    for text in summary.lines():
        display.say(text, always=summary.code != Exit.ALL_SUCCEEDED)
    return summary.code
