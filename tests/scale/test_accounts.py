"""Shared accounts, and one run, among real processes, over a real PostgreSQL and a provider with its own bill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from batchwork.backends import traits_of
from batchwork.core.bounds import WorstCase
from batchwork.core.dsn import Dsn
from batchwork.core.price_tables import resolve
from batchwork.core.request import Message, Request
from batchwork.simulator import Latency, Simulator
from tests.support.account_worker import prompts
from tests.support.postgres_server import PostgresServer

pytestmark = pytest.mark.scale
MODEL = "claude-haiku-4-5"
MAX_TOKENS = 20
ROOT = Path(__file__).parents[2]
_WINDOWS = (5, 40, 10, 20, 30, 15)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    def say_aloud(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}", flush=True)

    return say_aloud


def dearest_nano() -> int:
    """The worst case of one of the workers' calls, as the gate reserves it."""
    text = next(prompts("worker-0", 1, 0.0))
    price = resolve(MODEL, provider="anthropic", batch=False)
    assert price is not None
    asked = Request(model=f"anthropic:{MODEL}", messages=(Message(role="user", content=text),), max_tokens=MAX_TOKENS)
    return WorstCase(price, traits_of(f"anthropic:{MODEL}", None)[0]).nano(asked)


def start(postgres: PostgresServer, url: str, **own: Any) -> subprocess.Popen[str]:
    settings = {"model": f"anthropic:{MODEL}", "base_url": url, "max_tokens": MAX_TOKENS, **own}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.account_worker", json.dumps(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BATCHWORK_SHARED": postgres.address, "ANTHROPIC_API_KEY": "sk-test"},
        cwd=ROOT,
    )


@contextmanager
def workers(postgres: PostgresServer, url: str, *settings: dict[str, Any]) -> Iterator[list[subprocess.Popen[str]]]:
    started = [start(postgres, url, **{"name": f"worker-{n}", **own}) for n, own in enumerate(settings)]
    try:
        yield started
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
            process.communicate()


def told(process: subprocess.Popen[str], patience_s: float = 180.0) -> dict[str, Any]:
    out, err = process.communicate(timeout=patience_s)
    assert process.returncode == 0, err[-2000:]
    said: dict[str, Any] = json.loads(out.splitlines()[-1])
    return said


def account(postgres: PostgresServer, name: str, *options: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "batchwork", "account", "set", name, *options],
        check=True,
        capture_output=True,
        env={**os.environ, "BATCHWORK_SHARED": postgres.address},
        cwd=ROOT,
    )


def money(postgres: PostgresServer, name: str) -> tuple[int, int, int]:
    (row,) = postgres.execute("SELECT spent, leased, unconfirmed FROM batchwork.account WHERE name = %s", name)
    return row[0], row[1], row[2]


def run_money(journal: str) -> tuple[int, int, int]:
    from batchwork.postgres.reader import DatabaseReader

    with closing(DatabaseReader(Dsn.parse(journal))) as reader:
        sums = reader.sums()
    return sums.spent, sums.reserved, sums.unconfirmed


def bill(simulator: Simulator) -> int:
    return int(simulator.log()["total"]["nano_dollars"])


@pytest.mark.parametrize("turn", range(20))
@pytest.mark.parametrize("what", ["account", "run"])
def test_six_processes_use_one_ceiling_up_and_never_pass_it(
    postgres: PostgresServer, tmp_path: Path, what: str, turn: int, say: Callable[[str], None]
) -> None:
    ceiling = 1000 * dearest_nano()
    name, max_cost = f"team {turn}", f"{ceiling / 10**9:.9f}"
    journal = postgres.journal()
    if what == "account":
        account(postgres, name, "--max-cost", max_cost)
        files = [None if n % 2 else str(tmp_path / f"{n}.db") for n in range(6)]
        given = [{"account": name, "count": 1200, "journal": file} for file in files]
    else:
        given = [{"name": "worker-0", "count": 5000, "max_cost": max_cost, "journal": journal}] * 6
    given = [{**own, "max_in_flight": window} for own, window in zip(given, _WINDOWS, strict=True)]
    with Simulator(persona="echo", latency=Latency(median_s=0.05, sigma=0.5)) as simulator:
        with workers(postgres, simulator.anthropic_url, *given) as processes:
            said = [told(process) for process in processes]
        billed = bill(simulator)
    spent, leased, unconfirmed = money(postgres, name) if what == "account" else run_money(journal)
    say(f"{what} {turn}: billed {billed / ceiling:.2%} of the ceiling, calls {[each['succeeded'] for each in said]}")
    assert sum(each["deferred"] for each in said) > 0, "the demand was not above the ceiling"
    assert billed <= ceiling
    assert (spent, leased, unconfirmed) == (billed, 0, 0)
    assert billed >= 0.99 * ceiling


@pytest.mark.parametrize("turn", range(3))
def test_processes_that_are_killed_cost_what_they_held_and_the_ceiling_holds(
    postgres: PostgresServer, tmp_path: Path, turn: int, say: Callable[[str], None]
) -> None:
    dice = random.Random(turn)
    ceiling = 1000 * dearest_nano()
    name = f"killed {turn}"
    account(postgres, name, "--max-cost", f"{ceiling / 10**9:.9f}")
    given = [{"account": name, "count": 1200, "max_in_flight": window} for window in _WINDOWS]
    with Simulator(persona="echo", latency=Latency(median_s=0.3, sigma=0.3)) as simulator:
        with workers(postgres, simulator.anthropic_url, *given) as processes:
            while bill(simulator) < 0.1 * ceiling:
                time.sleep(0.2)
            victims = dice.sample(range(6), 3)
            for victim in victims:
                time.sleep(dice.uniform(0.0, 1.0))
                processes[victim].send_signal(signal.SIGSTOP if victim == victims[1] else signal.SIGKILL)
            said = [told(each) for n, each in enumerate(processes) if n not in victims]
        billed = bill(simulator)
    spent, leased, unconfirmed = money(postgres, name)
    say(f"{name}: billed {billed / ceiling:.2%}, booked {spent / ceiling:.2%}, unconfirmed {unconfirmed / ceiling:.2%}")
    assert said
    assert billed <= spent <= ceiling
    assert leased == 0, "the survivors ended only when what the dead held was booked"
    # What the three held: their calls under way, and a chunk each, which is at most half of an even share.
    assert unconfirmed <= sum(_WINDOWS[victim] for victim in victims) * dearest_nano() + 3 * ceiling // 12


@pytest.mark.parametrize("what", ["account", "run", "nothing"])
def test_four_uneven_processes_use_one_limit_up_with_hardly_a_refusal(
    postgres: PostgresServer, what: str, say: Callable[[str], None]
) -> None:
    per_s, seconds = 100.0, 30.0
    used, refused = _uneven(postgres, per_s, seconds, what)
    say(f"{what} shared: {used:.1%} of {per_s:g}/s used, {refused:.2%} refused")
    assert (used >= 0.97) == (what != "nothing")
    assert refused <= 0.005 or what == "nothing"


def _uneven(postgres: PostgresServer, per_s: float, seconds: float, what: str) -> tuple[float, float]:
    """What share of the limit is used, and what share of the calls refused, by four processes together.

    Two have much to do, one ends half-way, one has a call now and then; of four on one run one has a tenth of the
    window and one is interrupted half-way. Where nothing is shared, each takes a quarter.
    """
    if what == "run":
        own = {"name": "run", "count": 100_000, "rpm": per_s * 60, "journal": postgres.journal()}
        given: list[dict[str, Any]] = [{**own, "max_in_flight": window} for window in (60, 100, 40, 10)]
    else:
        account(postgres, "limit", "--rpm", str(per_s * 60))
        rate: dict[str, Any] = {"account": "limit"} if what == "account" else {"rpm": per_s * 60 / 4}
        rows = [{"count": 100_000}, {"count": 100_000}, {"count": int(per_s / 4 * seconds / 2)}]
        given = [{**row, "max_in_flight": 100, **rate} for row in rows]
        given.append({"count": 100_000, "pause_s": 0.5, "max_in_flight": 100, **rate})
    limit = {"rpm": int(per_s * 60), "burst_s": 0.25, "rate_headers": False}
    with (
        Simulator(persona="echo", latency=Latency(median_s=0.2, sigma=0.3), **limit) as simulator,
        workers(postgres, simulator.anthropic_url, *given) as processes,
    ):
        while len(simulator.log()["requests"]) < per_s:
            time.sleep(0.1)
        time.sleep(seconds / 2)
        if what == "run":
            processes[2].send_signal(signal.SIGINT)
        time.sleep(seconds / 2)
        calls = simulator.log()["requests"]
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in processes:
            told(process)
    until = max(call["at"] for call in calls)
    seen = [call for call in calls if call["at"] > until - seconds]
    taken = sum(call["status"] == 200 or call["status"] is None for call in seen)
    return taken / (per_s * seconds), 1.0 - taken / len(seen)
