"""The real `batchwork serve`, with a probe in its event loop: how much CPU its thread takes between two turns.

Run as a program, with the arguments of `batchwork serve`. A line on standard input asks for the longest turn since the
last line, in milliseconds, which is the answer on standard output.
"""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from perf._turns import TurnProbe


def tell() -> None:
    for _ in sys.stdin:
        print(f"{TurnProbe.longest_ms():.3f}", flush=True)


if __name__ == "__main__":
    TurnProbe.install()
    from batchwork.cli import main

    threading.Thread(target=tell, daemon=True).start()
    sys.argv[1:1] = ["serve"]
    main()
