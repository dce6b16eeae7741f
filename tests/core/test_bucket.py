"""How fast calls may start, and how many may be in flight."""

from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.bucket import Bucket


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
    bucket.correct(8, 3, 0.0, taken_at=0.0)
    assert bucket.level(0.0) == 7


def test_giving_back_never_overfills() -> None:
    bucket = _full()
    bucket.correct(100, 0, 0.0, taken_at=0.0)
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
        bucket.correct(amount, amount * share, now, taken_at=0.0)
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
