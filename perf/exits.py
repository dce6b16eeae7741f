"""Whether a process that has made calls over TLS ends as it should: a thousand exits in a row, in every way that a
program may end, none of them with a status other than 0 or with a word on standard error.

Most of the processes are forked from one that has imported everything, which changes nothing about their end and saves
the imports; some are started afresh.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

from perf._harness import ROOT, arguments, folder, show_table, verdict
from perf.http import canned_server

EXITS, FRESH = 1_000, 50  # how many in all, and how many of them are started afresh
PROMPTS = 12
_AT_ONCE = 50  # forked from one process
_SECONDS = 300
_kept: list[Any] = []  # what is still open when the process ends


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    exits, fresh = (20, 5) if smoke else (EXITS, FRESH)
    counts: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    with folder() as place, canned_server(authority_file=place / "authority.pem") as url:
        environment = {**os.environ, "SSL_CERT_FILE": str(place / "authority.pem"), "TMPDIR": str(place)}

        def ends(way: str, times: int) -> None:
            command = [sys.executable, "-m", "perf.exits", "--child", way, url, str(times)]
            done = subprocess.run(
                command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, timeout=_SECONDS, check=False
            )
            counts[way] += times
            if done.returncode or done.stderr:
                bad[way] += max(1, done.returncode)
                print(f"{way}: status {done.returncode}\n{done.stderr}", file=sys.stderr, flush=True)

        for way in WAYS:
            for _ in range(fresh // len(WAYS)):
                ends(way, 1)
            left = exits // len(WAYS) - fresh // len(WAYS)
            for start in range(0, left, _AT_ONCE):
                ends(way, min(_AT_ONCE, left - start))
    show_table(("a process ends", "times", "badly"), [(way, f"{counts[way]:,}", str(bad[way])) for way in WAYS])
    figure = f"{bad.total()} of {counts.total():,} ended badly"
    return verdict("exits", figure, "0", ok=not bad, judged=not smoke, timed=False)


def child(way: str, url: str, times: int) -> None:
    """End this process so, or as many others that are forked from it; its status is how many of them ended badly."""
    warnings.simplefilter("error")
    if times > 1:
        _import_everything()
        bad = 0
        for _ in range(times):
            if not (forked := os.fork()):
                break
            bad += os.waitpid(forked, 0)[1] != 0
        else:
            raise SystemExit(bad)
    WAYS[way](url)


# -- the ways ---------------------------------------------------------------------------------------


def _options(url: str) -> Any:
    return {
        "prompts": [f"What is the capital of country {number}?" for number in range(PROMPTS)],
        "model": "anthropic:claude-haiku-5-5",
        "base_url": url,
        "api_key": "any",
        "max_in_flight": PROMPTS,
        "journal": f"{tempfile.mkdtemp()}/journal.db",
    }


def _import_everything() -> None:
    for name in ("uvloop", "batchwork", "batchwork.backends.anthropic", "batchwork.journal", "genai_prices"):
        import_module(name)


def _closed(url: str) -> None:
    """After a run whose results were read and closed."""
    import batchwork

    results = batchwork.run(**_options(url))
    assert all(outcome.text for outcome in results)
    results.close()


def _left_open(url: str) -> None:
    """After a run whose results stay open."""
    import batchwork

    _kept.append(batchwork.run(**_options(url)))


def _users_loop(url: str) -> None:
    """After a run inside the program's own event loop."""
    import batchwork

    async def main() -> None:
        results = await batchwork.arun(**_options(url))
        assert len(results) == PROMPTS

    asyncio.run(main())


def _half_streamed(url: str) -> None:
    """In the middle of a stream of outcomes, whose calls run in a thread of their own."""
    import batchwork

    stream = batchwork.stream(**_options(url))
    assert next(stream).text
    _kept.append(stream)


def _in_a_thread(url: str) -> None:
    """While a thread that nobody waits for is in the middle of a run."""
    import batchwork

    threading.Thread(target=lambda: batchwork.run(**_options(url)), daemon=True).start()
    time.sleep(0.04)


WAYS: dict[str, Callable[[str], None]] = {
    (way.__doc__ or "").strip().rstrip(".").lower(): way
    for way in (_closed, _left_open, _users_loop, _half_streamed, _in_a_thread)
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]))  # and the interpreter ends as it does for everybody
    else:
        raise SystemExit(main())
