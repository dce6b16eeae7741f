"""Decide how many calls may be in flight: full from the start, cut when refused, grown back by answers.

One cut per refusal episode: the refusals of calls that were sent before the cut are echoes of
the same mistake. Growth is additive (one more per window of answers) except in slow start, where every answer adds one
up to a threshold: at the beginning with a provider whose limits are not known, and after a
pause that the provider asked for, so that no herd follows it.
"""

from __future__ import annotations

_CUT = 0.7
_FIRST = 4.0


class AdaptiveWindow:
    """The concurrency that the provider has shown it bears, at most `most`."""

    __slots__ = ("_cut_at", "_size", "_slow_start_to", "most")

    def __init__(self, most: int, *, slow_start: bool = False) -> None:
        self.most = most
        self._slow_start_to = float(most) if slow_start else 0.0
        self._size = min(_FIRST, float(most)) if slow_start else float(most)
        self._cut_at = float("-inf")

    @property
    def size(self) -> int:
        """How many calls may be in flight now."""
        return int(self._size)

    def limits_known(self) -> None:
        """The provider's limits are known now: pacing takes over, the caution of the start ends."""
        if self._cut_at == float("-inf"):
            self._size = float(self.most)

    def answered(self) -> None:
        """A call was answered."""
        if self._size < self.most:
            step = 1.0 if self._size < self._slow_start_to else 1.0 / self._size
            self._size = min(float(self.most), self._size + step)

    def refused(self, *, sent_at: float, now: float, in_flight: int, paused: bool, paced: bool) -> bool:
        """A call was refused; whether this began a new episode and cut the window.

        `paused` says that the provider named a time to wait: everybody waits, then starts slowly. `paced` says that
        the rate of starts is held down elsewhere: then the window may grow back as fast as answers come.
        """
        if sent_at <= self._cut_at:
            return False
        self._cut_at = now
        cut = max(1.0, min(self._size, float(in_flight)) * _CUT)
        self._size = min(_FIRST, cut) if paused and not paced else cut
        self._slow_start_to = float(self.most) if paced else cut if paused else 0.0
        return True
