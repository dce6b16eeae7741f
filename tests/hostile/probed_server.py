"""The real `batchwork serve`, with a probe in its event loop: how much CPU its thread takes between two turns.

Run as a program, with the arguments of `batchwork serve`. A line on standard input asks for the longest turn since the
last line, in milliseconds, which is the answer on standard output.
"""

import selectors
import sys
import threading
import time


class TurnProbe(selectors.DefaultSelector):
    """Measures what happens between two looks at the sockets, which is one turn of the loop."""

    longest_s = 0.0
    _began: float | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._began is not None:
            TurnProbe.longest_s = max(TurnProbe.longest_s, time.thread_time() - self._began)
        try:
            return super().select(timeout)
        finally:
            self._began = time.thread_time()


def tell() -> None:
    for _ in sys.stdin:
        longest, TurnProbe.longest_s = TurnProbe.longest_s, 0.0
        print(f"{longest * 1000:.3f}", flush=True)


if __name__ == "__main__":
    selectors.DefaultSelector = TurnProbe  # type: ignore[misc]
    from batchwork.cli import main

    threading.Thread(target=tell, daemon=True).start()
    sys.argv[1:1] = ["serve"]
    main()
