"""Decide whether refusals are our own doing: do they become rarer when we send less?

A provider that limits us refuses what goes beyond its limit, so the share that is refused says by how much we are too
fast, and sending that much less ends it. A shared key, or a gateway that passes on what its upstream says, refuses a
share of everything, however little we send: slowing down is useless then, and would never end. So every cut is an
experiment. When the share is the same after it as before, the cut is taken back, and that share counts as noise.

| state              | a refusal, and what is known with it        | adjustment                        |
|--------------------|---------------------------------------------|-----------------------------------|
| steady             | no larger a share of late than noise has    | NOTHING                           |
| steady             | a larger share                              | CUT: an experiment begins         |
| first cut watched  | the call was sent shortly before the cut    | DEEPEN, by the larger share       |
| first cut watched  | the share is what it was before the cut     | DEEPEN, to a fixed part           |
| second cut watched | the share is still what it was before       | TAKE_BACK: noise, steady again    |
| either cut watched | few so far, or a share as noise may have it | LOWER, at most once a second      |
| either cut watched | a far larger share than before              | as when steady                    |
| either cut watched | far fewer than had it not helped            | as when steady, which it is now   |
| any                | the call was sent before the last change    | NOTHING, but for the DEEPEN above |
"""

from collections import deque
from enum import Enum
from math import sqrt

_SPAN_S = 1.0  # how far back calls are counted for the share at this moment
_SHORTEST_SPAN_S = 0.05  # a shorter history would make any rate look huge
_PRIOR = 10  # calls that were let through, imagined: one refusal among few says little
_MOST_NOISE = 0.3  # whoever refuses more than that at once does not do so at random
_SAME = 3.0  # shares that differ by less than this factor may be one and the same
_FEWEST = 3  # refusals before anything is concluded from a share
_FEWEST_DEEP = 5  # the same after the second cut: what follows from it is graver
_FEWEST_SENT = 15
_EXPECTED = 8  # refusals that would have come had a cut not helped: without a quarter of them it has
_LITTLE = 0.05  # what one refusal or two are worth, and the least that a cut takes away
_DEEP, _DEEPER, _MANY = 0.5, 0.25, 0.05  # what a second cut leaves, and where more than _MANY were refused: others may
# have a part in it, so that a small cut shows nothing
_SETTLE_S = 1.0  # between two steps down
_BLOCK, _IN_BLOCK = 200, 10  # calls after which the noise is counted anew, and refusals expected among them


class Adjustment(Enum):
    """What a refusal means for how much we send."""

    NOTHING = "nothing"  # it is noise, or known already
    CUT = "cut"
    LOWER = "lower"  # a little more than the last cut
    DEEPEN = "deepen"  # the last cut: calls sent before it were refused as well
    TAKE_BACK = "take back"  # the last cut: it did not help


class SentCalls:
    """How many calls were sent, and when, of late. One for all kinds of refusals: every call comes this way."""

    def __init__(self) -> None:
        self.count = 0
        self.times: deque[float] = deque()

    def add(self, now: float) -> None:
        """A call was sent."""
        self.count += 1
        times = self.times
        times.append(now)
        while times[0] < now - _SPAN_S:
            times.popleft()

    def per_s(self, now: float) -> float:
        """How fast."""
        return len(self.times) / max(_SHORTEST_SPAN_S, now - self.times[0]) if self.times else 0.0


class Refusals:
    """The refusals of one kind, against the calls that were sent."""

    def __init__(self, log: SentCalls) -> None:
        self._log = log
        self._turned_away: deque[float] = deque()  # when those of them were sent that were refused
        self._changed_at = self._lowered_at = float("-inf")
        self._counted_from = self._refused = 0  # the first call after the last cut, and the refused since
        self._cut_of = self._cut_refused = 0  # the calls that the last cut was made for, and the refused among them
        self.is_deep = False  # it was not enough, and is much deeper now
        self._known = 0.0  # the share before it, where there were enough calls to tell
        self._before: float | None = None  # the share before the last cut, while its effect is watched
        self._noise = 0.0
        self._block_from = self._block_refused = 0  # the calls that noise is counted among, and the refused of them

    def refused(self, *, sent_at: float, now: float) -> Adjustment:
        """A call was refused. After `CUT` and `DEEPEN`, `kept` says what to keep."""
        self._conclude_if_helped()
        self._count_noise_anew()
        away = self._turned_away
        away.append(sent_at)
        while away and away[0] < now - _SPAN_S:
            away.popleft()
        self._block_refused += 1
        if sent_at < self._changed_at:
            return self._of_earlier_call(sent_at)
        self._refused += 1
        return self._watched(now) or self._steady(now)

    def _of_earlier_call(self, sent_at: float) -> Adjustment:
        """A call was refused that was sent before the last change: it belongs to what the cut was made for."""
        if self._before is None or self.is_deep or sent_at < self._changed_at - _SPAN_S:
            return Adjustment.NOTHING
        self._cut_refused += 1
        self._before = max(self._before, self._cut_refused / self._cut_of)
        return Adjustment.DEEPEN

    def _watched(self, now: float) -> Adjustment | None:
        """What a refusal says about the last cut; None when no cut is watched, or it was far from enough."""
        if self._before is None:
            return None
        share, sent = self._refused / self._sent, self._sent
        enough = _FEWEST_DEEP if self.is_deep else _FEWEST
        if sent >= _FEWEST_SENT and self._refused >= enough and self._is_same(share, sent):
            if not self.is_deep:
                self.is_deep = True
                self._restart(now, max(share, self._before))
                return Adjustment.DEEPEN
            self._noise = max(self._noise, share)
            self._begin_block()
            self._restart(now, None)
            return Adjustment.TAKE_BACK
        if self._refused >= _FEWEST and share > min(_MOST_NOISE, _SAME * self._before):
            return None
        if now < self._lowered_at + _SETTLE_S:
            return Adjustment.NOTHING
        self._lowered_at = now
        return Adjustment.LOWER

    def _steady(self, now: float) -> Adjustment:
        """What a refusal says about the calls of this moment."""
        recent, refused = len(self._log.times), len(self._turned_away)
        if refused / (recent + _PRIOR) <= self._usual(recent):
            return Adjustment.NOTHING
        self._cut_of, self._cut_refused = max(1, recent), refused
        lasting, latest = self._refused / self._sent, refused / self._cut_of
        self._known = lasting if self._sent >= _PRIOR else 0.0
        self.is_deep = False
        self._restart(now, latest if latest > _MOST_NOISE else lasting)
        return Adjustment.CUT

    @property
    def _sent(self) -> int:
        """Calls since the last change, one at least."""
        return max(1, self._log.count - self._counted_from)

    def _conclude_if_helped(self) -> None:
        """End the experiment when far fewer calls were refused than would have been, had the cut not helped."""
        if self._before is None:
            return
        expected = (self._log.count - self._counted_from) * self._before
        if expected >= _EXPECTED and self._refused < expected * (0.25 if expected < 2 * _EXPECTED else 0.35):
            self._before = None

    def _count_noise_anew(self) -> None:
        """Replace the share that counts as noise by that of the latest calls, once there were enough of them."""
        block = self._log.count - self._block_from
        if self._noise and block >= max(_BLOCK, _IN_BLOCK / self._noise):
            share = self._block_refused / block
            self._noise = share if share <= _MOST_NOISE else 0.0
            self._begin_block()

    def _begin_block(self) -> None:
        self._block_from, self._block_refused = self._log.count, 0

    def conclude(self) -> None:
        """We send as much as before the last cut again: what is refused from now on says nothing about it."""
        self._before = None

    def _is_same(self, share: float, sent: int) -> bool:
        """Whether the share is what it was before the cut, and no larger than noise is."""
        assert self._before is not None
        least = 0.5 if sent * self._before < 2 * _EXPECTED else 0.35
        return max(share, self._before) <= _MOST_NOISE and self._before * least <= share <= _SAME * self._before

    def _usual(self, count: int) -> float:
        """The share that noise may have among so many calls."""
        return self._noise + 2.5 * sqrt(self._noise * (1.0 - self._noise) / (count + _PRIOR))

    def _restart(self, now: float, before: float | None) -> None:
        self._changed_at = self._lowered_at = now
        self._before = before
        self._counted_from, self._refused = self._log.count, 0

    @property
    def kept(self) -> float:
        """The share of what we sent that was let through before the last cut, but for the noise."""
        if self.is_deep:
            return _DEEP if (self._before or 0.0) < _MANY else _DEEPER
        if self._cut_refused < _FEWEST:
            return 1.0 - _LITTLE
        return 1.0 - max(_LITTLE, max(self._known, self._cut_refused / (self._cut_of + 2)) - self._noise)
