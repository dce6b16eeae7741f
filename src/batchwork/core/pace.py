"""Guess a request rate that the provider bears, when it says "too fast" and nothing else.

Every refusal takes a step away (`core/refusals.py`), every call that is let through gives a little back, so that a
small share of refusals is left over. Whoever sends less bears a larger share: so those who share a limit without
knowing of each other come to share it evenly. The first guess grows fast until it is refused in its turn; a guess that
is not refused as often as that share says grows ever faster, since the limit may have moved.
"""

from math import exp

from batchwork.core.refusals import Refusals
from batchwork.core.sent_calls import SentCalls

_STEP = 0.1
_BORNE_PER_S = 0.13  # refusals per second at which a rate neither grows nor falls,
_LEAST_BORNE, _MOST_BORNE = 0.005, 0.05  # and what share of all calls they are at least and at most
_BURST_S = 0.35
_LEAST_PER_S = 0.5
_FIRST_PER_S, _FIRST_STEP = 0.2, 8.0  # growth of a first guess in a second, and in calls per second at least
_SLOWLY, _DOUBLES = 1.5, 0.75  # refusals that should have come: slow growth lasts so long, then doubles in so long
_FASTEST_PER_S = 0.25
_MOST_GROWN = 2.0  # as a natural logarithm
_ABOVE = 1.5  # of what is sent: a guess that is no bound is lowered to that before it is cut
_KNOWN = 10  # calls after which it is known whether a guess is a bound


class Pace:
    """The rate per second that seems to be allowed; None while nothing says that there is a limit."""

    def __init__(self, log: SentCalls) -> None:
        self._log = log
        self._refusals = Refusals(log, step=_STEP, least=_LEAST_PER_S, burst_s=_BURST_S)
        self._bound_at = float("-inf")

    @property
    def guess(self) -> float | None:
        """The rate as it was when it last changed; `per_s` says what has grown out of it."""
        return self._refusals.level

    @property
    def _is_bound(self) -> bool:
        """Whether anybody had to wait for the guess since it last changed."""
        return self._bound_at >= self._refusals.changed_at

    def delayed(self, now: float) -> None:
        """A call has to wait for the guess."""
        self._bound_at = now

    def refused(self, *, sent_at: float, now: float) -> None:
        """A call was refused for being too fast."""
        rate, sent_per_s = self.per_s(now), self._log.per_s(now)
        if rate is None:
            rate = sent_per_s
        elif not self._is_bound and self._refusals.since.sent >= _KNOWN:
            rate = max(_LEAST_PER_S, min(rate, _ABOVE * sent_per_s))
        self._refusals.refused(rate, sent_at=sent_at, now=now)

    def per_s(self, now: float) -> float | None:
        """The rate to keep now."""
        refusals = self._refusals
        if refusals.trial is not None:
            refusals.look(now, is_bound=self._is_bound)
        level = refusals.level
        if level is None or refusals.trial is not None:
            return level
        waited = now - refusals.changed_at
        if refusals.is_first:
            return level + max(_FIRST_PER_S * level, _FIRST_STEP) * waited
        missing = refusals.since.sent * min(_MOST_BORNE, max(_LEAST_BORNE, _BORNE_PER_S / level))
        grown = min(missing, _SLOWLY)
        if missing > _SLOWLY:
            # The integral of a growth that doubles every so often.
            grown += _DOUBLES / 0.6931 * (2.0 ** (min(missing - _SLOWLY, 15.0) / _DOUBLES) - 1.0)
        return level * exp(min(_STEP * grown, _FASTEST_PER_S * waited, _MOST_GROWN))
