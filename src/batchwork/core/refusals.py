"""Decide whether refusals are our own doing: do they become rarer when we send less, and more when we send more?

A provider that limits us refuses what goes beyond its limit: less is refused when we send less. A shared key, or a
gateway that passes on what its upstream says, refuses a share of everything, however little we send: slowing down is
useless then, and would never end. So every refusal lowers the level (a rate in `core/pace.py`, a number of calls at
once in `core/window.py`), but when as many are refused at a much lower level, the level is doubled for a trial
(`core/trial.py`), and again, until more are refused. What a trial costs is bounded whoever is right, and no level is
so low that the way up from it is closed.

| state | what happens                                                 | next state, and level                      |
|-------|--------------------------------------------------------------|--------------------------------------------|
| free  | a call is refused, as noise explains                         | free                                       |
| free  | a call is refused, which noise does not explain              | held, lowered                              |
| held  | a call is refused                                            | held, lowered a little                     |
| held  | several in a row, or several sent before the last cut        | held, lowered by their share               |
| held  | much lower, and fewer are refused than before                | held; compared from here on                |
| held  | much lower, and as many are refused                          | trial, doubled                             |
| trial | more are refused                                             | held, at the last level where it was not so |
| trial | no more are refused                                          | trial, doubled again                       |
| trial | no more are refused, and more could not be sent anyway       | free; what was refused is noise            |
"""

from collections import deque
from math import sqrt

from batchwork.core.sent_calls import SPAN_S, SentCalls, Tally
from batchwork.core.trial import MOST_NOISE, Finding, Trial

_PRIOR = 10  # calls that were let through, imagined: one refusal among few says little
_MANY = 3  # refusals whose share says how much too much was sent
_IN_A_ROW = 0.3  # of the calls between: refusals that come so fast are one event
_FEW = 0.5  # of a round: when fewer are let through, how many they were is all that is known
_CERTAIN = 8  # refusals, when they are the most of a round: a limit
_BELOW = 0.97  # of what was let through: that included a little of the provider's burst
_OPENING_S = 0.5  # after the first refusal: what is refused until then has been so by the same wave
_LOW, _AGAIN = 0.6, 0.97  # of the level where refusals began: a much lower one, and the same again
_LOWEST = 0.5  # of the much lower level, until something is concluded there: from a crawl there is no quick way up
_ENOUGH, _ENOUGH_SENT = 4, 25  # refusals and calls at the lower level before anything is concluded from their share
_MOST_ENOUGH = 32  # twice as many after every trial that was for nothing, up to this
_AS_MANY = 0.5  # of the share before
_SLOWEST_S = 0.5  # a call that was not refused in this time was let through
_LOOK_AGAIN = 100  # refusals after which noise may have become something else
_USUAL = 3.0  # standard deviations


class Refusals:
    """The level that the refusals of one kind leave, as it was when it last changed; None: no bound."""

    def __init__(
        self, log: SentCalls, *, step: float, least: float, most_cut: float = 1.0, burst_s: float | None = None
    ) -> None:
        self._log = log
        self.step = step  # what one refusal takes away
        self._least, self._most_cut = least, most_cut
        self._burst_s = burst_s  # what is let through of a first wave is worth so much time
        self.level: float | None = None
        self.trial: Trial | None = None
        self.is_first = False  # the level has not been found yet: it grows fast
        self.changed_at = self._free_until = float("-inf")
        self.since = Tally(log)  # the last change
        self._away: deque[float] = deque()  # when those of the last second were sent that were refused
        self._answer_s = 0.0  # how long a refusal takes to arrive
        self._cut_from = self._round_at = 0.0  # the level that was cut last, and since when its calls were sent
        self._round_sent = self._round_refused = 0  # those calls
        self._latest: deque[tuple[int, float]] = deque(maxlen=_MANY + 1)  # cuts: calls until then, and the level
        self._began, self._before = 0.0, self.since  # the comparison: a level, and the calls since
        self._low: Tally | None = None  # the calls at a much lower level
        self._low_from = self._low_at = 0.0
        self._enough = _ENOUGH
        self._noise_sent = self._noise_refused = self._noise_left = 0

    def refused(self, level: float, *, sent_at: float, now: float) -> None:
        """A call was refused; `level` is what has become of the level by now, or what is sent where there is none."""
        away = self._away
        away.append(sent_at)
        while away and away[0] < now - SPAN_S:
            away.popleft()
        self._answer_s = min(_SLOWEST_S, max(now - sent_at, 0.9 * self._answer_s))
        if sent_at < self.changed_at:
            self._refused_late(sent_at)
        elif self.trial is not None:
            self.trial.stage.refused += 1
        elif self.level is None:
            if not self._is_noise():
                self.is_first, self._free_until = True, now
                self._begin(level, of=len(self._log.times), refused=len(away))
                self._cut(level, len(self._log.times), len(away), now)
        else:
            self._refused_again(level, now)

    def _refused_again(self, level: float, now: float) -> None:
        recent = min(self.since.sent, len(self._log.times))
        self.is_first = self.is_first and now < self._free_until + _OPENING_S
        if level >= _AGAIN * self._began:
            self._begin(level, of=recent)
        elif self._low is None and level >= _AGAIN * self._cut_from:
            self._before = Tally(self._log, of=recent)  # the last cut has helped
        (self._low or self._before).refused += 1
        if self._low is not None and self._is_in_vain(level, now):
            return
        self._cut(level, recent, 1, now)

    def _refused_late(self, sent_at: float) -> None:
        """A call was refused that was sent before the last change: it belongs to what that cut was made for."""
        if self.level is None or self.trial is not None or not self._round_sent or sent_at < self._round_at:
            return
        self._round_refused += 1
        (self._low if self._low is not None and sent_at >= self._low_at else self._before).refused += 1
        self._lower()

    def _cut(self, level: float, sent: int, refused: int, now: float) -> None:
        self._cut_from, self._round_sent, self._round_refused = level, sent, refused
        self._round_at, self.level = self.changed_at, level
        self._lower()
        self._latest.append((self._log.count, level))
        if len(self._latest) > _MANY:
            count, was = self._latest[0]
            share = _MANY / (self._log.count - count + 2)
            if share > _IN_A_ROW and (kept := was * (1.0 - min(share, self._most_cut)) * _BELOW) < self.level:
                self.level = max(self._least, kept)
                self._latest.clear()
        if self._low is not None:
            self.level = max(self.level, _LOWEST * self._low_from)
        self._change(now)
        if self._low is None and self.level <= _LOW * self._began:
            self._enter_low(self.level, now)

    def _enter_low(self, level: float, now: float) -> None:
        self._low, self._low_from, self._low_at = Tally(self._log), level, now

    def _lower(self) -> None:
        """Lower the level by a step, or by the share of the round where that is more."""
        assert self.level is not None
        share = self.step
        if self._round_refused >= _MANY:
            share = max(share, self._round_refused / (self._round_sent + 2) - self._noise)
        kept, level = 1.0 - min(share, self._most_cut), self._cut_from
        if self._burst_s is not None:
            if kept < _FEW and self.changed_at <= self._free_until:
                level = min(level, self._round_sent / self._burst_s)
            if share > self.step:
                level *= _BELOW
        least = self._least if self._low is None else max(self._least, _LOWEST * self._low_from)
        self.level = max(least, min(self.level, level * kept))
        if kept < _FEW and self._round_refused >= _CERTAIN:
            self._begin(self.level)

    def _is_in_vain(self, level: float, now: float) -> bool:
        """Whether as many are refused at the lower level, as far as one can see: then a trial begins."""
        low = self._low
        assert low is not None
        is_lower = level <= _LOW * self._low_from
        if low.refused < (_ENOUGH if is_lower else self._enough) or low.sent < _ENOUGH_SENT:
            return False
        both = Tally(self._log, of=self._before.sent, refused=self._before.refused + low.refused)
        if low.share > MOST_NOISE:
            self._enter_low(level, now)
        elif low.share < _AS_MANY * both.share:
            self._begin(level)
        else:
            self.trial = Trial(self._log, base=level, began=self._began, before=both, now=now)
            self._follow(self.trial)
            return True
        return False

    def _follow(self, trial: Trial) -> None:
        if trial.at != self.changed_at:
            self.level = trial.level
            self._change(trial.at)

    def look(self, now: float, *, is_bound: bool) -> None:
        """See how a trial goes; whether the level keeps anybody from sending."""
        trial = self.trial
        if trial is None:
            return
        finding = trial.look(now, answer_s=self._answer_s)
        if finding is Finding.OPEN:
            self._follow(trial)
        elif finding is Finding.ROSE:
            self.trial, self.level, self._round_sent = None, trial.base, 0
            self._enough = min(_MOST_ENOUGH, 2 * self._enough)
            self._begin(trial.base)
            self._change(now)
        elif is_bound:
            self._enough = _ENOUGH
            trial.double(now)
            self._follow(trial)
        else:
            self._noise_sent, self._noise_refused, self._noise_left = trial.sent, trial.refused, _LOOK_AGAIN
            self.free(now)

    def free(self, now: float) -> None:
        """There is no bound any more."""
        self.level, self.trial, self._enough = None, None, _ENOUGH
        self._change(now)

    @property
    def _noise(self) -> float:
        return self._noise_refused / self._noise_sent if self._noise_left else 0.0

    def _is_noise(self) -> bool:
        """Whether noise explains what was refused in the last second."""
        if not self._noise_left:
            return False
        noise, sent = self._noise, len(self._log.times)
        spread = sqrt(noise * (1.0 - noise) * (1.0 / (sent + _PRIOR) + 1.0 / self._noise_sent))
        if len(self._away) / (sent + _PRIOR) > noise + _USUAL * spread:
            return False
        self._noise_left -= 1
        self._noise_sent, self._noise_refused = self._noise_sent + self.since.sent, self._noise_refused + 1
        self.since = Tally(self._log)
        return True

    def _begin(self, level: float, *, of: int = 0, refused: int = 0) -> None:
        """Compare from this level on."""
        self._began, self._before, self._low = level, Tally(self._log, of=of, refused=refused), None

    def _change(self, now: float) -> None:
        self.changed_at, self.since = now, Tally(self._log)
