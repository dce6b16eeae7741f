import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import RetryPolicy
from batchwork.core.retry import wait_before_retry

_PASSING = ["rate_limited", "overloaded", "timeout", "connection", "server"]
_FINAL = [kind.value for kind in FailureKind if kind.value not in _PASSING]


def _wait(kind: str, **told: float) -> float | None:
    policy = RetryPolicy(max_attempts=3, max_refusals=5, first_wait_s=1.0, longest_wait_s=10.0, max_elapsed_s=100.0)
    failure = Failure(kind=FailureKind(kind), message="", retry_after_s=told.get("after"))
    return wait_before_retry(
        failure,
        attempts=int(told.get("attempts", 1)),
        refusals=int(told.get("refusals", 1)),
        elapsed_s=told.get("elapsed", 0.0),
        policy=policy,
        dice=told.get("dice", 0.5),
    )


@pytest.mark.parametrize("kind", _PASSING)
def test_a_passing_failure_is_tried_again(kind: str) -> None:
    assert _wait(kind) == (0.25 if kind in ("rate_limited", "overloaded") else 0.5)


@pytest.mark.parametrize("kind", _FINAL)
def test_a_failure_that_would_only_repeat_itself_is_never_tried_again(kind: str) -> None:
    assert _wait(kind, after=1.0) is None


def test_the_providers_own_wait_beats_our_formula() -> None:
    assert _wait("rate_limited", after=30.0, dice=0.5) == 31.5


def test_the_wait_doubles_up_to_the_longest() -> None:
    waits = [_wait("server", attempts=n, dice=0.999) for n in (1, 2)]
    assert waits == [pytest.approx(0.999 * base) for base in (1, 2)]


def test_a_refused_call_waits_no_longer_than_two_seconds_since_the_gate_holds_them_all() -> None:
    waits = [_wait("rate_limited", refusals=n, dice=0.999) for n in (1, 2, 3, 4)]
    assert waits == [pytest.approx(0.999 * base) for base in (0.5, 1, 2, 2)]


def test_the_wait_never_passes_the_longest() -> None:
    policy = RetryPolicy(max_attempts=2000, longest_wait_s=60.0)
    failure = Failure(kind=FailureKind.SERVER, message="")
    wait = wait_before_retry(failure, attempts=1999, refusals=0, elapsed_s=0, policy=policy, dice=0.5)
    assert wait == 30.0


def test_attempts_are_bounded() -> None:
    assert _wait("server", attempts=3) is None


def test_refusals_have_a_bound_of_their_own() -> None:
    assert _wait("overloaded", attempts=3, refusals=4) is not None
    assert _wait("overloaded", attempts=0, refusals=5) is None


def test_total_time_is_bounded() -> None:
    assert _wait("server", elapsed=99.6) is None
    assert _wait("server", elapsed=99.4) == 0.5


@given(attempts=st.integers(1, 2), dice=st.floats(0, 1, exclude_max=True))
def test_jitter_is_full(attempts: int, dice: float) -> None:
    wait = _wait("connection", attempts=attempts, dice=dice)
    assert wait is not None
    assert 0 <= wait < 2.0 ** (attempts - 1)
