"""Guess a request rate that the provider bears, when it says "too fast" and nothing else.

Every refusal takes a little away (`core/refusals.py`), every call that is let through gives a little back, so that a
small share of refusals is left over. The first guess grows fast until it is refused in its turn; a guess that has long
not been refused grows ever faster, since the limit may have moved.
"""

from math import exp, inf, sqrt

from batchwork.core.refusals import STEP, Refusals, SentCalls

_TOLERATED, _LEAST_TOLERATED, _MOST_TOLERATED = 0.06, 0.005, 0.05
_BURST_S = 0.25
_LEAST_PER_S = 0.5
_LEAST_STEP = 4.0  # calls per second that a first guess grows by in a second, however small it is
_SLOWLY, _DOUBLES = 1.5, 0.75  # refusals that should have come: slow growth lasts so long, then doubles in so long
_FASTEST_PER_S = 0.25
_MOST_GROWN = 2.0  # natural logarithm
_BEYOND = 1.5  # of what is sent: a guess beyond that is no bound
_KNOWN = 10  # calls after which it is known whether a guess is a bound
_FIRST_PER_S = 0.2  # until the first guess has been refused in its turn


class Pace:
    """The rate per second that seems to be allowed; None while nothing says that there is a limit."""

    def __init__(self, log: SentCalls) -> None:
        self._log = log
        self._refusals = Refusals(log, least=_LEAST_PER_S, burst_s=_BURST_S)
        self.binds = False  # somebody had to wait for it since the last change

    @property
    def guess(self) -> float | None:
        """As it was when it last changed; `per_s` says what has grown out of it."""
        return self._refusals.level

    def refused(self, *, sent_at: float, now: float) -> None:
        """A call was refused for being too fast."""
        guess = self.per_s(now)
        if guess is None:
            guess = self._log.per_s(now)
        elif not self.binds and self._refusals.since.sent >= _KNOWN:
            guess = max(_LEAST_PER_S, min(guess, _BEYOND * self._log.per_s(now)))
        self._refusals.refused(guess, sent_at=sent_at, now=now)
        if self._refusals.changed_at == now:
            self.binds = False

    def per_s(self, now: float) -> float | None:
        """The rate to keep now."""
        refusals = self._refusals
        if refusals.level is not None and refusals.is_trial:
            refusals.conclude(now, most=inf if self.binds else 0.0)
            if refusals.changed_at == now:
                self.binds = False
        if refusals.level is None or refusals.is_trial:
            return refusals.level
        waited = now - refusals.changed_at
        if refusals.is_first:
            return refusals.level + max(_FIRST_PER_S * refusals.level, _LEAST_STEP) * waited
        missing = refusals.since.sent * tolerated(refusals.level)
        grown = STEP * min(missing, _SLOWLY)
        if missing > _SLOWLY:
            grown += STEP * _DOUBLES / 0.6931 * (2.0 ** (min(missing - _SLOWLY, 15.0) / _DOUBLES) - 1.0)
        return refusals.level * exp(min(grown, _FASTEST_PER_S * waited, _MOST_GROWN))


def tolerated(per_s: float) -> float:
    """The share of refusals at which a rate neither grows nor falls.

    Whoever sends less bears a little more: so those who share a limit come to share it evenly.
    """
    return min(_MOST_TOLERATED, max(_LEAST_TOLERATED, _TOLERATED / sqrt(max(per_s, 1e-9))))
