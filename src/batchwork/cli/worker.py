"""The command `worker`: one more process for a run that another one has begun."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import typer

from batchwork._bridge import run_sync
from batchwork.cli import options
from batchwork.cli.journals import options_of
from batchwork.core.errors import ConfigError, Interrupted, RunPaused
from batchwork.core.words import counted
from batchwork.display import Display
from batchwork.embed_run import TASK
from batchwork.journals import open_reader
from batchwork.manager.run_folder import MANAGER
from batchwork.options import plan_of, supplied_of
from batchwork.run_session import RunSession
from batchwork.summary import Exit


def worker(
    journal: options.RunJournalFile,
    base_url: options.WorkerBaseUrl = None,
    max_in_flight: options.MaybeInFlight = None,
    max_wait: options.MaybeMaxWait = None,
    quiet: options.Quiet = False,
) -> None:
    """Work on a run that `batchwork run` has begun with a journal in PostgreSQL, on this machine or another one.

    It needs no input and writes no results: the command that reads the input does. It ends when that one has ended. The
    API key comes from this machine's own environment.

    \b
    Examples:
      batchwork worker 'postgresql://db.example/work?journal=rivers'
    """
    if isinstance(journal, Path):
        raise ConfigError(f"{journal} is a file, which one process writes: several need --journal postgresql://...")
    with closing(open_reader(journal)) as reader:
        last = reader.last_run()
    if last is None:
        raise ConfigError(f"no run was ever started on {journal}")
    if MANAGER in last.settings or last.settings.get(TASK) == "embed":
        raise ConfigError(f"{journal} is no journal of `batchwork run`, which alone is shared by several processes")
    given = {"base_url": base_url, "max_in_flight": max_in_flight, "max_wait": max_wait}
    run_options = options_of(last, journal, given)
    plan = replace(plan_of(run_options), shares=True, joins=True)
    display = Display(quiet=quiet)
    session = RunSession(plan, None, supplied_of(run_options), on_open=display.opened)
    code = Exit.ALL_SUCCEEDED
    try:
        run_sync(session.execute, interrupt=lambda: session.interrupt_aloud(display.say)).close()
    except RunPaused as pause:
        display.say(str(pause), always=True)
        code = Exit.PAUSED
    except Interrupted:
        code = Exit.INTERRUPTED
    finally:
        display.closed()
    if session.engine is not None:
        settled = sum(session.engine.tally.settled.values())
        display.say(f"{counted(settled, 'item')} settled by this process", always=True)
    raise typer.Exit(code)
