"""Decide whether a failed attempt is tried again, and when.

The only place this is decided. Pure: the caller brings the dice and does the
sleeping, so every branch is a one-line test.
"""

from batchwork.core.failure import Failure
from batchwork.core.failure_table import Operation, Trait, traits_of
from batchwork.core.policy import RetryPolicy

_SPREAD = 0.1
_LONGEST_REFUSED_S = 2.0


def wait_before_retry(
    failure: Failure,
    *,
    attempts: int,
    refusals: int,
    elapsed_s: float,
    policy: RetryPolicy,
    dice: float,
    operation: Operation = Operation.CALL,
) -> float | None:
    """Seconds to wait before the next attempt, or None to give up.

    `attempts` counts the calls that were taken on and failed, `refusals` those that the provider
    turned away (they cost nothing and say nothing about the item, so they have a bound of
    their own); the failure at hand is counted in. `dice` is uniform in [0, 1) and spreads the herd.
    """
    traits = traits_of(failure.kind, operation)
    if Trait.RETRYABLE not in traits:
        return None
    refused = Trait.REFUSAL in traits
    if (refusals >= policy.max_refusals) if refused else (attempts >= policy.max_attempts):
        return None
    if failure.retry_after_s is not None:
        # The provider knows its own queue; the dice spread the herd.
        wait = failure.retry_after_s * (1.0 + _SPREAD * dice)
    else:
        doublings = min((refusals if refused else attempts) - 1, 60)
        first_s, longest_s = policy.first_wait_s, policy.longest_wait_s
        if refused:  # that is about all calls: how long they wait is decided at the gate
            first_s, longest_s = first_s / 2.0, min(longest_s, _LONGEST_REFUSED_S)
        wait = dice * min(longest_s, first_s * 2.0**doublings)
    return None if elapsed_s + wait > policy.max_elapsed_s else wait
