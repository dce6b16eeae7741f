"""The command line: parse, call, print."""

import signal
import sys

from batchwork.cli.app import app
from batchwork.cli.run import Exit
from batchwork.core.errors import BatchworkError

__all__ = ["app", "main"]


def main() -> None:
    """The entry point `batchwork`: errors become one line and an exit code, never a traceback."""
    # Whoever stops a container or a job sends this: it ends as Ctrl-C does, and what is under way is kept.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except BatchworkError as error:
        print(f"batchwork: error: {error}", file=sys.stderr)
        sys.exit(Exit.BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; there is nobody left to tell
        sys.exit(Exit.SOME_FAILED)
