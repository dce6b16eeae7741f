"""The command line: parse, call, print."""

import signal
import sys

from batchwork.cli.app import OPTIONS, app
from batchwork.core.errors import BatchworkError
from batchwork.core.words import as_options
from batchwork.summary import Exit

__all__ = ["app", "main"]


def main() -> None:
    """The entry point `batchwork`: errors become one line and an exit code, never a traceback."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except BatchworkError as error:
        print(f"batchwork: error: {as_options(str(error), OPTIONS)}", file=sys.stderr)
        sys.exit(Exit.BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)


def _terminate(*_: object) -> None:
    """Whoever stops a container or a job sends SIGTERM: it ends as Ctrl-C does, and what is under way is kept.

    A shell's background job is born with Ctrl-C ignored; until somebody listens to it, it has no effect there.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
