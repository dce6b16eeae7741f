"""A program that runs prompts on a journal and kills itself with SIGKILL: at a journal write, or at an instant.

`python -m tests.support.killed JOURNAL LOG HOW [again|faulty]` where HOW is `KIND:N:WHEN` (the N-th event of a kind,
WHEN it is `queued`, `before` or `after` its commit), `SECONDS` after the start, or `never`; `again` tries again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import batchwork
from batchwork import journals
from batchwork._bridge import run_sync
from batchwork.core.dsn import is_dsn
from batchwork.core.event import Event
from batchwork.journal import SqliteJournal
from batchwork.options import plan_of, supplied_of
from batchwork.run_session import RunSession

ITEMS = 40
CEILING = "0.0100"
COST_NANO = 2 * 3 * 1000  # three tokens in, three out, at a micro-dollar each


def prompts() -> list[str]:
    return [f"prompt {n:03d}" for n in range(ITEMS)]  # all of one length: all of one price


def options(journal: Any, log: Path, *, faults: str = "", max_cost: str | None = CEILING) -> dict[str, Any]:
    return {
        "model": f"mock:echo?latency=0.003&sigma=0.5&log={log}&faults={faults}",
        "price": "1,1",
        "max_tokens": 20,
        "max_in_flight": 6,
        "max_cost": max_cost,
        "retries": 0 if faults else 5,
        "max_consecutive_failures": 1000,
        "journal": journal,
    }


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_journal(base: type[SqliteJournal], kind: str, number: int, when: str) -> type[SqliteJournal]:
    class Dying(base):  # type: ignore[misc, valid-type]
        met = 0
        armed = False

        def record(self, event: Event) -> None:
            super().record(event)
            if type(event).__name__.lower() == kind:
                self.met += 1
                self.armed = self.armed or self.met == number
                if self.armed and when == "queued":
                    die()

        def __init__(self, *address: Any, **options: Any) -> None:
            super().__init__(*address, **options)
            start_commit = self._writer._start_commit

            def dying_commit() -> Future[None]:
                if self.armed and when == "before":
                    die()
                commit = start_commit()
                if self.armed:
                    commit.result()
                    die()
                return commit

            self._writer._start_commit = dying_commit  # type: ignore[method-assign]

    return Dying


def main(journal: str, log: Path, how: str, *more: str) -> None:
    if ":" in how:
        kind, number, when = how.split(":")
        if is_dsn(journal):
            from batchwork.postgres import journal as home
        else:
            home = journals  # type: ignore[assignment]
        name = "PostgresJournal" if is_dsn(journal) else "SqliteJournal"
        setattr(home, name, dying_journal(getattr(home, name), kind, int(number), when))
    elif how != "never":
        timer = threading.Timer(float(how), die)
        timer.daemon = True
        timer.start()
    if "again" in more:
        told = options(journal, log)
        job = RunSession(plan_of(told), None, supplied_of(told))  # type: ignore[arg-type]
        run_sync(job.execute, interrupt=job.interrupt)
    else:
        batchwork.run(prompts(), **options(journal, log, faults="server:0.5" if "faulty" in more else ""))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
