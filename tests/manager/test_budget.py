"""Random runs under a limit: never a cent over it, and nothing left undone that surely fitted."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, CallbackError, Failure, FailureKind, Reply, RunPaused, Usage
from batchwork.core.bounds import plain_bound
from batchwork.core.event import Settled
from batchwork.core.request import Request
from tests.support.batch_provider import BatchProvider
from tests.support.scripted import Scripted

NANO = 10**9


class Bill:
    """What the provider really charges, whatever its client counts."""

    def __init__(self, dice: random.Random, price: tuple[int, int], most_out: int) -> None:
        self.nano = 0
        self._dice = dice
        self._price = price
        self._most_out = most_out

    def answer(self, prompt: str, call: int) -> Reply | Failure:
        dice = self._dice
        if dice.random() < 0.1:
            kind = dice.choice((FailureKind.SERVER, FailureKind.REJECTED, FailureKind.OVERLOADED))
            return Failure(kind=kind, message="scripted", retry_after_s=0.0)
        most_in = plain_bound(Request.ask(prompt))
        tokens = Usage(input_tokens=dice.randint(1, most_in), output_tokens=dice.randint(0, self._most_out))
        self.nano += (tokens.input_tokens * self._price[0] + tokens.output_tokens * self._price[1]) * 1000
        return Reply(text=prompt, usage=tokens)


def one_life(seed: int, folder: Path) -> int:
    dice = random.Random(seed)
    price = (dice.randint(1, 30), dice.randint(1, 90))
    most_out = dice.choice((5, 50, 300))
    bill = Bill(dice, price, most_out)
    prompts = [f"{i} " + "word " * dice.randint(0, 40) for i in range(dice.randint(1, 40))]
    ceiling = Decimal(dice.randint(1, 400_000)) / 10**6
    in_batches = dice.random() < 0.5
    provider = BatchProvider(bill.answer, takes_s=0.0)
    scripted = Scripted(bill.answer)
    state = folder / f"{seed}.json"
    lives = dice.randint(1, 3)
    for life in range(lives):
        dies_at = dice.randint(1, 20) if life < lives - 1 else None
        seen = [0]

        def watch(event: Any, dies_at: int | None = dies_at, seen: list[int] = seen) -> None:
            seen[0] += isinstance(event, Settled)
            if seen[0] == dies_at:
                raise OSError("pulled out")

        manager = BatchManager(
            messages=prompts,
            model="scripted",
            backend=provider.client() if in_batches else scripted,
            price=price,
            max_tokens=most_out,
            max_cost=ceiling,
            items_per_job=dice.choice((1, 3, 10)) if lives == 1 else 4,
            max_parallel_jobs=dice.randint(1, 5),
            max_in_flight=dice.randint(1, 20),
            max_consecutive_failures=1000,
            state_path=state if lives > 1 else None,
            poll_interval=0.001,
            retries=dice.randint(0, 2),
            on_event=watch,
        )
        try:
            manager.run()
        except (CallbackError, RunPaused):
            continue
        finally:
            assert bill.nano <= ceiling * NANO, f"seed {seed}: over the limit"
    stats = manager.stats
    assert (stats.total_cost or 0) * NANO >= bill.nano
    left = ceiling - (stats.total_cost or 0)
    for place in stats.deferred:
        needed = re.search(r"up to \$([\d.E+-]+)", str(manager.results()[place].error))
        assert needed is not None
        assert Decimal(needed[1]) > left, f"seed {seed}: item {place} surely fitted"
    return stats.pending_items


@pytest.mark.parametrize("runs", [25, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_limit_is_never_passed_and_what_surely_fits_is_done(runs: int, tmp_path: Path) -> None:
    assert [seed for seed in range(runs) if one_life(seed, tmp_path)] == [], "lives that left items undone"
