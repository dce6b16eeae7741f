"""How fast calls may start, and how many may be in flight."""

from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.rate import AdaptiveWindow, Bucket, Pace


def _full(per_minute: float = 12_000) -> Bucket:
    """200 a second, 10 at once; or as told."""
    return Bucket(per_minute=per_minute, now=0.0)


def test_a_full_bucket_lets_its_capacity_leave_at_once() -> None:
    bucket = _full()
    assert bucket.wait_for(10, 0.0) == 0.0
    bucket.take(10, 0.0)
    assert bucket.wait_for(1, 0.0) == 0.005


def test_it_refills_continuously() -> None:
    bucket = _full(60)
    bucket.take(2, 0.0)
    assert bucket.wait_for(1, 0.25) == 0.75
    assert bucket.wait_for(1, 1.0) == 0.0


def test_what_is_larger_than_the_bucket_leaves_when_it_is_full_and_is_paid_back() -> None:
    bucket = _full(60)
    assert bucket.wait_for(30, 0.0) == 0.0
    bucket.take(30, 0.0)
    assert bucket.wait_for(1, 0.0) == 29.0


def test_an_estimate_is_replaced_by_what_was_used() -> None:
    bucket = _full()
    bucket.take(8, 0.0)
    bucket.correct(8, 3, 0.0)
    assert bucket.level(0.0) == 7


def test_giving_back_never_overfills() -> None:
    bucket = _full()
    bucket.correct(100, 0, 0.0)
    assert bucket.level(0.0) == bucket.capacity


def test_a_clock_that_goes_backwards_changes_nothing() -> None:
    bucket = Bucket(per_minute=60, now=100.0)
    bucket.take(2, 100.0)
    assert bucket.level(50.0) == 0.0
    assert bucket.level(101.0) == 1.0


def test_a_learned_limit_keeps_what_is_left() -> None:
    bucket = _full()
    bucket.take(9, 0.0)
    bucket.learn(per_minute=60_000, now=0.0)
    assert (bucket.level(0.0), bucket.per_s) == (1, 1000)


def test_the_providers_count_lowers_ours_but_never_raises_it() -> None:
    bucket = _full()
    bucket.lower_to(4, 0.0)
    assert bucket.level(0.0) == 4
    bucket.lower_to(8, 0.0)
    assert bucket.level(0.0) == 4


def test_a_difference_below_one_is_growth_since_the_answer_was_sent() -> None:
    bucket = _full(60)
    bucket.take(2, 0.0)
    bucket.lower_to(0, 0.5)
    assert bucket.level(0.5) == 0.5


def test_after_a_refusal_at_the_limit_it_stays_a_little_below_but_not_ever_lower() -> None:
    bucket = _full(6000)
    bucket.ease(0.0)
    assert bucket.per_s == 98.0
    for _ in range(50):
        bucket.ease(0.0)
    assert bucket.per_s == 90.0
    assert bucket.eased_out


@given(
    rate=st.floats(1, 100_000),
    steps=st.lists(st.tuples(st.floats(0, 5), st.floats(0, 50)), min_size=1, max_size=60),
)
def test_no_window_lets_more_leave_than_the_limit_allows(rate: float, steps: list[tuple[float, float]]) -> None:
    bucket, now = Bucket(per_minute=rate, now=0.0), 0.0
    left: list[tuple[float, float]] = []
    for pause, wanted in steps:
        now += pause
        amount = min(wanted, bucket.capacity)
        now += bucket.wait_for(amount, now)
        bucket.take(amount, now)
        left.append((now, amount))
    for i, (start, _) in enumerate(left):
        total = 0.0
        for end, amount in left[i:]:
            total += amount
            assert total <= (bucket.capacity + bucket.per_s * (end - start)) * (1 + 1e-6) + 1e-6


@given(
    steps=st.lists(st.tuples(st.floats(0, 2), st.floats(0, 20), st.floats(0, 1)), min_size=1, max_size=40),
)
def test_nor_when_estimates_are_corrected_downwards_at_once(steps: list[tuple[float, float, float]]) -> None:
    bucket, now, used = Bucket(per_minute=600, now=0.0), 0.0, []
    for pause, wanted, share in steps:
        now += pause
        amount = min(wanted, bucket.capacity)
        now += bucket.wait_for(amount, now)
        bucket.take(amount, now)
        bucket.correct(amount, amount * share, now)
        used.append((now, amount * share))
    for i, (start, _) in enumerate(used):
        total = sum(amount for _, amount in used[i:])
        assert total <= (bucket.capacity + bucket.per_s * (used[-1][0] - start)) * (1 + 1e-6) + 1e-6


@given(rate=st.floats(0.5, 1e6), amount=st.floats(0, 1e6), at=st.floats(0, 1e6))
def test_after_the_wait_it_told_the_amount_may_leave(rate: float, amount: float, at: float) -> None:
    bucket = Bucket(per_minute=rate, now=0.0)
    bucket.take(amount, at)
    wait = bucket.wait_for(amount, at)
    assert bucket.wait_for(amount, at + wait) <= max(1e-6, wait * 1e-6)


def _pace_of(calls: int, *, over_s: float = 1.0) -> Pace:
    pace = Pace()
    for n in range(calls + 1):
        pace.sent(n * over_s / calls)
    return pace


def test_without_a_refusal_there_is_no_guess() -> None:
    assert _pace_of(50).per_s(1.0) is None


def test_the_first_guess_is_a_little_below_what_was_let_through() -> None:
    pace = _pace_of(50)
    pace.refused(sent_at=1.0, now=1.0)
    assert pace.per_s(1.0) == 45.0


def test_the_echoes_of_one_refusal_lower_the_guess_once() -> None:
    pace = _pace_of(50)
    for _ in range(5):
        pace.refused(sent_at=1.0, now=1.0)
    assert pace.per_s(1.0) == 45.0


def test_it_grows_fast_until_it_is_refused_in_its_turn_and_slowly_from_then_on() -> None:
    pace = _pace_of(50)
    pace.refused(sent_at=1.0, now=1.0)
    assert pace.per_s(6.0) == 45.0 * 2.0
    for n in range(80):
        pace.sent(5.0 + n / 80)
    pace.refused(sent_at=6.0, now=6.0)
    lowered, grown = pace.per_s(6.0), pace.per_s(16.0)
    assert lowered is not None
    assert grown is not None
    assert lowered < grown < 1.1 * lowered


def test_a_later_refusal_lowers_it_again() -> None:
    pace = _pace_of(50)
    pace.refused(sent_at=1.0, now=1.0)
    for n in range(30):
        pace.sent(10.0 + n / 30)
    before = pace.per_s(11.0)
    pace.refused(sent_at=10.9, now=11.0)
    after = pace.per_s(11.0)
    assert before is not None
    assert after is not None
    assert after < before


def test_a_refusal_of_the_very_first_call_still_leaves_a_rate_above_zero() -> None:
    pace = Pace()
    pace.sent(0.0)
    pace.refused(sent_at=0.0, now=0.1)
    assert pace.per_s(0.1) == 0.9


def _refuse(window: AdaptiveWindow, sent_at: float, now: float, in_flight: int = 100, **how: bool) -> bool:
    how = {"paused": False, "paced": False} | how
    return window.refused(sent_at=sent_at, now=now, in_flight=in_flight, **how)


def test_it_is_full_from_the_start() -> None:
    assert AdaptiveWindow(100).size == 100


def test_a_provider_with_unknown_limits_starts_slowly_and_doubles() -> None:
    window = AdaptiveWindow(100, slow_start=True)
    sizes = [window.size]
    for _ in range(3):
        for _ in range(window.size):
            window.answered()
        sizes.append(window.size)
    assert sizes == [4, 8, 16, 32]


def test_known_limits_end_the_slow_start() -> None:
    window = AdaptiveWindow(100, slow_start=True)
    window.limits_known()
    assert window.size == 100


def test_a_refusal_cuts_once_and_its_echoes_do_not() -> None:
    window = AdaptiveWindow(100)
    assert _refuse(window, sent_at=0.0, now=1.0)
    assert not _refuse(window, sent_at=0.5, now=1.1)
    assert not _refuse(window, sent_at=1.0, now=1.2)
    assert window.size == 70


def test_a_refusal_of_a_call_sent_after_the_cut_is_a_new_episode() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0)
    assert _refuse(window, sent_at=1.5, now=2.0, in_flight=70)
    assert window.size == 49


def test_the_cut_is_taken_from_what_was_really_in_flight() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=10)
    assert window.size == 7


def test_growth_is_one_per_window_of_answers() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=15)
    for _ in range(12):
        window.answered()
    assert window.size == 11


def test_after_a_pause_everybody_starts_slowly() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, paused=True)
    assert window.size == 4


def test_limits_learned_after_a_cut_do_not_undo_it() -> None:
    window = AdaptiveWindow(100, slow_start=True)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=4)
    window.limits_known()
    assert window.size == 2


def test_where_the_rate_is_held_elsewhere_it_grows_back_with_every_answer() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=10, paced=True, paused=True)
    assert window.size == 7
    for _ in range(5):
        window.answered()
    assert window.size == 12


@given(
    most=st.integers(1, 300),
    slow=st.booleans(),
    steps=st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(1, 300)), max_size=80),
)
def test_there_is_always_room_for_one_and_never_for_more_than_the_most(
    most: int, slow: bool, steps: list[tuple[bool, bool, bool, int]]
) -> None:
    window = AdaptiveWindow(most, slow_start=slow)
    for now, (refused, paused, paced, in_flight) in enumerate(steps):
        if refused:
            _refuse(window, sent_at=now - 0.5, now=now, in_flight=in_flight, paused=paused, paced=paced)
        else:
            window.answered()
        assert 1 <= window.size <= most
