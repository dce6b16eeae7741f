"""A program that says when its calls are under way and how it ended: to be interrupted from outside.

`python -m tests.support.interrupted JOURNAL LATENCY [stream|stuck|stuck-list]`; `stuck` has an input that blocks
half-way, `stuck-list` one that also claims to be a list.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import batchwork
from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.reply import Reply
from batchwork.core.request import Request

ITEMS = 30


class Telling(MockBackend):
    silent = False

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        if self.calls == 3 and not self.silent:
            print("under way", flush=True)
        return await super().complete(request, ceiling_nano=ceiling_nano)


def stuck() -> Iterator[str]:
    yield from map(str, range(ITEMS // 2))
    print("under way", flush=True)
    time.sleep(600)
    raise AssertionError("the input was not broken off")


class StuckList(list[str]):
    def __iter__(self) -> Iterator[str]:
        return stuck()


def main(journal: str, latency: str, *more: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts jobs behind it has them ignore it
    backend = Telling(clock=SystemClock(), latency_s=float(latency))
    options = {"model": "mock:echo", "backend": backend, "journal": Path(journal), "max_in_flight": 4}
    try:
        if "stream" in more:
            for _ in batchwork.stream(map(str, range(ITEMS)), **options):  # type: ignore[arg-type]
                pass
        else:
            inputs = {"stuck": stuck, "stuck-list": StuckList}
            backend.silent = bool(more)
            prompts = inputs[more[0]]() if more else map(str, range(ITEMS))
            batchwork.run(prompts, **options)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    else:
        print("finished", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
