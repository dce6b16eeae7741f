"""CPU per request of batchwork over TLS, with journal, gate, ledger and price on: where it runs the event loop, and
inside a user's loop; beside raw aiohttp on the default loop, our transport alone, the anthropic SDK and litellm, all
against one canned server whose answers are spread out in time as real ones are, round by round in turn. With so many
calls in flight that the process is never idle, it is also told how many answers a minute it can take.

What is measured is the processor time of the client process, all its threads, per request; the server is a process of
its own and not counted. Connections, with their handshakes, are opened within the count.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from perf._harness import ROOT, arguments, folder, interleaved, peers_python, ratio, run_child, show_table, verdict
from perf.http_side import IN_FLIGHT

MOST_TIMES_RAW = 1.1
MOST_TIMES_RAW_IN_USERS_LOOP = 1.35
MOST_US_ABOVE_TRANSPORT = 60.0
LEAST_OF_SDK = 6.0
LEAST_OF_LITELLM = 12.0
BUSY = 1_000  # calls in flight that leave one process no rest


@contextmanager
def canned_server(*, authority_file: Path | None = None, at_once: bool = False) -> Iterator[str]:
    """Where the canned server listens: over TLS, if there is a file for its authority, with answers spread out in time
    or all `at_once`; otherwise in plain HTTP, answering at once."""
    how = [] if authority_file is None else ["--authority-file", str(authority_file)]
    how += ["--at-once"] if at_once or authority_file is None else []
    command = [sys.executable, "-m", "perf.canned_server", *how]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True)
    try:
        assert server.stdout is not None
        scheme = "http" if authority_file is None else "https"
        yield f"{scheme}://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.terminate()
        server.communicate()


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    ours, theirs, many, rounds = (1_000, 200, 2_000, 1) if smoke else (10_000, 1_000, 60_000, 5)
    per_minute: list[float] = []
    peer, own = peers_python(), Path(sys.executable)
    with (
        folder() as place,
        canned_server(authority_file=place / "spread.pem") as spread,
        canned_server(authority_file=place / "at-once.pem", at_once=True) as at_once,
    ):

        def side(
            name: str, python: Path = own, requests: int = ours, url: str = spread, in_flight: int = IN_FLIGHT
        ) -> float:
            authority = place / ("spread.pem" if url == spread else "at-once.pem")
            environment = {**os.environ, "SSL_CERT_FILE": str(authority)}
            command = [python, "-m", "perf.http_side", name, url, requests, in_flight]
            told = run_child(command, environment=environment).json()
            assert told["answered"] == requests, told
            if name == "batchwork" and in_flight == BUSY:
                per_minute.append(requests / told["wall_s"] * 60)
            return float(told["cpu_s"]) / requests * 1e6

        seen = interleaved(
            rounds,
            {
                "raw aiohttp": lambda: side("raw"),
                "our transport alone": lambda: side("transport"),
                "batchwork": lambda: side("batchwork"),
                "batchwork, max_cost": lambda: side("batchwork-budget"),
                "batchwork in the user's loop": lambda: side("batchwork-user-loop"),
                "our transport, at once": lambda: side("transport", url=at_once),
                "batchwork, at once": lambda: side("batchwork", url=at_once),
                "our transport, busy": lambda: side("transport", requests=many, in_flight=BUSY),
                "batchwork, busy": lambda: side("batchwork", requests=many, in_flight=BUSY),
                "anthropic SDK": lambda: side("sdk", peer, theirs),
                "litellm": lambda: side("litellm", peer, theirs),
            },
        )
    raw = seen["raw aiohttp"]
    asked = {"our transport, busy": many, "batchwork, busy": many, "anthropic SDK": theirs, "litellm": theirs}
    show_table(
        ("", "requests", "us CPU per request", "by raw aiohttp"),
        [
            (
                name,
                f"{asked.get(name, ours):,}",
                f"{median(values):.0f}",
                f"{ratio(values, raw):.2f}",
            )
            for name, values in seen.items()
        ],
    )

    def above(name: str, transport: str) -> float:
        return median(a - b for a, b in zip(seen[name], seen[transport], strict=True))

    dearer = max(("batchwork", "batchwork, max_cost"), key=lambda name: median(seen[name]))
    figures = {
        "of raw aiohttp where the loop is ours": (ratio(seen[dearer], raw), MOST_TIMES_RAW),
        "of raw aiohttp in the user's loop": (
            ratio(seen["batchwork in the user's loop"], raw),
            MOST_TIMES_RAW_IN_USERS_LOOP,
        ),
        "us per item above the transport": (above("batchwork", "our transport alone"), MOST_US_ABOVE_TRANSPORT),
        "of the anthropic SDK": (ratio(seen[dearer], seen["anthropic SDK"]), 1 / LEAST_OF_SDK),
        "of litellm": (ratio(seen[dearer], seen["litellm"]), 1 / LEAST_OF_LITELLM),
    }
    together = above("batchwork, at once", "our transport, at once")
    busy = above("batchwork, busy", "our transport, busy")
    print(
        f"{together:.0f} us per item above the transport where answers come at once,"
        f" {busy:.0f} where they are spread out and {BUSY:,} calls in flight leave it no rest"
    )
    for name, (figure, bar) in figures.items():
        print(f"{figure:.3g} {name} (bar {bar:.3g}) {'ok' if figure <= bar else 'short'}")
    bare, whole = median(seen["our transport, busy"]), median(seen["batchwork, busy"])
    print(
        f"one process on one core sends {median(per_minute):,.0f} requests per minute over TLS, {BUSY:,} at once;"
        f" {bare / whole:.0%} of its time is the transport, the rest journal and engine. The next wall is the one"
        " interpreter of a process"
    )
    worst = max(figures, key=lambda name: figures[name][0] / figures[name][1])
    figure, bar = figures[worst]
    return verdict("http", f"{figure:.3g} {worst}", f"{bar:.3g}", ok=figure <= bar, judged=not smoke)


if __name__ == "__main__":
    raise SystemExit(main())
