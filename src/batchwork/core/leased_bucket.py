"""Decide from leased stretches of a shared rate when a call may start. Pure: the caller brings `now`.

A stretch is released evenly from its beginning to its end, so that the calls of all processes are spaced as those of
one would be. What a call was estimated to use and did not is used again here, or given back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from batchwork.core.lease import RateAnswer, RateReport, whole

_BURST_S = 0.1  # so much of the rate may be made up for here, after a timer that fired late: a whole stretch
_LEAST_BURST = 2.0
_CREDIT_S = 1.0  # unused tokens of so many seconds are kept for the next calls
_ANSWER_S = 1.0  # whoever asked looks again after so long, unless the answer has come before
_ROUNDING = 1e-6


class LeasedBucket:
    """What this process may use of a rate that others share; filled by `answered`, not by time alone."""

    def __init__(self, *, kind: str, per_s: float, on_short: Callable[[], None]) -> None:
        self.kind = kind
        self.per_s = per_s
        self.is_away = False
        self._since = float("inf")  # its first stretch: what was taken before was not taken from it
        self._on_short = on_short
        self._stretches: deque[tuple[float, float, float]] = deque()  # from, to, amount: what is not released yet
        self._free = 0.0  # released and not taken; below 0: taken ahead of its release
        self._credit = 0.0  # taken and not used; below 0: used and not taken
        self._short = 0.0  # the most that did not fit since the last answer
        self._typical = 1.0  # of the last call

    @property
    def capacity(self) -> float:
        """How much may leave at once."""
        return max(_LEAST_BURST, self.per_s * _BURST_S)

    def level(self, now: float) -> float:
        """What may leave now; negative while in debt."""
        while self._stretches:
            begin, end, amount = self._stretches[0]
            if now <= begin:
                break
            released = amount if now >= end else amount * (now - begin) / (end - begin)
            self._free += released
            self._stretches.popleft()
            if released < amount:
                self._stretches.appendleft((now, end, amount - released))
                break
        self._free = min(self._free, self.capacity)
        return self._free + self._credit

    def _ahead(self) -> float:
        return sum(amount for _, _, amount in self._stretches)

    def held(self, now: float) -> float:
        """All that may still leave, now or as it is released."""
        return self.level(now) + self._ahead()

    def wait_for(self, amount: float, now: float) -> float:
        """Seconds until `amount` may leave; 0 when it may now."""
        if self.is_away:
            return _ANSWER_S
        level = self.level(now)
        if level + self._ahead() < amount - _ROUNDING * amount:
            self._short = max(self._short, amount)
            self._on_short()
            return _ANSWER_S
        short = min(amount, self.capacity) - level
        if short <= _ROUNDING * self.capacity:
            return 0.0
        for begin, end, released in self._stretches:
            if short <= released:
                return max(0.0, begin + (end - begin) * short / released - now)
            short -= released
        return self._stretches[-1][1] - now if self._stretches else 0.0

    def take(self, amount: float, now: float) -> None:
        """Let `amount` leave."""
        self.level(now)
        credit = max(0.0, min(self._credit, amount))
        self._credit -= credit
        self._free -= amount - credit
        self._typical = amount
        if self.held(now) < self.per_s * _BURST_S:
            self._on_short()

    def correct(self, estimated: float, actual: float, now: float, *, taken_at: float) -> None:
        """Replace an estimate that was taken by what was really used; what left before the first took nothing."""
        if taken_at >= self._since:
            self.level(now)
            self._credit = min(self.per_s * _CREDIT_S, self._credit + estimated - actual)

    def report(self, now: float, *, waiting: int, stretch_s: float) -> RateReport | None:
        """What to ask of the shared rate while so many calls wait, or to give back; None: nothing."""
        if waiting or self._short:
            held, stretch = self.held(now), self.per_s * stretch_s
            missing, useful = self._short - held, min(stretch, waiting * self._typical)
            if missing <= 0.0 and held >= min(stretch / 2.0, useful):
                return None
            return RateReport(kind=self.kind, amount=whole(self.kind, max(missing, useful)))
        if self._credit >= self._typical:
            credit, self._credit = self._credit, 0.0
            return RateReport(kind=self.kind, returned=credit)
        return None

    def answered(self, answer: RateAnswer, now: float) -> None:
        """Take in a stretch, and the rate as it is now."""
        self.level(now)
        self.per_s = answer.per_s
        self._short = 0.0
        if answer.amount > 0.0:
            self._since = min(self._since, now)
            begin = now + answer.wait_s
            self._stretches.append((begin, begin + answer.amount / answer.per_s, answer.amount))
