"""Decide whether more is refused when more is sent: the level is doubled for a while, and again as long as it is not.

Two explanations are weighed call by call (Wald's sequential test): the share that is refused is the same as before, or
it has risen as it would if the doubled level were beyond a limit that others may share. A large share is compared a
second time, back at the lower level: others who were refused as well may have slowed down meanwhile, and hidden a rise.

| stage                 | what is refused              | next                                          |
|-----------------------|------------------------------|-----------------------------------------------|
| doubled               | more than before             | over: `ROSE`                                  |
| doubled               | as much, and that is little  | `SAME`; the caller may double again           |
| doubled, first time   | as much, and that is a lot   | back at the lower level                       |
| back                  | much less than while doubled | over: `ROSE`, seen from the other side        |
| back                  | as much                      | doubled twice; no second comparison from here |
"""

from enum import Enum
from math import log

from batchwork.core.sent_calls import SentCalls, Tally

_RISE = 0.2  # of what was let through: refused in addition, when a doubled level is too much
_FALL = 0.4  # of the share while doubled: what is left of it at the lower level, if that was too much
_ROSE, _FELL, _SAME = log(20.0), log(20.0), -log(8.0)  # how much likelier one explanation must be than the other
_LEAST_SENT, _BEYOND = 25, 2.0  # calls before a share counts as the same: a burst may hide a rise; beyond `began` more
_MANY, _LOT = 3, 0.04  # refusals while doubled, and their share: so much is compared twice
_LONGEST_BACK = 100  # calls: what does not show in them is no rise worth the time
_LEAST_SHARE, MOST_NOISE = 0.005, 0.4  # while more than that is refused, it is not noise alone


class Finding(Enum):
    """What a trial says so far."""

    OPEN = "open"
    SAME = "same"
    ROSE = "rose"


class Trial:
    """A level above `base`, until it is known whether more is refused there."""

    def __init__(self, log: SentCalls, *, base: float, began: float, before: Tally, now: float) -> None:
        self._log = log
        self.base = base  # the highest level that is known to be no worse than those below
        self._began = began  # the level at which refusals began
        self.sent, self.refused = before.sent, before.refused  # all calls that are compared
        self._is_back = self._is_sure = False
        self._enter(2.0 * base, now)

    def _enter(self, level: float, now: float) -> None:
        self.level, self.at, self.stage = level, now, Tally(self._log)

    def double(self, now: float) -> None:
        """Go on: the level is no worse."""
        self.base = self.level
        self._enter(2.0 * self.level, now)

    def look(self, now: float, *, answer_s: float) -> Finding:
        """What is known now, where a refusal takes `answer_s` to arrive."""
        stage = self.stage
        # Of the latest calls no refusal can be here yet.
        known = stage.sent * (1.0 - min(1.0, answer_s / max(now - self.at, 1e-9)))
        through = max(0.0, known - stage.refused)
        usual = min(MOST_NOISE, max(_LEAST_SHARE, self.refused / max(1, self.sent)))
        other = _FALL * usual if self._is_back else usual + _RISE * (1.0 - usual)
        evidence = stage.refused * log(other / usual) + through * log((1.0 - other) / (1.0 - usual))
        if evidence > (_FELL if self._is_back else _ROSE):
            return Finding.ROSE
        is_long = self._is_back and known >= _LONGEST_BACK
        if known < self._least_sent or (evidence > _SAME and not is_long):
            return Finding.OPEN
        self.sent, self.refused = self.sent + stage.sent, self.refused + stage.refused
        if self._is_back:
            self._is_back, self._is_sure = False, True
            self.base *= 2.0
            self._enter(2.0 * self.base, now)
            return Finding.OPEN
        if stage.refused >= _MANY and stage.share >= _LOT and not self._is_sure:
            self._is_back = True
            self._enter(self.base, now)
            return Finding.OPEN
        return Finding.SAME

    @property
    def _least_sent(self) -> float:
        return 0.0 if self._is_back else _LEAST_SENT * (_BEYOND if self.level > self._began else 1.0)
