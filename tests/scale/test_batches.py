"""Several processes on one run in provider batches, killed and stopped at any moment: every request is paid once."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.event import BatchIntended
from batchwork.core.outcome import Status
from batchwork.journal import codec
from batchwork.simulator import Simulator, SimulatorConfig
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.waiting import becomes_true, killed_at_last

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres.reader import DatabaseReader
ROOT = Path(__file__).parents[2]
LEASE_S, TIMEOUT_S = 3.0, 6.0
WIRES = {"anthropic:claude-haiku-5-5": "anthropic_url", "openai:gpt-6-luna": "openai_url"}


class Crowd:
    """Processes on one journal, at a provider that keeps the bill."""

    def __init__(self, postgres: PostgresServer, provider: Simulator, model: str, count: int, **settings: Any) -> None:
        journal = postgres.journal()
        self.postgres, self.provider, self.dsn, self.count = postgres, provider, Dsn.parse(journal), count
        self.processes: list[subprocess.Popen[str]] = []
        self._settings = {
            "count": count,
            "model": model,
            "base_url": getattr(provider, WIRES[model]),
            "api_key": "none",
            "mode": "batch",
            "lease_s": LEASE_S,
            "timeout": TIMEOUT_S,
            "max_tokens": 20,
            "max_in_flight": 20,
            "items_per_batch": 40,
            "max_parallel_batches": 2,
            "poll_interval": 0.2,
            "adopt_wait": 0.5,
            "journal": journal,
            "max_cost": "1",
            **settings,
        }

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.support.together", json.dumps(self._settings)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def until_batches(self, count: int) -> None:
        """Return when so many batches were intended."""
        intended = f'SELECT count(*) FROM "{self.dsn.schema}".event WHERE kind = {codec.KINDS[BatchIntended]}'
        begun = "SELECT 1 FROM pg_tables WHERE tablename = 'ticket' AND schemaname = %s"
        until = time.monotonic() + 120.0
        while not self.postgres.execute(begun, self.dsn.schema) or self.postgres.execute(intended)[0][0] < count:
            assert time.monotonic() < until, self.state()
            time.sleep(0.2)

    def state(self) -> str:
        """Who has what."""
        columns = "id, name, state, is_owner, reads, riding, granted, now() - renewed_at"
        shown: list[str] = []
        for table, what in (("worker", columns), ("block", "*"), ("ticket", "*"), ("account", "*")):
            shown += map(str, self.postgres.execute(f'SELECT {what} FROM "{self.dsn.schema}".{table}'))
        return "\n".join(shown)

    def maker(self, at_work: list[subprocess.Popen[str]]) -> subprocess.Popen[str] | None:
        """One of them that is about to make a batch."""
        schema, pids = self.dsn.schema, {process.pid: process for process in at_work}
        makers = f'SELECT w.name FROM "{schema}".ticket t JOIN "{schema}".worker w ON w.id = t.worker'
        for (name,) in self.postgres.execute(f"{makers} WHERE NOT t.is_submitted AND t.chunk >> 20 = w.id"):
            if (pid := int(name.rpartition(":")[2])) in pids:
                return pids[pid]
        return None

    def check(self) -> None:
        """Everybody who lived has all of it in order; every request was billed once, and the bill is what is booked."""
        for process in self.processes:
            said, complained = process.communicate(timeout=180)
            if process.returncode != -signal.SIGKILL:
                assert json.loads(said) == {"right": self.count, "succeeded": self.count}, complained
        log = self.provider.log()
        billed = [row["billed"] for row in log["prompts"].values()]
        assert billed == [1] * self.count, f"{sum(each > 1 for each in billed)} were billed more than once"
        with closing(DatabaseReader(self.dsn)) as reader:
            sums, counts = reader.sums(), reader.counts()
            assert reader.open_batches() == []
        assert sums.counts == counts
        assert counts[Status.SUCCEEDED] == self.count
        assert (sums.spent, sums.unconfirmed, sums.reserved) == (log["total"]["nano_dollars"], 0, 0)


@contextmanager
def crowd_of(postgres: PostgresServer, model: str, count: int, **settings: Any) -> Iterator[Crowd]:
    config = SimulatorConfig(persona="echo", batch_time_s=0.6, validation_time_s=0.05)
    with Simulator(config) as provider:
        crowd = Crowd(postgres, provider, model, count, **settings)
        with killed_at_last(crowd.processes):
            yield crowd


@pytest.mark.scale
@pytest.mark.parametrize("model", WIRES)
@pytest.mark.parametrize("seed", range(2))
def test_kills_and_stops_at_any_moment_lose_nothing_and_pay_nothing_twice(
    postgres: PostgresServer, model: str, seed: int
) -> None:
    dice, back = random.Random(seed), list[threading.Timer]()
    with crowd_of(postgres, model, 12_000, dawdle_s=0.4) as crowd:
        at_work = [crowd.start() for _ in range(4)]
        for turn in range(24):
            crowd.until_batches(4 + 4 * turn)
            time.sleep(dice.uniform(0.1, 0.8))
            victim = dice.choice(at_work)
            if dice.random() < 0.5:  # between an intent and what comes of it
                assert becomes_true(lambda: crowd.maker(at_work) is not None), crowd.state()
                victim = crowd.maker(at_work) or victim
            assert victim.poll() is None, "the run was over before the last kill"
            if dice.random() < 0.4:
                victim.send_signal(signal.SIGSTOP)
                back.append(threading.Timer(LEASE_S * dice.uniform(1.2, 2.5), victim.send_signal, (signal.SIGCONT,)))
                back[-1].start()
            else:
                victim.kill()
            at_work.remove(victim)  # one that is stopped comes back beside the others
            at_work.append(crowd.start())
        for timer in back:
            timer.join()
        crowd.check()
