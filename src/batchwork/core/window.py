"""Decide how many calls may be in flight: wide from the start, cut when the provider is overloaded, grown by answers.

Every answer adds one, up to the most. A cut is as large as the share that was refused, is taken back if it does not
help (`core/refusals.py`), and grows back by one per window of answers. Before anything is answered, one that is refused
for being too fast leaves its place empty: the first wave is one window, not a stream.
"""

from batchwork.core.refusals import Refusals
from batchwork.core.sent_calls import SentCalls

_FEW = 4.0  # after a pause for a quota
_STEP, _MOST_CUT = 0.05, 0.3


class AdaptiveWindow:
    """The concurrency that the provider has shown it bears, at most `most`."""

    def __init__(self, most: int, *, opening: int | None = None) -> None:
        self.most = most
        self._size = float(most if opening is None else min(opening, most))
        self._grows_fast_to = float(most)
        self._uncut = self._size
        self._empty: int | None = 0  # places that the first wave leaves empty; None: it is over
        self.watch(SentCalls())

    def watch(self, log: SentCalls) -> None:
        """Measure refusals against these calls."""
        self._log = log
        self._refusals = Refusals(log, step=_STEP, least=1.0, most_cut=_MOST_CUT)

    @property
    def size(self) -> int:
        """How many calls may be in flight now."""
        return int(self._size) - (self._empty or 0)

    def leave_empty(self) -> int:
        """A call was refused for being too fast: its place stays empty until the first wave is over. How many do."""
        if self._empty is None:
            return 0
        self._empty += 1
        return self._empty

    def end_first_wave(self) -> None:
        """Something was answered, or enough time has gone by."""
        self._empty = None

    def limits_known(self) -> None:
        """The provider's limits are known now: pacing takes over, the caution of the start ends."""
        if self._grows_fast_to == self.most:
            self._size = float(self.most)

    def answered(self) -> None:
        """A call was answered."""
        self._empty = None
        if self._refusals.trial is not None:
            self._follow(self._log.times[-1])
        elif self._size < self.most:
            step = 1.0 if self._size < self._grows_fast_to else 1.0 / self._size
            self._size = min(float(self.most), self._size + step)

    def refused(self, *, sent_at: float, now: float, in_flight: int) -> None:
        """A call was refused because the provider is overloaded."""
        if self._refusals.level is None:
            self._uncut = self._size
        self._refusals.refused(min(self._size, float(in_flight)), sent_at=sent_at, now=now)
        self._follow(now)

    def _follow(self, now: float) -> None:
        """Take over what the refusals leave."""
        refusals = self._refusals
        if refusals.trial is not None:
            refusals.look(now, is_bound=refusals.trial.level < self._uncut)
        if refusals.level is None:
            self._size = max(self._size, self._uncut)
            self._grows_fast_to = float(self.most)
        else:
            self._size = self._grows_fast_to = min(float(self.most), refusals.level)

    def take_back(self, now: float) -> None:
        """The cuts were in vain: concurrency was not what was wrong."""
        self._refusals.free(now)
        self._follow(now)

    def restart(self) -> None:
        """Everybody waits for the end of a quota: a few go first then."""
        self._grows_fast_to = self._size
        self._size = min(_FEW, self._size)
