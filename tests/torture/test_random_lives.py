"""Random small batch runs under budgets and mixed misbehaviours: the provider's bill never passes the ceiling."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.simulator import Simulator
from tests.support.fast_time import fast_loops
from tests.support.matrix_report import WIRES
from tests.support.misbehaving import MODELS, Bill
from tests.torture.misbehaviours import SCHEMA

# Per scope what may go wrong; each life has some of it.
TROUBLE = {
    "create": (
        "500_after 503_after 504_after 529_after 408_after 409_after reset_after unreadable_after truncated 500 529 429"
    ),
    "list": "500 529 reset unreadable_after",
    "files": "500 503 reset reset_after",
    "poll": "500 529 429 reset unreadable_after low_counts",
    "results": "gone short truncated shuffled 404 500 529 reset unreadable_after",
    "item": (
        "null no_usage zero_usage missing not_json duplicated expired canceled 500 529 400 "
        "refusal malformed max_tokens empty"
    ),
}
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa"


class _Life:
    """One journal, one provider, a ceiling, and one to three runs."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._dice = dice = random.Random(seed)
        self._wire = dice.choice(WIRES)
        self._typed = dice.random() < 0.4
        count = dice.randrange(2, 9)
        self._prompts = [f"{n} " + " ".join(dice.choices(WORDS.split(), k=dice.randrange(1, 30))) for n in range(count)]
        self._max_tokens = dice.choice((5, 20, 60))
        self._ceiling_nano = dice.randrange(2_000, 60_000)
        self._journal = folder / f"{seed}.db"
        self._list_lag_s = dice.choice((0.0, 0.0, 0.1))
        self._provider = Simulator(
            persona="schema" if self._typed else "echo", seed=seed, batch_time_s=dice.uniform(0, 0.1),
            validation_time_s=0.01, retry_after_s=1.0, list_lag_s=self._list_lag_s,
            clock_offset_s=dice.choice((0.0, 0.0, -1500.0, 1500.0)),
        )  # fmt: skip

    def live(self) -> str:
        """What is wrong with this life; empty when nothing is."""
        with self._provider as provider, fast_loops():
            provider.set_faults(self._faults())
            paused = retried = False
            for number in range(self._dice.randrange(1, 4)):
                if number and self._dice.random() < 0.5:
                    provider.set_faults(self._faults())
                again = number > 0 and self._dice.random() < 0.5
                paused = self._run(provider, retry_failed=again)
                retried |= again
            bill = Bill(provider)
        results = batchwork.open_results(self._journal)
        statuses = [outcome.status.value for outcome in results]
        booked_nano = int((results.total_cost or 0) * 10**9)
        results.close()
        told = f"ceiling {self._ceiling_nano}, billed {bill.nano()}, booked {booked_nano}, {statuses}, paused {paused}"
        if bill.nano() > self._ceiling_nano:
            return f"the bill passes the ceiling: {told}"
        if not paused and booked_nano < bill.nano():
            return f"less is booked than was billed: {told}"
        if not paused and (len(statuses) != len(self._prompts) or "pending" in statuses):
            return f"an input has no outcome: {told}"
        # Told to try again, it asks for lost results once more; a provider that fails then, too, is paid again.
        return f"paid twice: {told}" if bill.paid_twice() and not retried else ""

    def _faults(self) -> dict[str, float]:
        dice, plan = self._dice, {}
        for scope, kinds in TROUBLE.items():
            if dice.random() < 0.6:
                for kind in dice.sample(kinds.split(), dice.choice((1, 1, 2, 3))):
                    plan[f"{scope}:{kind}"] = dice.choice((0.05, 0.15, 0.3))
        return plan

    def _run(self, provider: Simulator, *, retry_failed: bool) -> bool:
        """Whether it was paused."""
        options: dict[str, Any] = {
            "model": f"{self._wire}:{MODELS[self._wire]}",
            "base_url": provider.anthropic_url if self._wire == "anthropic" else provider.openai_url,
            "api_key": "none",
            "mode": "batch",
            "max_cost": f"{self._ceiling_nano / 10**9:.9f}",
            "max_tokens": self._max_tokens,
            "schema": SCHEMA if self._typed else None,
            "items_per_batch": self._dice.randrange(1, 5),
            "max_parallel_batches": self._dice.randrange(1, 4),
            "retries": 3,
            "poll_interval": 1.0,
            "adopt_wait": 20.0 if self._list_lag_s else 8.0,
            "results_wait": 8.0,
            "timeout": 60.0,
            "max_consecutive_failures": 1000,
            "journal": self._journal,
            "retry_failed": retry_failed,
        }
        try:
            batchwork.run(self._prompts, **options).close()
        except batchwork.RunPaused:
            return True
        return False


def _wrong(seeds: range, folder: Path) -> dict[int, str]:
    """What is wrong with which life."""
    told = {seed: _Life(seed, folder).live() for seed in seeds}
    return {seed: what for seed, what in told.items() if what}


def test_a_few_random_lives_stay_under_their_ceilings(tmp_path: Path) -> None:
    assert _wrong(range(4), tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_a_thousand_random_lives_stay_under_their_ceilings(block: int, tmp_path: Path) -> None:
    first = 1000 + 25 * block
    assert _wrong(range(first, first + 25), tmp_path) == {}
