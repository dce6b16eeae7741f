"""The process is killed with SIGKILL at each kind of journal write and at random instants; a rerun goes on.

Afterwards every item has exactly one outcome, the order is right, no settled item was called again, and with a budget
the money spent is never above the ceiling and never below what was really answered.
"""

import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork._bridge import run_sync
from batchwork.core.dsn import JournalAddress
from batchwork.core.money import ceiling_from_dollars
from batchwork.core.outcome import Status
from batchwork.journals import is_there, open_reader
from batchwork.options import plan_of, supplied_of
from batchwork.run_session import RunSession
from tests.support.killed import CEILING, COST_NANO, ITEMS, options, prompts

_ROOT = Path(__file__).resolve().parents[2]
LIVE = ["began:1", "opened:1", "opened:17", "admitted:1", "admitted:9", "settled:1", "settled:20", "ended:1"]
WHEN = ["queued", "before", "after"]
_SMOKE = [f"{kind}:{WHEN[n % 3]}" for n, kind in enumerate(LIVE)]


class Crash:
    """One journal, the mock's call log beside it, and a process that dies on them."""

    def __init__(self, folder: Path, journal: JournalAddress | None = None) -> None:
        self.journal = folder / "j.db" if journal is None else journal
        self.log = folder / "calls.log"
        self.settled: set[str] = set()
        self.calls_before = 0

    def die(self, how: str, *more: str) -> int:
        told = [sys.executable, "-m", "tests.support.killed", str(self.journal), str(self.log), how, *more]
        ended = subprocess.run(told, cwd=_ROOT, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
        self.calls_before = len(self.calls())
        self.settled = self._settled()
        return ended.returncode

    def calls(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def _settled(self) -> set[str]:
        if not is_there(self.journal):
            return set()
        try:
            reader = open_reader(self.journal)
        except batchwork.JournalError:  # killed before the file was made
            return set()
        finished = frozenset({Status.SUCCEEDED, Status.FAILED})
        keys = {entry.request.key for entry in reader.entries(statuses=finished) if entry.request is not None}
        reader.close()
        return keys

    def resume(self, max_cost: str | None = CEILING) -> batchwork.Results:
        return batchwork.run(prompts(), **options(self.journal, self.log, max_cost=max_cost))

    def must_have_gone_on(self) -> batchwork.Results:
        """Resume within the budget and then without it; all there is in the end."""
        results = self.resume()
        again = set(self.calls()[self.calls_before :])
        assert not again & self.settled, "a settled item was called again"
        spent = results.total_cost
        assert spent is not None
        nano = int(spent * 1_000_000_000)
        assert nano <= ceiling_from_dollars(CEILING)
        assert nano >= len(self.calls()) * COST_NANO, "less is booked than was answered"
        whole = self.resume(max_cost="1")
        assert [outcome.text for outcome in whole] == prompts()
        assert [outcome.index for outcome in whole] == list(range(ITEMS))
        return whole


def kill_and_go_on(folder: Path, how: str, journal: JournalAddress | None = None) -> int:
    """How many succeeded in the end."""
    crash = Crash(folder, journal)
    assert crash.die(how) == -signal.SIGKILL
    return crash.must_have_gone_on().accounting.succeeded


@pytest.mark.parametrize("how", _SMOKE)
def test_killed_at_a_kind_of_write(how: str, tmp_path: Path) -> None:
    assert kill_and_go_on(tmp_path, how) == ITEMS


@pytest.mark.slow
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("kind", LIVE)
def test_killed_at_every_kind_of_write(kind: str, when: str, record_property: Any, tmp_path: Path) -> None:
    record_property("kill", 1)
    assert kill_and_go_on(tmp_path, f"{kind}:{when}") == ITEMS


def at_instants(folder: Path, seed: int, times: int, journal: JournalAddress | None = None) -> tuple[int, int]:
    """Killed again and again on one journal, each time after a while: how many succeeded in the end, and the kills."""
    dice, crash = random.Random(seed), Crash(folder, journal)
    killed = 0
    for turn in range(times):
        # The first instant is an early one: on a quiet machine the whole run takes less than the latest of the others.
        killed += crash.die(f"{dice.uniform(0.0, 0.12 if turn else 0.015):.4f}") != 0
        spent = _spent(crash.journal)
        assert spent <= ceiling_from_dollars(CEILING)
    assert killed > 0
    return crash.must_have_gone_on().accounting.succeeded, killed


def _spent(journal: JournalAddress) -> int:
    try:
        reader = open_reader(journal)
    except batchwork.JournalError:
        return 0
    spent = reader.totals().spent_nano
    reader.close()
    return spent


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_random_instants(seed: int, tmp_path: Path) -> None:
    assert at_instants(tmp_path, seed, times=3)[0] == ITEMS


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_killed_at_fifty_random_instants(seed: int, record_property: Any, tmp_path: Path) -> None:
    succeeded, killed = at_instants(tmp_path, 100 + seed, times=5)
    record_property("kill", killed)
    assert succeeded == ITEMS


@pytest.mark.parametrize("how", ["reopened:1:before", "reopened:3:after", "settled:2:after"])
def test_killed_while_failed_items_are_tried_again(how: str, tmp_path: Path) -> None:
    crash = Crash(tmp_path)
    assert crash.die("never", "faulty") == 0
    assert 0 < len(_succeeded(crash.journal)) < ITEMS - 3
    assert crash.die(how, "again") == -signal.SIGKILL
    succeeded = _succeeded(crash.journal)
    told = options(crash.journal, crash.log)
    job = RunSession(plan_of(told), None, supplied_of(told))  # type: ignore[arg-type]
    run_sync(job.execute, interrupt=job.interrupt).close()
    assert not set(crash.calls()[crash.calls_before :]) & succeeded
    assert len(_succeeded(crash.journal)) == ITEMS


def _succeeded(journal: JournalAddress) -> set[str]:
    reader = open_reader(journal)
    entries = list(reader.entries(statuses=frozenset({Status.SUCCEEDED})))
    reader.close()
    return {entry.request.key for entry in entries if entry.request is not None}


@pytest.mark.parametrize("step", ["connections.Sums", "connections.Path.replace", "connections.sync_folder"])
def test_killed_while_the_file_is_made(step: str, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from batchwork.journal import SqliteJournal, connections\n"
        f"from tests.support.killed import die\n{step} = lambda *a, **k: die()\n"
        "SqliteJournal(Path(sys.argv[1]), utc=lambda: 0.0)"
    )
    made = subprocess.run([sys.executable, "-c", code, tmp_path / "j.db"], cwd=_ROOT, timeout=60, check=False)
    assert made.returncode == -signal.SIGKILL
    assert (tmp_path / "j.db").exists() is (step == "connections.sync_folder"), "it is there whole or not at all"
    crash = Crash(tmp_path)
    assert [outcome.text for outcome in crash.resume(max_cost="1")] == prompts()
