"""Decide when everybody waits: when nobody is let through any more.

When nearly all of the latest calls are refused, and so many in a row that chance does not explain it, one call after
the other tries whether it is over: after the time that the provider named, or ever less often.
"""

from collections import deque

from batchwork.core.sent_calls import SentCalls

_IN_A_ROW = 4
_NEARLY_ALL = 0.9
_FIRST_S, _LONGEST_S = 0.25, 5.0


class Outage:
    """Watches for one."""

    def __init__(self, log: SentCalls) -> None:
        self._log = log
        self._turned_away: deque[float] = deque()  # when those were sent that were refused
        self.in_a_row = 0
        self._wait_s = _FIRST_S
        self._until = float("-inf")
        self.is_on, self.began_at = False, float("-inf")

    def forget(self, now: float) -> None:
        """The provider's limits are known now: refusals of calls that were sent before say no more than they do."""
        self._until = max(self._until, now)
        self.let_through()

    def let_through(self) -> None:
        """A call was answered, or at least not refused."""
        self.in_a_row = 0
        self._wait_s = _FIRST_S
        self.is_on = False

    def refused(self, *, sent_at: float, now: float, retry_after_s: float | None) -> float | None:
        """A call was refused; how long nobody starts another one, or None."""
        self.in_a_row += 1
        away, times = self._turned_away, self._log.times
        away.append(sent_at)
        while away[0] < times[0]:
            away.popleft()
            if not away:
                break
        if sent_at < self._until:
            return None
        if not self.is_on and (self.in_a_row < _IN_A_ROW or len(away) < _NEARLY_ALL * len(times)):
            return None
        if retry_after_s is None:
            pause_s, self._wait_s = self._wait_s, min(_LONGEST_S, 2.0 * self._wait_s)
        else:
            pause_s = retry_after_s
        self._until = now + pause_s
        if not self.is_on:
            self.is_on, self.began_at = True, now
        return pause_s
