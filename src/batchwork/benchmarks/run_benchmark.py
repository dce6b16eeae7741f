"""`batchwork bench`, and in a checkout `python -m benchmarks.run_benchmark`: the door.

What takes long to import is imported inside of it, where Ctrl-C is heard and ends in one line.
"""

import signal
import sys
from collections.abc import Sequence

from batchwork.benchmarks.streams import lasting

_INTERRUPTED, _USAGE = 130, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its exit status."""
    with lasting():
        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: cleanly
            from batchwork.benchmarks.arguments import parser  # noqa: PLC0415

            told = parser().parse_args(arguments)
            from batchwork.benchmarks.program import program  # noqa: PLC0415

            return program(told)
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.startswith("batchwork"):
                raise
            print(f"ERROR: {missing.name} is not installed: pip install 'batchwork[bench]'", file=sys.stderr)
            return _USAGE
        except KeyboardInterrupt as ended:
            print(f"ERROR: {str(ended) or 'interrupted; nothing was sent'}", file=sys.stderr)
            return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
