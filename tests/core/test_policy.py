import math

import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.policy import Policy, RatePolicy, RetryPolicy


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "3", None])
@pytest.mark.parametrize("name", ["max_in_flight", "max_consecutive_failures"])
def test_a_count_is_a_whole_number_above_zero(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        Policy(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "5", True])
def test_a_timeout_is_finite_and_above_zero(value: object) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        Policy(timeout_s=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, math.nan, "5", None])
def test_max_wait_is_a_number_of_at_least_zero(value: object) -> None:
    with pytest.raises(ConfigError, match="max_wait"):
        Policy(max_wait_s=value)  # type: ignore[arg-type]


def test_max_wait_may_be_zero() -> None:
    assert Policy(max_wait_s=0).max_wait_s == 0


@pytest.mark.parametrize("name", ["rpm", "input_tpm", "output_tpm"])
def test_a_rate_is_above_zero(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        RatePolicy(**{name: 0})


def test_retries_are_bounded_from_below() -> None:
    with pytest.raises(ConfigError, match="max_attempts"):
        RetryPolicy(max_attempts=0)


@pytest.mark.parametrize("retries", [-1, 1.5, "3", True, None])
def test_retries_are_a_whole_number(retries: object) -> None:
    with pytest.raises(ConfigError, match="retries must be a whole number of at least 0"):
        RetryPolicy.of(retries)  # type: ignore[arg-type]


def test_retries_are_calls_after_the_first_one() -> None:
    assert RetryPolicy.of(RetryPolicy().retries) == RetryPolicy()
    assert [RetryPolicy.of(retries).max_attempts for retries in (0, 3)] == [1, 4]
