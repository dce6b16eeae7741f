"""The command line: parse, call, print."""

import signal
import sys
from typing import Any

import typer.main

from batchwork.cli.app import app
from batchwork.cli.errors import in_options
from batchwork.core.errors import BatchworkError
from batchwork.summary import Exit

__all__ = ["app", "main"]


def main() -> None:
    """The entry point `batchwork`: errors become one line and an exit code, never a traceback."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except BatchworkError as error:
        print(f"batchwork: error: {in_options(str(error), _options())}", file=sys.stderr)
        sys.exit(Exit.BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)


def _options() -> list[str]:
    """The names of the options of the command that was called, or of the command of a command."""
    called: Any = typer.main.get_command(app)
    for word in sys.argv[1:]:
        called = getattr(called, "commands", {}).get(word, called)
    return [parameter.name for parameter in getattr(called, "params", ()) if parameter.name]


def _terminate(*_: object) -> None:
    """Whoever stops a container or a job sends SIGTERM: it ends as Ctrl-C does, and what is under way is kept.

    A shell's background job is born with Ctrl-C ignored; until somebody listens to it, it has no effect there.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
