from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.lease import RateAnswer
from batchwork.core.leased_bucket import LeasedBucket
from tests.support.memory_accounts import MemoryAccount


def bucket(per_s: float = 10.0, kind: str = "requests") -> tuple[LeasedBucket, list[int]]:
    asked: list[int] = []
    return LeasedBucket(kind=kind, per_s=per_s, on_short=lambda: asked.append(1)), asked


def test_a_stretch_is_released_evenly_from_its_beginning() -> None:
    leased, asked = bucket()
    assert leased.wait_for(1.0, 0.0) == 1.0
    assert asked  # nothing is held: it asks, and looks again
    leased.answered(RateAnswer(kind="requests", per_s=10.0, wait_s=0.5, amount=5.0), 0.0)
    assert leased.wait_for(1.0, 0.0) == 0.6
    starts = []
    now = 0.0
    for _ in range(5):
        now += leased.wait_for(1.0, now)
        leased.take(1.0, now)
        starts.append(round(now, 6))
    assert starts == [0.6, 0.7, 0.8, 0.9, 1.0]
    assert leased.held(1.0) < 1e-9


def test_what_was_released_and_not_used_is_lost_but_for_a_small_burst() -> None:
    leased, _ = bucket(per_s=10.0)
    leased.answered(RateAnswer(kind="requests", per_s=10.0, amount=10.0), 0.0)
    assert leased.level(100.0) == leased.capacity == 2.0


def test_a_call_larger_than_the_burst_leaves_as_soon_as_it_is_covered() -> None:
    leased, _ = bucket(per_s=1000.0, kind="input_tokens")
    leased.wait_for(5000.0, 0.0)
    report = leased.report(0.0, waiting=1, stretch_s=0.1)
    assert report is not None
    assert report.amount == 5000.0
    leased.answered(RateAnswer(kind="input_tokens", per_s=1000.0, amount=5000.0), 0.0)
    assert leased.wait_for(5000.0, 0.0) == 0.1
    leased.take(5000.0, 0.1)
    assert leased.wait_for(1.0, 0.1) > 0.0


def test_tokens_that_were_not_used_serve_the_next_call_or_are_given_back() -> None:
    leased, _ = bucket(per_s=1000.0, kind="input_tokens")
    leased.answered(RateAnswer(kind="input_tokens", per_s=1000.0, amount=100.0), 0.0)
    leased.take(100.0, 0.05)
    leased.correct(100.0, 20.0, 0.2, taken_at=0.05)
    assert leased.wait_for(60.0, 0.2) == 0.0
    assert leased.report(0.2, waiting=0, stretch_s=0.1) is None  # less than a call is worth no question
    leased.take(10.0, 0.2)
    report = leased.report(0.2, waiting=0, stretch_s=0.1)
    assert report is not None
    assert (report.amount, report.returned) == (0.0, 70.0)
    assert leased.held(0.2) == 0.0


def test_whoever_has_few_calls_asks_for_few() -> None:
    leased, _ = bucket(per_s=100.0)
    leased.wait_for(1.0, 0.0)
    report = leased.report(0.0, waiting=1, stretch_s=0.1)
    assert report is not None
    assert report.amount == 1.0
    many = leased.report(0.0, waiting=50, stretch_s=0.1)
    assert many is not None
    assert many.amount == 10.0


@given(
    steps=st.lists(st.tuples(st.integers(0, 2), st.floats(0.0, 0.3), st.integers(0, 20)), max_size=80),
    per_s=st.floats(1.0, 200.0),
)
def test_what_leaves_all_buckets_together_never_passes_the_shared_rate(
    steps: list[tuple[int, float, int]], per_s: float
) -> None:
    account = MemoryAccount.of("haiku", requests=per_s * 60.0)
    buckets = [bucket(per_s)[0] for _ in range(3)]
    now, left_at = 0.0, []
    for who, passes, waiting in steps:
        now += passes
        leased = buckets[who]
        if (report := leased.report(now, waiting=waiting, stretch_s=0.1)) is not None:
            leased.answered(account.lease_rate(report, now), now)
        for _ in range(waiting):
            if leased.wait_for(1.0, now) > 0.0:
                break
            leased.take(1.0, now)
            left_at.append(now)
    burst = sum(each.capacity for each in buckets) + per_s * 0.05 + len(buckets) + 1.0
    for first, since in enumerate(left_at):
        for last in range(first, len(left_at)):
            assert last - first + 1 <= burst + per_s * (left_at[last] - since)
