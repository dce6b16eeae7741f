"""Drive a journal through whole runs, and tell what it says, in a form in which two journals can be compared."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from batchwork.core.event import Admitted, Attempted, Began, Ended, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Intake
from batchwork.core.outcome import AnyOutcome, Deferred, Failed, Skipped, Status, Succeeded
from batchwork.core.ports import ForeseeingJournal, Journal
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState, fold
from batchwork.journal import MemoryJournal, SqliteJournal

PARTS = ("", "-wal", "-shm", ".mark")
ROWS: list[tuple[str, int | None]] = [(f"p{n}", None) for n in range(20)]
_ROOT = Path(__file__).resolve().parents[2]
_FATES = ["succeeded", "failed", "deferred", "skipped", "pending", "attempted", "cut off"]
_ROWS = st.lists(st.tuples(st.sampled_from("aaabbcd"), st.sampled_from([None, None, 1, 2])), max_size=12)
BEGAN = Began(run_id="r", model="mock:echo")
TAKEN_UP = (Status.PENDING, Status.DEFERRED)


def sqlite_journal(path: Path, page_bytes: int = 4096) -> SqliteJournal:
    return SqliteJournal(path, utc=lambda: 1000.0, page_bytes=page_bytes)


def memory_journal(path: Path) -> MemoryJournal:
    return MemoryJournal()


JOURNALS = [memory_journal, sqlite_journal]  # every implementation: the contract suite runs over them


def row(text: str, columns: dict[str, Any] | None = None, **fields: Any) -> Intake:
    request = Request.ask(text, model="mock:echo", **fields)
    return Intake(fingerprint=request.fingerprint, request=request, columns=columns)


def succeeded(index: int, text: str = "yes", *, cost: int = 0) -> Succeeded:
    reply = Reply(text=text, usage=Usage(input_tokens=3, output_tokens=2))
    return Succeeded(index=index, reply=reply, attempts=1, cost_nano=cost)


def failed(index: int) -> Failed:
    return Failed(index=index, failure=Failure(kind=FailureKind.SERVER, message="down"), attempts=1)


OUTCOMES = {
    "succeeded": succeeded,
    "failed": failed,
    "deferred": lambda index: Deferred(index=index, needed_nano=5),
    "skipped": lambda index: Skipped(index=index, reason="told so"),
}


@dataclass
class Pass:
    """One run over an input: what its rows are, what becomes of those that are to be done, how far it is read."""

    rows: list[tuple[str, int | None]]
    fates: list[str] = field(default_factory=list)
    read: int | None = None  # None: to its end
    kept: bool = True  # the journal stays open for the next run


def settle(journal: Journal, item: int, outcome: AnyOutcome, charged: int = 0) -> None:
    journal.record(Settled(item=item, outcome=outcome, charged_nano=charged))


def run_pass(journal: Journal, run: Pass) -> list[ItemState]:
    """Go through an input as the engine does; the items its rows became."""
    journal.begin(BEGAN)
    states, fates = [], iter(run.fates)
    read = len(run.rows) if run.read is None else min(run.read, len(run.rows))
    intakes = [row(text, None if column is None else {"c": column}) for text, column in run.rows[:read]]
    for index, intake in enumerate(intakes):
        if index % 3 == 0 and isinstance(journal, ForeseeingJournal):
            journal.foresee(intakes[index : index + 3])
        state = journal.place(index, intake)
        states.append(state)
        if state.status in TAKEN_UP:
            _meet(journal, state.item, index, next(fates, "pending"))
        journal.release(state.item)
    journal.record(Ended(inputs=read if read == len(run.rows) and run.read is None else None))
    return states


def _meet(journal: Journal, item: int, index: int, fate: str) -> None:
    if fate == "pending":
        return
    journal.record(Admitted(item=item, reserved_nano=100))
    if fate == "cut off":
        return
    if fate == "attempted":
        journal.record(Attempted(item=item, kind=FailureKind.SERVER, charged_nano=7, unconfirmed=True))
        return
    settle(journal, item, OUTCOMES[fate](index), charged=11)


def told(journal: Any) -> dict[str, Any]:
    """Everything the read side says."""
    return {
        "entries": [
            (
                entry.index,
                entry.item,
                entry.status,
                entry.paid_nano,
                entry.attempts,
                entry.outcome,
                entry.request and entry.request.messages,
                entry.columns,
            )
            for entry in journal.entries()
        ],
        "count": journal.count(),
        "counts": journal.counts(),
        "totals": journal.totals(),
    }


def check_agreement(runs: list[Pass], open_journal: Callable[[], Any], open_reader: Callable[[], Any]) -> int:
    """A durable journal, the memory journal and the fold of the events say the same, whatever runs went over them.

    How many items they agree on.
    """
    disk, memory = open_journal(), MemoryJournal()
    for run in runs:
        on_disk, in_memory = run_pass(disk, run), run_pass(memory, run)
        assert [state.item for state in on_disk] == [state.item for state in in_memory]
        assert told(disk) == told(memory)
        if not run.kept:
            disk.close()
            disk = open_journal()
    disk.close()
    reader = open_reader()
    state = fold(reader.events())
    rows = {item: reader.items.row(item) for item in state.items}
    for item, folded in state.items.items():
        row = rows[item]
        assert row is not None
        assert [getattr(row, name) for name in folded.__slots__] == [getattr(folded, name) for name in folded.__slots__]
    outcomes = {entry.item: entry.outcome for entry in reader.entries() if entry.outcome is not None}
    assert {i: o.status for i, o in outcomes.items()} == {
        i: o.status for i, o in state.outcomes.items() if state.items[i].index is not None
    }
    totals = reader.totals()
    assert (totals.spent_nano, totals.unconfirmed_nano) == (state.spent_nano, state.unconfirmed_nano)
    reader.close()
    return len(state.items)


@st.composite
def passes(draw: st.DrawFn) -> list[Pass]:
    """Runs whose inputs grow out of each other: rows inserted, removed, changed, doubled, or all new."""
    rows = draw(_ROWS)
    runs = []
    for _ in range(draw(st.integers(1, 5))):
        change = draw(st.sampled_from(["same", "insert", "remove", "change", "append", "new", "swap"]))
        at = draw(st.integers(0, max(0, len(rows) - 1)))
        extra = draw(_ROWS)[:2]
        rows = {
            "same": rows,
            "insert": rows[:at] + extra + rows[at:],
            "remove": rows[:at] + rows[at + 1 :],
            "change": rows[:at] + extra[:1] + rows[at + 1 :],
            "append": rows + extra,
            "new": draw(_ROWS),
            "swap": rows[at:] + rows[:at],
        }[change]
        fates = draw(st.lists(st.sampled_from(_FATES), max_size=len(rows)))
        read = draw(st.one_of(st.none(), st.integers(0, len(rows))))
        runs.append(Pass(rows, fates, read, kept=draw(st.booleans())))
    return runs


def write_everything(path: Path) -> None:
    """A journal with everything in it: duplicates, columns, moved and lost places, shared parts, money."""
    fates = ["succeeded", "failed", "deferred", "attempted", "skipped", "succeeded"] * 12
    journal = sqlite_journal(path)
    rows: list[tuple[str, int | None]] = [(f"prompt {n % 50}", n % 3 or None) for n in range(60)]
    run_pass(journal, Pass(rows, fates))
    run_pass(journal, Pass([("new", None), *rows[:40]], fates))
    journal.begin(BEGAN)
    for n in range(60, 70):
        item = journal.place(n, row(f"shared {n}", system=f"a long system prompt, number {n % 2} " * 20)).item
        settle(journal, item, succeeded(n, f"answer {n}"))
    journal.record(Ended())
    journal.close()


def killed_journal(path: Path, rows: int = 20) -> None:
    """A journal as a killed process leaves it: nearly everything in its log."""
    home = path.with_name("home")
    home.mkdir()
    journal = sqlite_journal(home / path.name)
    run_pass(journal, Pass(ROWS[:rows], ["succeeded"] * rows))
    journal.flush()
    for part in PARTS:
        shutil.copy2(home / f"{path.name}{part}", path.with_name(path.name + part))
    journal.close()
    shutil.rmtree(home)


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """What another process makes of this code."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=60, check=False)
