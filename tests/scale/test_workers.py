"""Several processes on one run, which are killed and stopped: nothing settled is asked again, everything ends right."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.event import Admitted
from batchwork.core.outcome import Status
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.waiting import becomes_true

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
ROOT = Path(__file__).parents[2]
COST_NANO = 2 * 3 * 1000  # three tokens in, three out, at a micro-dollar each
WINDOW = 8
LEASE_S = 3.0


class Together:
    """Processes on one journal, and the calls that a provider would bill."""

    def __init__(self, journal: str, folder: Path, count: int, latency_s: float, max_cost: str | None) -> None:
        self.dsn, self.log = Dsn.parse(journal), folder / "calls.log"
        self.processes: list[subprocess.Popen[str]] = []
        self.stopped: set[int] = set()  # for longer than their lease
        self._settings = {
            "count": count,
            "lease_s": LEASE_S,
            "model": f"mock:echo?latency={latency_s}&sigma=0.5&log={self.log}",
            "price": "1,1",
            "max_cost": max_cost,
            "max_tokens": 20,
            "max_in_flight": WINDOW,
            "journal": journal,
        }

    def start(self) -> subprocess.Popen[str]:
        """One more process."""
        command = [sys.executable, "-m", "tests.support.together", json.dumps(self._settings)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def calls(self) -> Counter[str]:
        """How often each prompt was sent."""
        return Counter(self.log.read_text().split()) if self.log.exists() else Counter()

    def until(self, calls: int) -> None:
        """Return when so many calls were sent."""
        assert becomes_true(lambda: self.calls().total() >= calls), f"{self.calls().total()} calls of {calls}"


@contextmanager
def together(
    postgres: PostgresServer, folder: Path, count: int, latency_s: float = 0.05, max_cost: str | None = None
) -> Iterator[Together]:
    crowd = Together(postgres.journal(), folder, count, latency_s, max_cost)
    try:
        yield crowd
    finally:
        for process in crowd.processes:
            process.kill()
            process.communicate()


def repeated(crowd: Together, count: int) -> int:
    """How many calls were made again, once everybody who lived has all of it in order and what was billed is booked."""
    from batchwork.postgres.reader import DatabaseReader

    for process in crowd.processes:
        said, complained = process.communicate(timeout=90)
        if process.returncode == 1 and process.pid in crowd.stopped:
            assert "was taken over" in json.loads(said)["error"], said
        elif process.returncode != -signal.SIGKILL:
            assert json.loads(said) == {"right": count, "succeeded": count}, complained
    calls = crowd.calls()
    with closing(DatabaseReader(crowd.dsn)) as reader:
        sums, counts = reader.sums(), reader.counts()
        attempts = sum(entry.attempts for entry in reader.entries(bodies=False))
    assert sums.counts == counts
    assert counts[Status.SUCCEEDED] == count
    assert len(calls) == count
    assert attempts >= calls.total()
    assert sums.reserved == 0
    assert calls.total() * COST_NANO <= sums.spent
    return calls.total() - count


def test_helpers_and_owner_that_are_killed_are_taken_over(postgres: PostgresServer, tmp_path: Path) -> None:
    with together(postgres, tmp_path, 600) as crowd:
        owner = crowd.start()
        crowd.until(20)
        helper = crowd.start()
        crowd.start()
        crowd.until(200)
        helper.kill()
        crowd.until(300)
        owner.kill()
        assert repeated(crowd, 600) <= 2 * WINDOW


@pytest.mark.scale
@pytest.mark.parametrize("seed", range(5))
def test_kills_stops_and_cut_connections_repeat_no_more_than_the_windows_of_the_dead(
    postgres: PostgresServer, tmp_path: Path, seed: int
) -> None:
    dice, ends = random.Random(seed), 0
    with together(postgres, tmp_path, 2500, latency_s=0.3) as crowd:
        at_work = [crowd.start() for _ in range(4)]
        crowd.until(50)
        for turn in range(10):
            time.sleep(dice.uniform(0.2, 1.2))
            crowd.until(50 + 120 * turn)
            at_work = [process for process in at_work if process.poll() is None]
            victim, how = dice.choice(at_work), dice.choice(["kill", "kill", "stop", "cut"])
            if how == "cut":
                _cut(postgres)
                continue
            ends += 1
            if how == "stop":
                crowd.stopped.add(victim.pid)
                victim.send_signal(signal.SIGSTOP)
                at_work.append(crowd.start())
                time.sleep(LEASE_S * 1.5)
                victim.send_signal(signal.SIGCONT)
            else:
                victim.kill()
                at_work.append(crowd.start())
        assert repeated(crowd, 2500) <= ends * WINDOW


@pytest.mark.scale
@pytest.mark.parametrize("seed", range(4))
def test_the_ceiling_of_a_run_holds_whoever_is_killed(postgres: PostgresServer, tmp_path: Path, seed: int) -> None:
    from batchwork.postgres.reader import DatabaseReader

    dice, calls, ends = random.Random(seed), 1000, 0
    ceiling = calls * COST_NANO
    with together(postgres, tmp_path, 2500, latency_s=0.1, max_cost=f"{ceiling / 1e9:.9f}") as crowd:
        at_work = [crowd.start() for _ in range(4)]
        for turn in range(3):
            crowd.until(100 + 200 * turn)
            victim = dice.choice([process for process in at_work if process.poll() is None])
            victim.kill()
            at_work.append(crowd.start())
            ends += 1
        for process in crowd.processes:
            said, complained = process.communicate(timeout=90)
            assert process.returncode in (0, -signal.SIGKILL), said + complained
        billed = crowd.calls().total() * COST_NANO
        with closing(DatabaseReader(crowd.dsn)) as reader:
            sums = reader.sums()
            worst = max(event.reserved_nano for event in reader.events() if isinstance(event, Admitted))
    print(f"{billed / ceiling:.2%} of the ceiling billed, {sums.unconfirmed / ceiling:.2%} unconfirmed")
    assert billed <= sums.spent <= ceiling
    assert sums.reserved == 0
    assert sums.unconfirmed <= ends * WINDOW * worst
    assert sums.spent + worst > ceiling  # not one more would have fitted


def _cut(postgres: PostgresServer) -> None:
    postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name IN ('batchwork writer', 'batchwork blocks', 'batchwork reader') AND random() < 0.5"
    )
