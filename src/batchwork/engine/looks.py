"""Decide how long a provider batch may stay out of sight.

A look that fails says nothing about the batch, so it is taken again; looks that only fail end in a pause, never in a
second submission.
"""

import logging
from collections.abc import Iterator

from batchwork.core.failure import Failure
from batchwork.core.failure_table import Operation, Trait, traits_of
from batchwork.core.policy import BatchPolicy, Policy
from batchwork.core.ports import Clock

_log = logging.getLogger(__name__)
_GROWTH = 1.5  # of the time between two looks at a batch
_OUTAGE_S = 3600.0  # waiting for a batch costs nothing, and batches take hours


class Sight:
    """The looks at one batch; says once when they begin to fail, and whoever pauses the run says it again."""

    def __init__(self, batch: str, *, where: str, policy: Policy, clock: Clock) -> None:
        self._batch = batch
        self._where = where
        self._patience_s = max(policy.stall_s, policy.batch.adopt_wait_s)
        self._clock = clock
        self._lost_since: float | None = None

    def seen(self) -> None:
        """The provider has answered: the address is right, and what comes now is an outage that may be waited out."""
        self._lost_since = None
        self._patience_s = max(self._patience_s, _OUTAGE_S)

    def lost(self, failure: Failure) -> bool:
        """A look failed; whether there is no point in another one."""
        now = self._clock.now()
        if self._lost_since is None:
            self._lost_since = now
            _log.warning(
                "cannot look at batch %s at %s (%s); if it is not seen within %g s the run pauses and nothing is lost:"
                " check the address and the network",
                self._batch,
                self._where,
                failure,
                self._patience_s,
            )
        hopeless = Trait.HOPELESS in traits_of(failure.kind, Operation.POLL)
        return hopeless or now - self._lost_since >= self._patience_s


def looks(policy: BatchPolicy) -> Iterator[float]:
    """Seconds between two looks at a batch: growing, without end."""
    pause_s = policy.poll_first_s
    while True:
        yield pause_s
        pause_s = min(max(policy.poll_longest_s, policy.poll_first_s), pause_s * _GROWTH)
