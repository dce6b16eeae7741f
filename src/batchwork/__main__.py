"""The program `batchwork`, also as `python -m batchwork`: Ctrl-C ends it quietly also while it is being loaded."""

import os
import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    """Load the command line and hand over to it; until then nothing is open that an end could harm."""
    default = signal.getsignal(signal.SIGINT)
    if default is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from batchwork.cli import main as command_line  # noqa: PLC0415 - what this module is for

    try:
        signal.signal(signal.SIGINT, default)
        command_line()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
