"""Decide how many calls may be in flight: wide from the start, cut when the provider is overloaded, grown by answers.

Every answer adds one, up to the most. A cut is as large as the share that was refused, is taken back if it does not
help (`core/refusals.py`), and grows back by one per window of answers.
"""

from batchwork.core.refusals import Adjustment, Refusals, SentCalls

_FEW = 4.0  # after a pause for a quota
_MOST_CUT = 0.7


class AdaptiveWindow:
    """The concurrency that the provider has shown it bears, at most `most`."""

    def __init__(self, most: int, *, opening: int | None = None) -> None:
        self.most = most
        self._size = float(most if opening is None else min(opening, most))
        self._grows_fast_to = float(most)
        self._refusals = Refusals(SentCalls())
        self._previous = self._cut_from = self._size

    def watch(self, log: SentCalls) -> None:
        """Measure refusals against these calls."""
        self._refusals = Refusals(log)

    @property
    def size(self) -> int:
        """How many calls may be in flight now."""
        return int(self._size)

    def limits_known(self) -> None:
        """The provider's limits are known now: pacing takes over, the caution of the start ends."""
        if self._grows_fast_to == self.most:
            self._size = float(self.most)

    def answered(self) -> None:
        """A call was answered."""
        if self._size < self.most:
            step = 1.0 if self._size < self._grows_fast_to else 1.0 / self._size
            self._size = min(float(self.most), self._size + step)

    def refused(self, *, sent_at: float, now: float, in_flight: int) -> None:
        """A call was refused because the provider is overloaded."""
        adjustment = self._refusals.refused(sent_at=sent_at, now=now)
        if adjustment is Adjustment.TAKE_BACK:
            self.take_back()
        elif adjustment is Adjustment.CUT:
            self._previous, self._cut_from = self._size, min(self._size, float(in_flight))
        if adjustment in (Adjustment.CUT, Adjustment.DEEPEN):
            self._size = self._grows_fast_to = max(1.0, self._cut_from * max(_MOST_CUT, self._refusals.kept))

    def take_back(self) -> None:
        """The last cut was in vain: concurrency was not what was wrong."""
        self._size = max(self._size, self._previous)

    def restart(self) -> None:
        """Everybody waits for the end of a quota: a few go first then."""
        self._grows_fast_to = self._size
        self._size = min(_FEW, self._size)
