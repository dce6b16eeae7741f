"""A run from the command line: shown while it goes on, its results written, its end told by exit code and summary."""

import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from batchwork._bridge import run_sync
from batchwork.cli.inputs import STDOUT, write_results
from batchwork.cli.processes import WorkerProcesses
from batchwork.cli.standing import summary_of
from batchwork.core.difference import changed_parts
from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import BatchworkError, ConfigError, Interrupted, RunPaused
from batchwork.core.intake import InputRow
from batchwork.core.ports import Entry
from batchwork.core.words import Door, and_list, counted
from batchwork.display import Display
from batchwork.engine.engine import Engine, Supplied
from batchwork.journal import JournalReader
from batchwork.journals import open_reader, write_output, wrote
from batchwork.plan import Plan
from batchwork.run_session import RunSession
from batchwork.summary import Exit
from batchwork.tables import check_output


def check_results(out: Path, journal: JournalAddress, *, overwrite: bool) -> None:
    """Find out before a run, by a ConfigError, whether its results can be written.

    A file that this journal did not write is not replaced without --overwrite.
    """
    if out == STDOUT:
        return
    check_output(out)
    check_overwrite(out, journal, overwrite=overwrite)


def check_overwrite(out: Path, journal: JournalAddress, *, overwrite: bool) -> None:
    """Refuse by a ConfigError to replace a file that the journal did not write."""
    if out.exists() and not overwrite and not wrote(journal, out):
        raise ConfigError(
            f"{out} exists, and as it is now it was not written by this run's journal (or by `results` while a run was"
            " going on); use --overwrite to replace it, or another -o"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """Where the results of a run go."""

    path: Path | None  # None: nowhere; they stay in the journal
    columns: Collection[str] = ()  # of the input, where they are known
    csv_safe: bool = False
    replaces: bool = False  # whatever is there, without keeping it
    limit: int | None = None  # how many rows of the input were asked for; None: all

    def write(self, journal: JournalAddress, *, before: "_Before", say: Callable[[str], None]) -> bool:
        """Write them; whether whoever reads took them all.

        A file that has answers which no longer belong to the input is kept under another name.
        """
        if (out := self.path) is None:
            return True
        with closing(open_reader(journal)) as reader:
            self._keep_old(out, reader, before, say)

        def write(path: Path) -> int:
            with closing(open_reader(journal)) as reader:
                return write_results(reader, path, columns=self.columns, csv_safe=self.csv_safe)

        try:
            rows, is_noted = (write(out), True) if out == STDOUT else write_output(journal, out, write)
        except BrokenPipeError:  # whoever reads has enough: the run is told all the same
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return False
        say(f"{counted(rows, 'row')} written to {'standard output' if out == STDOUT else out}")
        if not is_noted:
            say("somebody works on the journal by now: a later run needs --overwrite to write there again")
        return True

    def _keep_old(self, out: Path, reader: JournalReader, before: "_Before", say: Callable[[str], None]) -> None:
        gone = reader.displaced() - before.displaced
        if gone > 0 and out != STDOUT and not self.replaces and out.exists():
            why = before.why_gone(_first(reader), self.limit)
            say(f"{counted(gone, 'earlier answer')} not in the new {out}: {why}. The file as it was is {_kept(out)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """What a journal held when a run began on it."""

    displaced: int = 0  # answers that had no place in the input
    first: Entry | None = None

    def why_gone(self, now: Entry | None, limit: int | None) -> str:
        """Why answers that had a place in the input have none any more."""
        if self.first is not None and now is not None and self.first.request and now.request:
            is_same_row = now.columns is not None and now.columns == self.first.columns
            if changed := changed_parts(self.first.request, now.request, is_same_row=is_same_row):
                return f"they answer another question, by {and_list(changed)}"
        return "their rows are no longer in the input" if limit is None else f"their rows are not among --limit {limit}"


def _first(reader: JournalReader) -> Entry | None:
    return next(iter(reader.entries(0, 1)), None)


def _kept(out: Path) -> Path:
    """A file of results under another name, free until now."""
    number = 1
    while (aside := out.with_name(f"{out.stem}.old-{number}{out.suffix}")).exists():
        number += 1
    return out.rename(aside)


def carry_out(
    plan: Plan,
    source: Iterable[InputRow] | None,
    *,
    results: ResultFile,
    door: Door,
    quiet: bool,
    apart: bool = False,
    processes: int = 1,
    supplied: Supplied,
) -> int:
    """Run to the end, whatever it is; the exit code. `apart`: the source may block. `processes`: so many in all."""
    journal = plan.journal
    assert journal is not None
    display = Display(door=door, quiet=quiet, is_retry=source is None)
    ahead = plan.policy.max_in_flight if apart else 0
    before = _Before()
    workers = WorkerProcesses(journal, processes - 1, base_url=plan.base_url)

    def opened(engine: Engine) -> None:
        nonlocal before
        with closing(open_reader(journal)) as reader:
            before = _Before(displaced=reader.displaced(), first=_first(reader))
        display.opened(engine)
        workers.start()

    if_empty = "--limit 0" if results.limit == 0 else "the input is empty"
    plan = replace(plan, shares=source is not None)
    session = RunSession(plan, source, supplied, on_open=opened, ahead=ahead, door=door, if_empty=if_empty)
    say = partial(display.say, always=True)
    failure: str | None = None

    def interrupt() -> None:
        session.interrupt_aloud(say)
        workers.interrupt()

    try:
        run_sync(session.execute, interrupt=interrupt).close()
    except RunPaused as pause:
        if pause.results is None:  # nor can anybody else be told of it
            say(str(pause))
            return Exit.PAUSED
        pause.results.close()
    except Interrupted:
        pass
    except BatchworkError as error:
        if session.engine is None or not session.engine.tally.read:  # nothing was begun: the plain error says it all
            raise
        failure = str(error)
    finally:
        display.closed()
        workers.close()
    with closing(open_reader(journal)) as reader:
        summary = summary_of(reader, door, error=failure)
    taken = True
    if not session.left_at_once:
        taken = results.write(journal, before=before, say=display.say)
    elif results.path is not None:
        say(f"left at once, results not written: `batchwork results {journal} -o OUT` writes them")
    display.end(summary)
    if not taken and summary.code == Exit.ALL_SUCCEEDED:  # else there is something to tell that is worth more
        end_by_broken_pipe()
    return summary.code


def end_by_broken_pipe() -> None:
    """End as any other program does when whoever reads its output has enough."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.raise_signal(signal.SIGPIPE)
