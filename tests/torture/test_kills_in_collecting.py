"""SIGKILL while results trickle in, while re-asks are on their way, and while live calls are in flight.

Afterwards no item was asked again although its answer could be used, each was in at most one open batch at any time,
and at least as much is booked as was billed.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.core.batch_book import index_of
from batchwork.core.outcome import Status
from batchwork.journal import JournalReader
from batchwork.simulator import Simulator
from tests.support.kill_server import Children, children
from tests.support.misbehaving import MODELS
from tests.support.waiting import becomes_true
from tests.torture.misbehaviours import SCHEMA

REASKS = 2
ITEMS, PER_BATCH = 9, 3
MODEL = f"anthropic:{MODELS['anthropic']}"


@pytest.fixture(scope="module")
def runs() -> Iterator[Children]:
    with children() as server:
        yield server


def _is_asked(provider: Simulator, calls: int, pid: int) -> bool:
    """Wait until it was asked so often; False when the run has ended before."""
    return becomes_true(lambda: len(provider.log()["requests"]) >= calls, unless=lambda: _ended(pid))


def _ended(pid: int) -> bool:
    """Whether a process is no more, or has not been waited for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def _open_batches(journal: Path) -> list[tuple[int, ...]]:
    try:
        reader = JournalReader(journal)
    except batchwork.JournalError:  # killed before there was one
        return []
    try:
        return [ticket.items for ticket in reader.open_batches()]
    finally:
        reader.close()


def _spent_nano(journal: Path) -> int:
    reader = JournalReader(journal)
    try:
        return reader.totals().spent_nano
    finally:
        reader.close()


def _asked_too_often(log: dict[str, Any], kills: int) -> list[int]:
    """The items that were asked again although they had a usable answer, or more often than the policy allows.

    A kill may make it forget how often it has asked: an answer that cannot be used is then asked for once more.
    """
    usable: set[int] = set()
    times: Counter[int] = Counter()
    wrong: list[int] = []
    for row in sorted(log["requests"], key=lambda row: int(row["number"])):
        index = index_of(row["custom_id"])
        assert index is not None
        times[index] += 1
        if index in usable or times[index] > 1 + REASKS + kills:
            wrong.append(index)
        if row["billed"] and row["fault"] is None:
            usable.add(index)
    return wrong


class _Life:
    """One journal and one provider, killed again and again while results trickle in."""

    def __init__(self, runs: Children, folder: Path, seed: int) -> None:
        self._runs = runs
        self._dice = random.Random(seed)
        self._kills = 0
        self._journal = folder / f"{seed}.db"
        self.provider = Simulator(persona="schema", seed=seed, batch_time_s=0.05, trickle_s=0.015)

    def start(self) -> int:
        return self._runs.start(
            [f"Item {n}" for n in range(ITEMS)],
            model=MODEL, base_url=self.provider.anthropic_url, api_key="none", mode="batch", schema=SCHEMA,
            max_tokens=50, max_cost=1, reask=REASKS, items_per_batch=PER_BATCH, max_parallel_batches=2,
            poll_interval=1.0, adopt_wait=10.0, journal=str(self._journal), fast=True,
        )  # fmt: skip

    def _downloads(self) -> int:
        log = self.provider.log()
        return int(log["other"].get("results", 0))

    def kill(self) -> bool:
        """Kill a run somewhere in a download or shortly after one; False when it ended before."""
        before = self._downloads()
        wanted = before + self._dice.choice((1, 1, 2))
        pid = self.start()
        alive = becomes_true(lambda: self._downloads() >= wanted, unless=lambda: _ended(pid))
        if alive:
            time.sleep(self._dice.uniform(0.0, 0.1))
            os.kill(pid, signal.SIGKILL)
        killed = self._runs.wait() == -signal.SIGKILL
        self._kills += killed
        riding = [item for items in _open_batches(self._journal) for item in items]
        assert len(riding) == len(set(riding)), "an item is in two open batches"
        return killed

    def end(self) -> None:
        """Let it come to its end, and judge it by the bill."""
        self.start()
        assert self._runs.wait() == 0
        self.provider.advance(60)
        log = self.provider.log()
        assert _asked_too_often(log, self._kills) == []
        results = batchwork.open_results(self._journal)
        statuses = [outcome.status for outcome in results]
        results.close()
        assert len(statuses) == ITEMS
        assert set(statuses) <= {"succeeded", "failed"}
        assert _spent_nano(self._journal) == log["total"]["nano_dollars"], "every answer could be read"
        assert _open_batches(self._journal) == []


def _killed_while_collecting(runs: Children, folder: Path, seed: int, kills: int) -> int:
    done, number = 0, 0
    while done < kills:
        life = _Life(runs, folder, 1000 * seed + number)
        number += 1
        with life.provider:
            life.provider.set_faults("results:trickle=1,item:malformed=0.4")
            for _ in range(3):
                if done < kills and life.kill():
                    done += 1
            life.end()
        assert number <= 3 * kills, "most lives are killed at least once"
    return done


def test_kills_while_results_trickle_in_pay_for_nothing_twice(runs: Children, tmp_path: Path) -> None:
    assert _killed_while_collecting(runs, tmp_path, seed=0, kills=2) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_two_hundred_kills_while_results_trickle_in_pay_for_nothing_twice(
    seed: int, runs: Children, record_property: Any, tmp_path: Path
) -> None:
    record_property("kill", 20)
    assert _killed_while_collecting(runs, tmp_path, seed=seed, kills=20) == 20


WINDOW = 12


def _killed_live(runs: Children, folder: Path, seed: int, kills: int, calls: int) -> int:
    """Kill live runs without a budget under load, several times on each journal; how often they were."""
    dice, done = random.Random(seed), 0
    for number in range(3 * kills):
        if done == kills:
            break
        most = min(5, kills - done)
        done += _live_life(runs, folder / f"{number}.db", dice, most=most, calls=calls)
    return done


def _live_life(runs: Children, journal: Path, dice: random.Random, *, most: int, calls: int) -> int:
    """One journal, killed up to so many times and then left to come to its end; how often it was."""
    with Simulator(persona="echo", seed=dice.randrange(1000)) as provider:
        provider.set_faults("500=0.05,reset=0.02")
        options = {
            "model": MODEL, "base_url": provider.anthropic_url, "api_key": "none", "max_tokens": 20,
            "max_in_flight": WINDOW, "journal": str(journal), "max_consecutive_failures": 1000, "fast": True,
        }  # fmt: skip
        prompts = [f"Prompt {n:04d}" for n in range(calls)]
        kills, killed = 0, True
        while killed and kills < most:
            before = len(_all_answered(provider))
            wanted = before + dice.randrange(1, calls // most)
            pid = runs.start(prompts, **options)
            if _is_asked(provider, wanted, pid):
                os.kill(pid, signal.SIGKILL)
            killed = runs.wait() == -signal.SIGKILL
            kills += killed
            paid = {row["preview"] for row in _all_answered(provider)[before:] if row["billed"]}
            assert len(paid - _settled(journal, prompts)) <= WINDOW, "a kill costs more than a window"
        runs.start(prompts, **options)
        assert runs.wait() == 0
        rows = _all_answered(provider)
        assert sum(row["billed"] for row in rows) - calls <= WINDOW * kills, "more than a window is repeated per kill"
        billed = provider.log()["total"]["nano_dollars"]
    results = batchwork.open_results(journal)
    assert [outcome.text for outcome in results] == prompts
    results.close()
    assert _spent_nano(journal) >= billed, "less is booked than was billed"
    return kills


def _all_answered(provider: Simulator) -> list[dict[str, Any]]:
    """What was received, once all that was in flight at a kill is answered."""
    received = -1
    while received != (received := len((log := provider.log())["requests"])) or _unanswered(log):
        time.sleep(0.03)
    rows: list[dict[str, Any]] = log["requests"]
    return rows


def _settled(journal: Path, prompts: list[str]) -> set[str]:
    """The prompts whose outcome is on disk."""
    try:
        reader = JournalReader(journal)
    except batchwork.JournalError:  # killed before there was one
        return set()
    try:
        finished = frozenset({Status.SUCCEEDED, Status.FAILED})
        return {prompts[entry.index] for entry in reader.entries(statuses=finished)}
    finally:
        reader.close()


def _unanswered(log: dict[str, Any]) -> bool:
    return any(row["status"] is None and row["fault"] != "reset" for row in log["requests"])


def test_kills_of_live_calls_without_a_budget_repeat_at_most_a_window(runs: Children, tmp_path: Path) -> None:
    assert _killed_live(runs, tmp_path, seed=0, kills=2, calls=80) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_a_hundred_kills_of_live_calls_repeat_at_most_a_window_each(
    seed: int, runs: Children, record_property: Any, tmp_path: Path
) -> None:
    record_property("kill", 10)
    assert _killed_live(runs, tmp_path, seed=seed, kills=10, calls=600) == 10


@pytest.mark.parametrize(
    ("wire", "offset_s"),
    [
        ("anthropic", -1500.0),
        pytest.param("anthropic", 1500.0, marks=pytest.mark.slow),
        pytest.param("openai", -1500.0, marks=pytest.mark.slow),
        pytest.param("openai", 1500.0, marks=pytest.mark.slow),
    ],
)
def test_a_batch_whose_maker_died_is_found_although_the_clocks_differ(
    wire: str, offset_s: float, runs: Children, tmp_path: Path
) -> None:
    with Simulator(persona="echo", batch_time_s=0.1, validation_time_s=0.02, clock_offset_s=offset_s) as provider:
        url = provider.anthropic_url if wire == "anthropic" else provider.openai_url
        options = {
            "model": f"{wire}:{MODELS[wire]}", "base_url": url, "api_key": "none", "mode": "batch", "max_cost": 1,
            "poll_interval": 1.0, "adopt_wait": 20.0, "journal": str(tmp_path / "j.db"), "fast": True,
        }  # fmt: skip
        prompts = [f"Item {n}" for n in range(3)]
        provider.next_faults("create", ["hang_after"])
        pid = runs.start(prompts, **options)
        assert becomes_true(lambda: bool(provider.log()["batches"]), unless=lambda: _ended(pid))
        os.kill(pid, signal.SIGKILL)
        assert runs.wait() == -signal.SIGKILL
        runs.start(prompts, **options)
        assert runs.wait() == 0
        provider.advance(60)
        log = provider.log()
    assert len(log["batches"]) == 1
    assert log["total"]["billed"] == 3
    assert _spent_nano(tmp_path / "j.db") == log["total"]["nano_dollars"]
