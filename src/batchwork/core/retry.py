"""Decide whether a failed attempt is tried again, and when.

The only place this is decided. Pure: the caller brings the dice and does the
sleeping, so every branch is a one-line test.
"""

from __future__ import annotations

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import RetryPolicy

REFUSALS = frozenset({FailureKind.RATE_LIMITED, FailureKind.OVERLOADED})
_PASSING = REFUSALS | {FailureKind.TIMEOUT, FailureKind.CONNECTION, FailureKind.SERVER}
API_FAILURES = _PASSING | {FailureKind.AUTH, FailureKind.QUOTA, FailureKind.REJECTED, FailureKind.INTERNAL}


def wait_before_retry(
    failure: Failure, *, attempts: int, refusals: int, elapsed_s: float, policy: RetryPolicy, dice: float
) -> float | None:
    """Seconds to wait before the next attempt, or None to give up.

    `attempts` counts the calls that were taken on and failed, `refusals` those that the provider
    turned away (they cost nothing and say nothing about the item, so they have a bound of
    their own); the failure at hand is counted in. `dice` is uniform in [0, 1) and spreads the herd.
    """
    if failure.kind not in _PASSING:
        return None
    refused = failure.kind in REFUSALS
    if (refusals >= policy.max_refusals) if refused else (attempts >= policy.max_attempts):
        return None
    if failure.retry_after_s is not None:
        wait = failure.retry_after_s + dice  # the provider knows its own queue; the dice spread the herd
    else:
        doublings = min((refusals if refused else attempts) - 1, 60)
        wait = dice * min(policy.longest_wait_s, policy.first_wait_s * 2.0**doublings)
    return None if elapsed_s + wait > policy.max_elapsed_s else wait
