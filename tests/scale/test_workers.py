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
from batchwork.core.event import Admitted, Attempted, Event, Settled
from batchwork.core.outcome import Status
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.waiting import becomes_true, killed_at_last

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres.reader import DatabaseReader
ROOT = Path(__file__).parents[2]
COST_NANO = 2 * 4 * 1000  # four tokens in, four out, at a micro-dollar each
WINDOW = 8
LEASE_S = 3.0


class Together:
    """Processes on one journal, and the calls that a provider would bill."""

    def __init__(
        self, journal: str, folder: Path, count: int, latency_s: float, max_cost: str | None, lease_s: float | None
    ) -> None:
        self.dsn, self.log = Dsn.parse(journal), folder / "calls.log"
        self.processes: list[subprocess.Popen[str]] = []
        self._settings = {
            "count": count,
            "lease_s": lease_s,
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
    postgres: PostgresServer,
    folder: Path,
    count: int,
    latency_s: float = 0.05,
    max_cost: str | None = None,
    lease_s: float | None = LEASE_S,
) -> Iterator[Together]:
    crowd = Together(postgres.journal(), folder, count, latency_s, max_cost, lease_s)
    with killed_at_last(crowd.processes):
        yield crowd


def repeated(crowd: Together, count: int) -> int:
    """How many calls were made again, once everybody who lived has all of it in order and what was billed is booked."""
    for process in crowd.processes:
        said, complained = process.communicate(timeout=90)
        if process.returncode != -signal.SIGKILL:  # whoever was only stopped has joined again
            assert json.loads(said) == {"right": count, "succeeded": count}, complained
    calls = crowd.calls()
    with closing(DatabaseReader(crowd.dsn)) as reader:
        sums, counts = reader.sums(), reader.counts()
        attempts = sum(entry.attempts for entry in reader.entries(bodies=False))
        refuse_repeats(reader.events())
    assert sums.counts == counts
    assert counts[Status.SUCCEEDED] == count
    assert len(calls) == count
    assert attempts >= calls.total()
    assert sums.reserved == 0
    assert calls.total() * COST_NANO <= sums.spent
    return calls.total() - count


def refuse_repeats(events: Iterator[Event]) -> None:
    """Nothing settled is called again: what is admitted then is a call that was under way when a late answer came."""
    under_way: dict[int, int] = {}
    settled: set[int] = set()
    for event in events:
        if isinstance(event, Admitted):
            assert event.item not in settled or under_way.get(event.item) == event.reserved_nano
            under_way[event.item] = event.reserved_nano
        elif isinstance(event, Settled):
            settled.add(event.item)
        elif isinstance(event, Attempted) and event.charged_nano >= 0 and event.item not in settled:
            under_way.pop(event.item, None)


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
    dice, ends, ceiling = random.Random(seed), 0, 0.05
    with together(postgres, tmp_path, 2500, latency_s=0.3, max_cost=str(ceiling)) as crowd:
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
                victim.send_signal(signal.SIGSTOP)
                at_work.append(crowd.start())
                time.sleep(LEASE_S * 1.5)
                victim.send_signal(signal.SIGCONT)
            else:
                victim.kill()
                at_work.append(crowd.start())
        assert repeated(crowd, 2500) <= ends * WINDOW
        with closing(DatabaseReader(crowd.dsn)) as reader:
            assert reader.sums().spent <= ceiling * 1e9


@pytest.mark.scale
def test_a_killed_process_is_replaced_within_five_seconds_and_a_stopped_one_within_its_lease(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with together(postgres, tmp_path, 12_000, latency_s=0.2, lease_s=None) as crowd:
        for _ in range(4):
            crowd.start()
        crowd.until(1000)
        time.sleep(32.0)  # for so long everybody is connected
        took = {}
        for how, number in ((signal.SIGKILL, 1), (signal.SIGSTOP, 2)):
            since, victim = time.monotonic(), crowd.processes[number]
            victim.send_signal(how)
            named, schema = f"%:{victim.pid}", crowd.dsn.schema
            while postgres.execute(
                f'SELECT 1 FROM "{schema}".worker w LEFT JOIN "{schema}".block b ON b.worker = w.id'
                " WHERE name LIKE %s AND (state = 'live' OR b.worker IS NOT NULL)",
                named,
            ):
                assert time.monotonic() - since < 60.0
                time.sleep(0.05)
            took[how.name] = time.monotonic() - since
            victim.send_signal(signal.SIGCONT)
        print(took)
        assert repeated(crowd, 12_000) <= 2 * WINDOW
    assert took["SIGKILL"] <= 5.0
    assert took["SIGSTOP"] <= 35.0


@pytest.mark.scale
def test_processes_whose_database_crashes_five_times_lose_and_repeat_nothing(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        with together(server, tmp_path, 4000, latency_s=0.1, max_cost="1", lease_s=None) as crowd:
            for _ in range(3):
                crowd.start()
            for crash in range(5):
                crowd.until(200 + 500 * crash)
                server.crash()
            assert crowd.calls().total() < 4000, "the run was over before the last crash"
            assert repeated(crowd, 4000) == 0
            with closing(DatabaseReader(crowd.dsn)) as reader:
                assert reader.sums().spent == 4000 * COST_NANO
    finally:
        server.close()


@pytest.mark.scale
@pytest.mark.parametrize("seed", range(4))
def test_the_ceiling_of_a_run_holds_whoever_is_killed(postgres: PostgresServer, tmp_path: Path, seed: int) -> None:
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
