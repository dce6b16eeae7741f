"""`python -m benchmarks.run_benchmark`: the door.

What takes long to import is imported inside of it, where Ctrl-C is heard and ends in one line.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from benchmarks.streams import lasting

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its exit status."""
    with lasting():
        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: cleanly
            from benchmarks.program import program  # noqa: PLC0415

            return program(arguments)
        except KeyboardInterrupt as ended:
            print(f"ERROR: {str(ended) or 'interrupted; nothing was sent'}", file=sys.stderr)
            return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
