"""Guess a request rate that the provider bears, when it says "too fast" and nothing else.

What is refused beyond the noise says how much too fast we were (`core/refusals.py`). The first guess grows fast until
it is refused in its turn. From then on a guess grows slowly at first, since the limit is near, and ever faster the
longer nothing is refused, since the limit may have moved. The smaller of two guesses grows by the larger share, so that
those who share a limit without knowing of each other come to share it evenly.
"""

from math import sqrt

from batchwork.core.refusals import Adjustment, Refusals, SentCalls

_BELOW = 0.97  # of what was let through: that included a little of the provider's burst
_FEW = 0.5  # when fewer are let through, how many were is all that is known
_BURST_S = 0.25  # what was let through then is mostly the provider's burst: it is worth so much time at least
_LEAST_PER_S = 0.5
_LITTLE_LESS = 0.94
_REGROWN = 0.97  # of a guess before it was cut
_LEAST_STEP = 4.0  # calls per second that a first guess grows by in a second, however small it is
_GROWTH_PER_S, _MOST_SLOWLY = 0.03, 0.006  # of the square root of the guess; and at most so much of it
_SLOWLY_S, _DOUBLES_S = 3.0, 1.5  # slow growth lasts so long, then doubles in so long
_FASTEST_PER_S = 0.25
_PROBING_PER_S = 0.2  # until the first guess has been refused in its turn


class Pace:
    """The rate per second that seems to be allowed; None while nothing says that there is a limit."""

    def __init__(self, log: SentCalls) -> None:
        self._log = log
        self._refusals = Refusals(log)
        self.guess: float | None = None  # as it was when it last changed; `per_s` says what has grown out of it
        self._previous: float | None = None  # the guess before the last cut
        self._sent_per_s, self._sent_of_late = 0.0, 0
        self._probing = True
        self._changed_at = float("-inf")

    def refused(self, *, sent_at: float, now: float) -> None:
        """A call was refused for being too fast."""
        if self._previous is not None and (self.per_s(now) or 0.0) >= _REGROWN * self._previous:
            self._refusals.conclude()
        adjustment = self._refusals.refused(sent_at=sent_at, now=now)
        if adjustment is Adjustment.TAKE_BACK:
            self.guess, self._changed_at, self._probing = self._previous, now, True
        elif adjustment is Adjustment.CUT:
            self._previous = self.per_s(now)
            self._probing = self._previous is None
            self._sent_per_s, self._sent_of_late = self._log.per_s(now), len(self._log.times)
            self._changed_at = now
            self._lower()
        elif adjustment is Adjustment.LOWER:
            self.guess = max(_LEAST_PER_S, (self.per_s(now) or 0.0) * _LITTLE_LESS)
            self._changed_at, self._probing = now, False
        elif adjustment is Adjustment.DEEPEN:
            self._changed_at = now
            self._lower()

    def _lower(self) -> None:
        kept = self._refusals.kept
        rate = self._sent_per_s if self._previous is None or kept < _FEW else self._previous
        if self._previous is None and kept < _FEW and not self._refusals.is_deep:
            rate = min(rate, self._sent_of_late / _BURST_S)
        self.guess = max(_LEAST_PER_S, rate * kept * _BELOW)

    def per_s(self, now: float) -> float | None:
        """The rate to keep now."""
        if self.guess is None:
            return None
        waited = now - self._changed_at
        if self._probing:
            return self.guess + max(_PROBING_PER_S * self.guess, _LEAST_STEP) * waited
        slowly = min(_MOST_SLOWLY, _GROWTH_PER_S / sqrt(self.guess))
        grown = slowly * min(waited, _SLOWLY_S)
        if waited > _SLOWLY_S:
            # The growth of e ** (rate * t) / rate, up to where it is as fast as it may be.
            rate = 0.6931 / _DOUBLES_S
            grown += slowly * (2.0 ** (min(waited - _SLOWLY_S, 15.0) / _DOUBLES_S) - 1.0) / rate
        return self.guess * (1.0 + min(grown, _FASTEST_PER_S * waited))
