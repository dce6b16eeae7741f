"""CPU per request of batchwork over HTTP, with journal, gate, ledger and price on: beside raw aiohttp, the anthropic
SDK and litellm, all against one canned server, round by round in turn.

What is measured is the processor time of the client process, all its threads, per request; the server is a process of
its own and not counted.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from perf._harness import ROOT, arguments, interleaved, peers_python, ratio, run_child, run_module, show_table, verdict

MOST_TIMES_RAW = 1.5
LEAST_OF_SDK = 6.0
LEAST_OF_LITELLM = 12.0


@contextmanager
def canned_server() -> Iterator[str]:
    """Where the canned server listens."""
    server = subprocess.Popen([sys.executable, "-m", "perf.canned_server"], stdout=subprocess.PIPE, cwd=ROOT, text=True)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.terminate()
        server.communicate()


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    ours, theirs, rounds = (1_000, 200, 1) if smoke else (5_000, 600, 5)
    peer = peers_python()
    with canned_server() as url:
        sides = {
            "raw aiohttp": lambda: _ours("raw", url, ours),
            "batchwork": lambda: _ours("batchwork", url, ours),
            "batchwork, max_cost": lambda: _ours("batchwork-budget", url, ours),
            "anthropic SDK": lambda: _theirs(peer, "sdk", url, theirs),
            "litellm": lambda: _theirs(peer, "litellm", url, theirs),
        }
        seen = interleaved(rounds, sides)
    show_table(
        ("", "requests", "us CPU per request", "by raw aiohttp"),
        [
            (
                name,
                f"{theirs if name in ('anthropic SDK', 'litellm') else ours:,}",
                f"{median(values):.0f}",
                f"{ratio(values, seen['raw aiohttp']):.2f}",
            )
            for name, values in seen.items()
        ],
    )
    dearer = max(("batchwork", "batchwork, max_cost"), key=lambda name: median(seen[name]))
    times_raw = ratio(seen[dearer], seen["raw aiohttp"])
    of_sdk = ratio(seen["anthropic SDK"], seen[dearer])
    of_litellm = ratio(seen["litellm"], seen[dearer])
    print(
        f"{dearer} is 1/{of_sdk:.1f} of the anthropic SDK (bar 1/{LEAST_OF_SDK:g})"
        f" and 1/{of_litellm:.1f} of litellm (bar 1/{LEAST_OF_LITELLM:g})"
    )
    ok = times_raw <= MOST_TIMES_RAW and of_sdk >= LEAST_OF_SDK and of_litellm >= LEAST_OF_LITELLM
    return verdict("http", f"{times_raw:.2f}", f"{MOST_TIMES_RAW:g}", ok=ok)


def _ours(side: str, url: str, requests: int) -> float:
    told = run_module("perf.http_side", side, url, requests).json()
    return _per_request_us(told, requests)


def _theirs(python: Path, side: str, url: str, requests: int) -> float:
    told = run_child([python, "-m", "perf.http_side", side, url, requests]).json()
    return _per_request_us(told, requests)


def _per_request_us(told: dict[str, float], requests: int) -> float:
    assert told["answered"] == requests, told
    return told["cpu_s"] / requests * 1e6


if __name__ == "__main__":
    raise SystemExit(main())
