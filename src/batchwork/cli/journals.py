"""The commands that need nothing but a journal: status, results, retry, cancel, recover, backup, copy."""

import shlex
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, cast

import msgspec
import typer

from batchwork._bridge import run_sync
from batchwork.cli import options
from batchwork.cli.inputs import STDOUT, write_results
from batchwork.cli.run import ResultFile, carry_out, check_results, end_by_broken_pipe
from batchwork.cli.standing import input_of, summary_of
from batchwork.core.block import RUN
from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import ConfigError, JournalDamagedError
from batchwork.core.event import Began
from batchwork.core.stats import account
from batchwork.core.words import Door, counted, journal_commands, manager_door
from batchwork.embed_run import TASK, PackChecker, embedding_plan
from batchwork.journal import JournalReader, back_up, check_whole, size_of, writer_of
from batchwork.journal import recover as recover_journal
from batchwork.journal_copy import copy_journal
from batchwork.journals import in_a_file, journal_address, open_reader, output_name, write_output
from batchwork.manager.run_folder import MANAGER
from batchwork.manager.state_file import read_state
from batchwork.options import HIDDEN_ADDRESS, RunOptions, plan_of, supplied_of
from batchwork.run_session import RunSession
from batchwork.summary import Exit, wrapped

_READ_THROUGH = 50_000_000  # bytes of a journal that `status` reads to its end, so that no damage passes for a success


def status(journal: options.JournalFile) -> None:
    """Where a run stands: what is done, failed, deferred or pending, why and what to do, and what was paid.

    \b
    Examples:
      batchwork status out.jsonl
      batchwork status out.jsonl.journal.db
    """
    if isinstance(journal, Path) and _is_soon_read(journal):
        check_whole(journal)
    with closing(open_reader(journal)) as reader:
        last, open_batches = reader.last_run(), reader.open_batches()
        latest = {path: how for path, *how in reader.outputs()}
        outputs = [_output(reader, path, *how) for path, how in latest.items()]
        summary = summary_of(reader, _door(journal, last))
    texts = [f"model    {last.model if last else 'unknown'}", *summary.lines(run="last run")]
    texts += [f"batch    {ticket.batch_id or 'submitted, its number not yet known'}" for ticket in open_batches]
    texts += outputs
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    print(*(wrapped(text, width) for text in texts), wrapped(summary.verdict, width, indent=""), sep="\n")


def _is_soon_read(journal: Path) -> bool:
    return writer_of(journal) is None and journal.exists() and size_of(journal) <= _READ_THROUGH


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


def _door(journal: JournalAddress, last: Began | None) -> Door:
    """How the runs on a journal are gone on with."""
    if last is not None and MANAGER in last.settings:
        return manager_door(journal.with_suffix("") if isinstance(journal, Path) else journal)
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
    check_results(output, journal, overwrite=overwrite)

    def write(path: Path) -> int:
        with closing(open_reader(journal)) as reader:
            last = reader.last_run()
            sources = _sources(journal) if last is not None and MANAGER in last.settings else {}
            return write_results(reader, path, csv_safe=csv_safe, sources=sources)

    if output == STDOUT:
        try:
            write(output)
        except BrokenPipeError:
            end_by_broken_pipe()
            raise
        return
    rows, is_noted = write_output(journal, output, write)
    print(f"{counted(rows, 'row')} written to {output}")
    if not is_noted:
        print("the run is still going on: this is what it had settled, and a later `results` needs --overwrite")


def _sources(journal: JournalAddress) -> dict[int, str]:
    """The files behind the items of a manager, as the state beside its journal has them."""
    if not isinstance(journal, Path):
        return {}
    with suppress(OSError):
        if (state := read_state(journal.with_suffix(""))) is not None:
            items = (item for job in state.jobs for item in job.items)
            return {item.original_index: item.content for item in items if isinstance(item.content, str)}
    return {}


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
    with closing(open_reader(journal)) as reader:
        last, known = reader.last_run(), input_of(reader)
        written = [path for path, _, _ in reader.outputs()]
    if last is None:
        raise ConfigError(f"no run was ever started on {journal}")
    if MANAGER in last.settings:
        raise ConfigError(
            f"{journal} is the journal of a BatchManager, whose own retry_failed() keeps its state in step"
        )
    if last.settings.get(TASK) == "embed":
        raise ConfigError(f"{journal} is the journal of `batchwork embed`: give that command --retry-failed")
    given = {"max_cost": max_cost, "price": price, "max_in_flight": max_in_flight, "max_wait": max_wait}
    run_options = options_of(last, journal, given | {"notify": notify, "base_url": base_url})
    if known.output is not None:
        written.append((journal.parent if isinstance(journal, Path) else Path()) / known.output)
    out = output or (written[-1] if written else None)
    if out is not None:
        check_results(out, journal, overwrite=overwrite or output is None)
    if output is not None:
        known = msgspec.structs.replace(known, output=None if output == STDOUT else output_name(output, journal))
    code = carry_out(
        plan_of(run_options),
        None,
        results=ResultFile(path=out, csv_safe=csv_safe, replaces=True),
        door=_door(journal, last),
        quiet=quiet,
        supplied=replace(supplied_of(run_options), input=known),
    )
    raise typer.Exit(code)


def options_of(last: Began, journal: JournalAddress, given: dict[str, Any]) -> RunOptions:
    """The options of the last run on a journal, but for those that are given anew."""
    settings: dict[str, Any] = {**last.settings, "model": last.model, "journal": journal}
    for name in (MANAGER, TASK, RUN):
        settings.pop(name, None)
    settings |= {name: value for name, value in given.items() if value is not None}
    hidden = settings.pop(HIDDEN_ADDRESS, None)
    if hidden is not None and given["base_url"] is None:
        raise ConfigError(
            f"the base URL of the last run ({hidden}) had more to it, which is not kept because it may hold a key:"
            " give it again with --base-url"
        )
    return cast("RunOptions", settings)


def cancel(journal: options.JournalFile, base_url: options.BaseUrl = None) -> None:
    """Give up the batches that a run has open at the provider; what they have finished is taken in and kept.

    What is not finished is asked again by the next run, in batches or live. What the provider has done until then it
    may bill.

    \b
    Examples:
      batchwork cancel out.jsonl.journal.db
    """
    with closing(open_reader(journal)) as reader:
        last, known, before = reader.last_run(), input_of(reader), len(reader.open_batches())
    if last is None or not before:
        print(f"{journal} has no batches open at the provider")
        return
    run_options = options_of(last, journal, {"mode": "batch", "base_url": base_url})
    of_manager = {name: held for name, held in last.settings.items() if name == MANAGER}
    supplied = replace(supplied_of(run_options), input=known, remembered=of_manager)
    plan = plan_of(run_options)
    if last.settings.get(TASK) == "embed":
        plan, supplied = embedding_plan(plan), replace(supplied, checker=PackChecker())
    session = RunSession(plan, None, supplied, on_open=lambda _: session.cancel())
    run_sync(session.execute, interrupt=session.interrupt).close()
    with closing(open_reader(journal)) as reader:
        left, accounting = len(reader.open_batches()), account(reader.counts())
    print(f"{counted(before - left, 'batch', 'batches')} given up; what was finished is kept: {accounting}")
    if left:
        print(f"{counted(left, 'batch goes', 'batches go')} on at the provider: run the same command again")
        raise typer.Exit(Exit.SOME_FAILED)


def recover(journal: options.JournalFile) -> None:
    """Save what is whole in a damaged journal into a new one under its name; the damaged file is kept.

    \b
    Examples:
      batchwork recover out.jsonl.journal.db
    """
    file = in_a_file(journal, "recover")
    try:
        check_whole(file)
    except JournalDamagedError:
        print(recover_journal(file).note)
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
    events = back_up(in_a_file(journal, "backup"), to)
    print(f"{counted(events, 'event')} copied to {to}, and read there")


def copy(
    journal: options.JournalFile,
    to: Annotated[str, typer.Argument(metavar="TO", help="A file or a database; there must be no journal there.")],
) -> None:
    """Copy a journal between a file and a database, either way; a run on the copy goes on where the journal stood.

    \b
    Examples:
      batchwork copy out.jsonl.journal.db 'postgresql://db.example/work?journal=out'
      batchwork copy 'postgresql://db.example/work?journal=out' out.journal.db
    """
    address = options.without_password(journal_address(to))
    events = copy_journal(journal, address)
    print(f"{counted(events, 'event')} copied to {address}, and compared there")


COMMANDS = (status, results, retry, cancel, recover, backup, copy)
