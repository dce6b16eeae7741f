from itertools import pairwise

from batchwork.core.pace import Pace
from batchwork.core.sent_calls import SentCalls


class Sender:
    """Sends calls at times, of which some are refused at once."""

    def __init__(self) -> None:
        self.log = SentCalls()
        self.pace = Pace(self.log)

    def send(self, start: float, *, per_s: float, seconds: float, refused_every: int = 0) -> float:
        """So many calls a second for so long; the time afterwards."""
        calls = int(per_s * seconds)
        for n in range(1, calls + 1):
            now = start + n / per_s
            self.log.add(now)
            if refused_every and n % refused_every == 0:
                self.pace.refused(sent_at=now, now=now)
        return start + seconds

    def per_s(self, now: float) -> float:
        rate = self.pace.per_s(now)
        assert rate is not None
        return rate


def test_without_a_refusal_there_is_no_guess() -> None:
    sender = Sender()
    assert sender.pace.per_s(sender.send(0.0, per_s=50, seconds=2.0)) is None


def test_the_first_guess_is_a_little_below_what_was_let_through() -> None:
    sender = Sender()
    now = sender.send(0.0, per_s=50, seconds=1.0)
    sender.pace.refused(sent_at=now, now=now)
    assert 40 < sender.per_s(now) < 50


def test_calls_of_the_same_wave_that_are_refused_as_well_deepen_the_cut() -> None:
    sender = Sender()
    for _ in range(100):
        sender.log.add(0.0)
    for _ in range(90):
        sender.pace.refused(sent_at=0.0, now=0.05)
    assert sender.per_s(0.05) < 0.2 * 100 / 0.05


def test_a_guess_grows_fast_until_it_is_refused_in_its_turn_and_slowly_from_then_on() -> None:
    sender = Sender()
    now = sender.send(0.0, per_s=50, seconds=1.0)
    sender.pace.refused(sent_at=now, now=now)
    assert sender.per_s(now + 5.0) > 1.9 * sender.per_s(now)
    now = sender.send(now, per_s=80, seconds=5.0)
    sender.pace.refused(sent_at=now, now=now)
    assert sender.per_s(now + 2.0) < 1.1 * sender.per_s(now)


def test_the_more_calls_go_through_without_a_refusal_the_faster_it_grows() -> None:
    sender = Sender()
    now = sender.send(0.0, per_s=50, seconds=1.0, refused_every=40)
    now = sender.send(now, per_s=50, seconds=2.0, refused_every=40)
    rates = [sender.per_s(now)]
    for _ in range(10):
        now = sender.send(now, per_s=50, seconds=1.0)
        rates.append(sender.per_s(now))
    growth = [later / earlier for earlier, later in pairwise(rates)]
    assert growth[0] > 1.0
    assert growth[-1] > growth[0]


def test_the_smaller_of_two_guesses_grows_by_the_larger_share() -> None:
    grown = []
    for per_s in (10.0, 40.0):
        sender = Sender()
        now = sender.send(0.0, per_s=per_s, seconds=2.0)
        for _ in range(2):  # the second refusal ends the fast growth of a first guess
            sender.pace.refused(sent_at=now, now=now)
            now = sender.send(now, per_s=per_s, seconds=1.0)
        sender.pace.refused(sent_at=now, now=now)
        before = sender.per_s(now)
        for _ in range(30):
            sender.log.add(now)
        grown.append(sender.per_s(now + 10.0) / before)
    assert grown[0] > grown[1] > 1.0


def test_refusals_that_slowing_down_does_not_cure_end_in_no_guess_at_all() -> None:
    sender, now = Sender(), 0.0
    for _ in range(40):
        now = sender.send(now, per_s=sender.pace.per_s(now) or 500.0, seconds=0.5, refused_every=10)
    assert (sender.pace.per_s(now) or 500.0) > 400.0


def test_refusals_that_end_when_we_slow_down_leave_a_guess_below_the_limit() -> None:
    sender, now, limit, tokens = Sender(), 0.0, 100.0, 5.0
    for _ in range(6_000):
        step = 1.0 / (sender.pace.per_s(now) or 500.0)
        now, tokens = now + step, min(5.0, tokens + step * limit)
        sender.log.add(now)
        if tokens < 1.0:
            sender.pace.refused(sent_at=now, now=now)
        else:
            tokens -= 1.0
    assert 0.7 * limit < sender.per_s(now) < 1.1 * limit


def test_a_refusal_of_the_very_first_call_still_leaves_a_rate_above_zero() -> None:
    sender = Sender()
    sender.log.add(0.0)
    sender.pace.refused(sent_at=0.0, now=0.1)
    assert sender.per_s(0.1) > 0.0
