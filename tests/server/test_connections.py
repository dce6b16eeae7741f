""""""

from batchwork.server.config import ConnectionLimits
from batchwork.server.connections import ByteRate

LIMITS = ConnectionLimits(slow_s=10.0, least_bytes_per_s=100)


def test_bytes_that_come_at_the_least_rate_come_in_time() -> None:
    pace = ByteRate(0.0)
    assert not any(pace.is_too_slow(second / 2, 50 * second, LIMITS) for second in range(200))


def test_a_pause_within_a_window_is_forgiven_and_a_longer_one_is_not() -> None:
    pace = ByteRate(0.0)
    assert not pace.is_too_slow(9.9, 0, LIMITS)
    assert not pace.is_too_slow(10.0, 5_000, LIMITS)
    assert not pace.is_too_slow(19.9, 5_000, LIMITS)
    assert pace.is_too_slow(20.0, 5_900, LIMITS)


def test_what_came_early_does_not_pay_for_what_never_comes() -> None:
    pace = ByteRate(0.0)
    assert not pace.is_too_slow(10.0, 10_000_000, LIMITS)
    assert pace.is_too_slow(20.0, 10_000_001, LIMITS)
