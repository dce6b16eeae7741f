"""The commands that need nothing but a journal: status, results, retry, recover, backup."""

import shlex
import signal
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, cast

import msgspec
import typer

from batchwork.cli import options
from batchwork.cli.inputs import STDOUT, write_results
from batchwork.cli.run import ResultFile, carry_out, check_results
from batchwork.cli.standing import input_of, summary_of
from batchwork.core.errors import ConfigError, JournalDamagedError, JournalLockedError
from batchwork.core.event import Began
from batchwork.core.words import Door, counted, journal_commands, manager_door
from batchwork.journal import JournalReader, back_up, check_whole, known_as, remember_output
from batchwork.journal import recover as recover_journal
from batchwork.manager.run_folder import MANAGER
from batchwork.options import HIDDEN_ADDRESS, RunOptions, plan_of, supplied_of
from batchwork.summary import wrapped


def status(journal: options.JournalFile) -> None:
    """Where a run stands: what is done, failed, deferred or pending, why and what to do, and what was paid.

    \b
    Examples:
      batchwork status out.jsonl
      batchwork status out.jsonl.journal.db
    """
    with closing(JournalReader(journal)) as reader:
        last, open_batches = reader.last_run(), reader.open_batches()
        outputs = [_output(reader, *output) for output in reader.outputs()]
        summary = summary_of(reader, _door(journal, last))
    texts = [f"model    {last.model if last else 'unknown'}", *summary.lines(run="last run")]
    texts += [f"batch    {ticket.batch_id or 'submitted, its number not yet known'}" for ticket in open_batches]
    texts += outputs
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    print(*(wrapped(text, width) for text in texts), wrapped(summary.verdict, width, indent=""), sep="\n")


def _output(reader: JournalReader, path: Path, size: int, mtime_ns: int) -> str:
    """A file of results, and whether it still is what the journal has to tell."""
    again = f"`batchwork results {shlex.quote(str(reader.path))} -o {shlex.quote(str(path))}"
    try:
        seen = path.stat()
    except OSError:
        return f"results  {path} (no longer there: {again}` writes it)"
    if (seen.st_size, seen.st_mtime_ns) != (size, mtime_ns):
        return f"results  {path} (changed since it was written: {again} --overwrite` writes it anew)"
    if reader.last_at() > mtime_ns / 1e9:
        return f"results  {path} (older than the latest run: {again}` writes it anew)"
    return f"results  {path}"


def _door(journal: Path, last: Began | None) -> Door:
    """How the runs on a journal are gone on with."""
    if last is not None and MANAGER in last.settings:
        return manager_door(journal.with_suffix(""))
    return journal_commands(journal, source=None if last is None else last.input.source)


def results(
    journal: options.JournalFile,
    output: options.Out,
    overwrite: options.Overwrite = False,
    csv_safe: options.CsvSafe = False,
) -> None:
    """Write the results of a run, from its journal alone. The file that the run itself writes stays the same.

    \b
    Examples:
      batchwork results out.jsonl -o again.csv
      batchwork results out.jsonl.journal.db -o - | head
    """
    with closing(JournalReader(journal)) as reader:
        check_results(output, journal, overwrite=overwrite)
        try:
            rows = write_results(reader, output, csv_safe=csv_safe)
        except BrokenPipeError:  # whoever reads has enough: end as any other program does then
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.raise_signal(signal.SIGPIPE)
            raise
    if output == STDOUT:
        return
    print(f"{counted(rows, 'row')} written to {output}")
    try:
        remember_output(journal, output)
    except JournalLockedError:
        print("the run is still going on: this is what it had settled, and a later `results` needs --overwrite")


def retry(
    journal: options.RunJournalFile,
    output: options.MaybeOut = None,
    max_cost: options.MaxCost = None,
    base_url: options.BaseUrl = None,
    overwrite: options.Overwrite = False,
    csv_safe: options.CsvSafe = False,
    price: options.Price = None,
    max_in_flight: options.MaybeInFlight = None,
    max_wait: options.MaybeMaxWait = None,
    notify: options.Notify = None,
    quiet: options.Quiet = False,
) -> None:
    """Try the failed and deferred items of a run again; needs nothing but its journal.

    Rows of the input that no run has reached are not in the journal: `batchwork run` asks those.

    The model, the limits and the budget are those of the last run unless you say otherwise; results go where they went.

    \b
    Examples:
      batchwork retry out.jsonl.journal.db
      batchwork retry out.jsonl.journal.db --max-cost 10
    """
    with closing(JournalReader(journal)) as reader:
        last, known = reader.last_run(), input_of(reader)
        written = [path for path, _, _ in reader.outputs()]
    if last is None:
        raise ConfigError(f"no run was ever started on {journal}")
    if MANAGER in last.settings:
        raise ConfigError(
            f"{journal} is the journal of a BatchManager, whose own retry_failed() keeps its state in step"
        )
    settings: dict[str, Any] = {**last.settings, "model": last.model, "journal": journal}
    given = {"max_cost": max_cost, "price": price, "max_in_flight": max_in_flight, "max_wait": max_wait}
    given |= {"notify": notify}
    settings |= {name: value for name, value in given.items() if value is not None}
    hidden = settings.pop(HIDDEN_ADDRESS, None)
    if base_url is not None:
        settings["base_url"] = base_url
    elif hidden is not None:
        raise ConfigError(
            f"the base URL of the last run ({hidden}) had more to it, which is not kept because it may hold a key:"
            " give it again with --base-url"
        )
    if known.output is not None:
        written.append(journal.parent / known.output)
    out = output or (written[-1] if written else None)
    if out is not None:
        check_results(out, journal, overwrite=overwrite or output is None)
    if output is not None:
        known = msgspec.structs.replace(known, output=None if output == STDOUT else known_as(output, journal))
    run_options = cast("RunOptions", settings)
    code = carry_out(
        plan_of(run_options),
        None,
        results=ResultFile(path=out, csv_safe=csv_safe, replaces=True),
        door=_door(journal, last),
        quiet=quiet,
        supplied=replace(supplied_of(run_options), input=known),
    )
    raise typer.Exit(code)


def recover(journal: options.JournalFile) -> None:
    """Save what is whole in a damaged journal into a new one under its name; the damaged file is kept.

    \b
    Examples:
      batchwork recover out.jsonl.journal.db
    """
    try:
        check_whole(journal)
    except JournalDamagedError:
        print(recover_journal(journal).note)
    else:
        print(f"{journal} is whole: there is nothing to recover")


def backup(
    journal: options.JournalFile,
    to: Annotated[Path, typer.Argument(metavar="TO", help="The copy; there must be nothing of this name.")],
) -> None:
    """Copy a journal, also while a run is writing it; the copy is read through before it gets its name.

    A run on the copy goes on from the moment of the backup: what was settled after it is asked again.

    \b
    Examples:
      batchwork backup out.jsonl.journal.db /backup/out-monday.journal.db
    """
    events = back_up(journal, to)
    print(f"{counted(events, 'event')} copied to {to}, and read there")


COMMANDS = (status, results, retry, recover, backup)
