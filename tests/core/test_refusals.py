import random
from collections.abc import Callable

import pytest

from batchwork.core.refusals import Refusals
from batchwork.core.sent_calls import SentCalls

WIDE = 200.0  # calls per second that are sent where there is no bound


class Sender:
    """Sends as fast as the refusals leave, at most `WIDE`; every call is refused with a probability, or by a bucket."""

    def __init__(self, is_refused: Callable[[float], bool]) -> None:
        self.log, self.now = SentCalls(), 0.0
        self.refusals = Refusals(self.log, step=0.1, least=0.5, burst_s=0.35)
        self.is_refused = is_refused
        self.refused = 0

    @property
    def rate(self) -> float:
        return min(WIDE, self.refusals.level or WIDE)

    def send(self, calls: int) -> float:
        """The mean rate."""
        start = self.now
        for _ in range(calls):
            self.now += 1.0 / self.rate
            self.log.add(self.now)
            self.refusals.look(self.now, is_bound=(self.refusals.level or WIDE) < WIDE)
            if self.is_refused(self.now):
                self.refused += 1
                self.refusals.refused(self.rate, sent_at=self.now, now=self.now)
        return calls / (self.now - start)


def _noise(share: float, seed: int) -> Callable[[float], bool]:
    dice = random.Random(seed)
    return lambda _: dice.random() < share


def _limit(per_s: float, burst: float = 5.0) -> Callable[[float], bool]:
    level, at = burst, 0.0

    def is_refused(now: float) -> bool:
        nonlocal level, at
        level, at = min(burst, level + (now - at) * per_s), now
        if level < 1.0:
            return True
        level -= 1.0
        return False

    return is_refused


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.2])
def test_noise_costs_little_with_any_luck(share: float) -> None:
    rates = [Sender(_noise(share, seed)).send(4_000) for seed in range(40)]
    assert sum(rates) / len(rates) > 0.6 * WIDE
    assert min(rates) > 0.25 * WIDE


def test_noise_is_noticed_and_what_it_refuses_then_changes_nothing() -> None:
    sender = Sender(_noise(0.1, 1))
    sender.send(1_000)
    assert sender.refusals.level is None
    before = sender.refused
    sender.send(200)
    assert sender.refused > before
    assert sender.refusals.level is None


@pytest.mark.parametrize("per_s", [20.0, 50.0, 120.0])
def test_a_limit_is_kept_and_few_are_refused_after_the_first_wave(per_s: float) -> None:
    sender = Sender(_limit(per_s))
    sender.send(200)
    before = sender.refused
    sender.send(2_000)
    assert (sender.refusals.level or WIDE) < 1.1 * per_s
    assert sender.refused - before < 0.03 * 2_000


def test_a_limit_that_falls_to_a_third_is_found_with_a_few_refusals() -> None:
    limits = [_limit(100.0), _limit(33.0, burst=1.0)]
    sender = Sender(lambda now: limits[now > 20.0](now))
    sender.send(1_900)
    before = sender.refused
    while sender.now < 22.0:
        sender.send(1)
    assert (sender.refusals.level or WIDE) < 50.0
    assert sender.refused - before < 30


def test_no_level_is_so_low_that_noise_keeps_it_there() -> None:
    sender = Sender(_limit(5.0))
    sender.send(100)
    assert (sender.refusals.level or WIDE) < 10.0
    sender.is_refused = _noise(0.1, 3)
    sender.send(1_500)
    assert sender.rate > 0.5 * WIDE


def test_noise_that_turns_into_a_limit_is_noticed() -> None:
    sender = Sender(_noise(0.1, 1))
    sender.send(1_000)
    sender.is_refused = _limit(50.0)
    sender.send(1_000)
    assert (sender.refusals.level or WIDE) < 60.0


def test_calls_of_one_round_deepen_one_cut_and_are_not_cuts_of_their_own() -> None:
    log = SentCalls()
    refusals = Refusals(log, step=0.1, least=0.5)
    for _ in range(100):
        log.add(0.0)
    for _ in range(30):
        refusals.refused(100.0, sent_at=0.0, now=0.1)
    assert refusals.level == pytest.approx(70.0, abs=2.0)


def test_what_is_refused_after_the_bound_was_lifted_but_sent_before_changes_nothing() -> None:
    log = SentCalls()
    refusals = Refusals(log, step=0.1, least=0.5)
    log.add(0.0)
    refusals.free(1.0)
    refusals.refused(100.0, sent_at=0.0, now=1.1)
    assert refusals.level is None
