"""Guess a request rate that the provider bears, when it says "too fast" and nothing else.

The guess starts from what was let through in the last second, which says little when the calls had just begun to come:
so it grows fast until it is refused again. From then on it is lowered once per refusal episode and grows slowly, and
keeps hovering just below a limit that nobody has stated.
"""

from __future__ import annotations

from collections import deque

_SPAN_S = 1.0  # how far back the calls that were let through are counted
_SHORTEST_SPAN_S = 0.25  # a shorter history would make any rate look huge
_START = 0.9  # of what was let through: that included the provider's burst
_CUT = 0.95  # of what the guess was a second before: it takes so long until a guess that is too high is refused
_GROWTH_PER_S = 0.002  # from a cut back to the limit in about half a minute: every refusal costs a second
_PROBING_PER_S = 0.2  # until the first guess has been refused in its turn
_SETTLE_S = 1.0  # refusals of calls sent so soon after a change still belong to what was before it


class Pace:
    """The rate per second that seems to be allowed; None until the first refusal."""

    __slots__ = ("_changed_at", "_growth", "_guess", "_let_through")

    def __init__(self) -> None:
        self._let_through: deque[float] = deque()
        self._guess: float | None = None
        self._growth = _GROWTH_PER_S
        self._changed_at = float("-inf")

    def sent(self, now: float) -> None:
        """A call was sent."""
        sent = self._let_through
        sent.append(now)
        while sent[0] < now - _SPAN_S:
            sent.popleft()

    def refused(self, *, sent_at: float, now: float) -> None:
        """A call was refused for being too fast."""
        if self._let_through:
            self._let_through.pop()  # it was not let through; which one is gone does not matter for the count
        if self._guess is not None and sent_at < self._changed_at + _SETTLE_S:
            return
        count = len(self._let_through)
        span = max(_SHORTEST_SPAN_S, now - self._let_through[0]) if count else _SPAN_S
        let_through = max(1, count) / span
        if self._guess is None:
            self._guess = let_through * _START
            self._growth = _PROBING_PER_S
        else:
            self._guess = min(self._grown(now - _SETTLE_S) * _CUT, max(let_through, 1.0))
            self._growth = _GROWTH_PER_S
        self._changed_at = now

    def per_s(self, now: float) -> float | None:
        """The rate to keep now."""
        return None if self._guess is None else self._grown(now)

    def _grown(self, now: float) -> float:
        assert self._guess is not None
        return self._guess * (1.0 + self._growth * (now - self._changed_at))
