"""How long a page of the viewer takes over a journal of a million items, once it is indexed, and what indexing costs.

The journal is written by the journal's own writer; the pages are asked for over HTTP, by a client on the same machine.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from urllib.request import urlopen

from batchwork.core.event import Attempted, Began, Ended, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Intake
from batchwork.core.outcome import AnyOutcome, Failed, Succeeded
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.journal import SqliteJournal
from batchwork.view.watch import JournalWatch
from perf._harness import ROOT, arguments, folder, show_table, verdict

LONGEST_S = 0.150
ROUNDS = 15
PAGES = {
    "the run": ("", "run.json"),
    "items": ("items", "items.json", "items?page={deep}"),
    "items, filtered": (
        "items?status=failed&sort=latency&order=desc",
        "items?kind=timeout",
        "items?min_cost=0.0005&max_latency=2&sort=tokens&page=400",
    ),
    "items, sorted": ("items?sort=settled_at&order=desc&page={deep}", "items?sort=attempts&order=desc"),
    "items, by a rare word": ("items?words=number+{middle}", "items?words=nowhere"),
    "items, by a common word": (
        "items?words=the",
        "items?words=rise&sort=latency",
        "items?words=glacierland&sort=paid&order=desc",
        "items?words=river&page=300",
    ),
    "items, by many words": (
        "items?words=where+does+the+number+rise+and+how+long+is+its+river",
        "items?words=it+rises+in+the+river+and+is+long+km",
    ),
    "an item": ("items/{middle}", "items/{middle}.json", "items/{middle}?status=succeeded&sort=paid"),
    "an item, by a common word": ("items/{middle}?words=rise",),
}
_MODEL = "anthropic:claude-haiku-5-5"
_WORDS = [f"{a}{b}" for a in ("river", "lake", "delta", "glacier", "summit") for b in ("", "s", "side", "land", "ward")]


def main() -> int:
    """The table, and how it ends."""
    smoke = arguments(__doc__ or "").smoke
    items, rounds = (5_000, 2) if smoke else (1_000_000, ROUNDS)
    with folder() as place:
        write_journal(place / "run.db", items)
        began = time.process_time()
        watch = JournalWatch(place / "run.db", place / "cache" / "batchwork")
        while watch.catch_up():
            pass
        watch.close()
        indexing = time.process_time() - began
        with viewer(place / "run.db", place / "cache") as (url, pid):
            measured = {}
            for kind, pages in PAGES.items():
                before = _cpu_s(pid)
                asked = [url + page.format(deep=items // 100, middle=items // 2) for page in pages]
                times = [seconds for page in asked for seconds in _times(page, rounds)]
                measured[kind] = (times, (_cpu_s(pid) - before) / len(times))
            before = _cpu_s(pid)
            times = list(_times_while_it_goes_on(url, place / "run.db", items, rounds))
            measured["the run, while it goes on"] = (times, (_cpu_s(pid) - before) / len(times))
    rows = [
        (kind, *(f"{1000 * seconds:.0f}" for seconds in (median(times), max(times), cpu_s)))
        for kind, (times, cpu_s) in measured.items()
    ]
    show_table(("page", "ms, median", "ms, most", "ms of CPU"), rows)
    print(f"indexing: {indexing:.1f} s of CPU, {1e6 * indexing / items:.0f} us an item")
    worst = max(max(times) for times, _ in measured.values())
    figure = f"the slowest page of {items:,} items takes {1000 * worst:.0f} ms"
    return verdict("view", figure, f"{1000 * LONGEST_S:.0f} ms", ok=worst <= LONGEST_S, judged=not smoke)


def _times_while_it_goes_on(url: str, path: Path, items: int, rounds: int) -> Iterator[float]:
    """The same of the page about the run, when a run has settled some more items before every look."""
    dice = random.Random(8)
    with closing(SqliteJournal(path, utc=time.time)) as journal:
        journal.begin(Began(run_id="y", model=_MODEL))
        for at in range(items, items + 100 * rounds, 100):
            for place in range(at, at + 100):
                _settle(journal, place, dice)
            journal.flush()
            time.sleep(0.5)  # the viewer looks at the journal four times a second
            yield from _times(url, 1)


def _times(url: str, rounds: int) -> list[float]:
    seen = []
    for _ in range(rounds):
        began = time.perf_counter()
        with urlopen(url, timeout=60) as answer:
            assert answer.status == 200
            answer.read()
        seen.append(time.perf_counter() - began)
    return seen


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def viewer(journal: Path, cache: Path) -> Iterator[tuple[str, int]]:
    """The address and the number of a viewer's process, once it has loaded everything and sorted it."""
    command = [sys.executable, "-m", "batchwork", "view", str(journal), "--with-input"]
    environment = {"XDG_CACHE_HOME": str(cache), "PATH": "/usr/bin:/bin"}
    with Popen(command, stdin=PIPE, stdout=PIPE, env=environment, cwd=ROOT, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            url = process.stdout.readline().strip()
            while not _is_indexed(f"{url}run.json"):
                time.sleep(0.2)
            time.sleep(3.0)  # it sorts by every column then
            yield url, process.pid
        finally:
            process.stdin.close()


def _is_indexed(url: str) -> bool:
    with urlopen(url, timeout=60) as answer:
        page = json.load(answer)
    return 0 < page["events"] <= page["indexed"]


def write_journal(path: Path, items: int) -> None:
    """A journal with so many items: three in a hundred refused once, three in two hundred failed."""
    dice, now = random.Random(7), [1_760_000_000.0]
    journal = SqliteJournal(path, utc=lambda: now[0])
    journal.begin(Began(run_id="x", model=_MODEL, max_cost_nano=4 * 10**12, settings={"rpm": 6e4}))
    for place in range(items):
        now[0] += 0.0012
        _settle(journal, place, dice)
        if place % 2000 == 1999:
            journal.flush()
    journal.record(Ended(inputs=items))
    journal.close()


def _settle(journal: SqliteJournal, place: int, dice: random.Random) -> None:
    asked = f"Where does the {dice.choice(_WORDS)} number {place} rise, and how long is its {dice.choice(_WORDS)}?"
    request = Request.ask(asked, model="m")
    item = journal.place(place, Intake(fingerprint=request.fingerprint, request=request, columns=None)).item
    if is_refused := dice.random() < 0.03:
        message = "Number of requests has exceeded your rate limit"
        kind = FailureKind.RATE_LIMITED
        journal.record(Attempted(item=item, kind=kind, message=message, request_id=f"req_{place}", latency_s=0.1))
    outcome, cost = _outcome(place, 1 + is_refused, dice)
    journal.record(Settled(item=item, outcome=outcome, charged_nano=cost))
    journal.release(item)


def _outcome(place: int, attempts: int, dice: random.Random) -> tuple[AnyOutcome, int]:
    usage = Usage(input_tokens=dice.randrange(20, 900), output_tokens=dice.randrange(5, 400))
    cost = usage.input_tokens * 1000 + usage.output_tokens * 5000
    known = {"index": place, "attempts": attempts, "cost_nano": cost, "usage": usage}
    known["latency_s"] = dice.lognormvariate(0.3, 0.6)
    if dice.random() > 0.985:
        kind = dice.choice([FailureKind.TIMEOUT, FailureKind.REFUSED, FailureKind.SCHEMA_VIOLATION, FailureKind.SERVER])
        return Failed(failure=Failure(kind=kind, message="the provider said no"), **known), cost
    text = f"It rises in the {dice.choice(_WORDS)} and is {dice.randrange(9999)} km long."
    return Succeeded(reply=Reply(text=text, usage=usage, provider_id=f"req_{place}"), **known), cost


if __name__ == "__main__":
    sys.exit(main())
