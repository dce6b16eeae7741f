"""Decide whether refusals are our own doing: do they become rarer when we send less, and more when we send more?

A provider that limits us refuses what goes beyond its limit: less is refused when we send less. A shared key, or a
gateway that passes on what its upstream says, refuses a share of everything, however little we send: slowing down is
useless then, and would never end. So every refusal lowers the level (a rate in `core/pace.py`, a number of calls at
once in `core/window.py`), but when refusals go on all the same, the level is doubled for a trial, and again, until
refusals become more frequent. What a trial costs is bounded, whoever is right, and nothing is concluded from it that
the next trial could not correct.

| state   | what happens                                                   | next state, and level             |
|---------|----------------------------------------------------------------|-----------------------------------|
| free    | a call is refused, which noise alone does not explain          | held, lowered                     |
| held    | a call is refused                                              | held, lowered a little            |
| held    | several calls that were sent before the last cut are refused   | held, that cut by their share     |
| held    | refused as often at a much lower level as it was before        | trial, doubled                    |
| trial   | more is refused than before the level was doubled              | held, at the level before         |
| trial   | no more is refused                                             | trial, doubled again              |
| trial   | the same, and more could not be sent anyway                    | free; what was refused is noise   |
| free    | so much noise was refused that it should be looked at again    | free, no noise known              |
"""

from collections import deque
from math import log, sqrt

_SPAN_S = 1.0  # how far back calls are counted for the share at this moment
_SHORTEST_SPAN_S = 0.02  # a shorter history would make any rate look huge
_PRIOR = 10  # calls that were let through, imagined: one refusal among few says little
STEP = 0.05  # what one refusal takes away
_MANY = 3  # refusals of one round whose share says how much too much was sent
_FEW = 0.5  # of a round: when fewer are let through, a limit is certain, and how many they were is all that is known
_BELOW = 0.97  # of what was let through: that included a little of the provider's burst
_LOW, _AGAIN = 0.6, 0.97  # of the level where refusals began: a much lower one, and the same again
_ENOUGH = 4  # refusals at the lower level before anything is concluded from their share
_AS_OFTEN = 0.5  # of the share before
_MOST_NOISE = 0.4  # while more than that is refused, it is not noise alone
_RISE = 0.2  # of what was let through: refused in addition, when a doubled level is too much
_CERTAIN = 8  # refusals
_ROSE, _SAME = log(20.0), -log(8.0)  # how much likelier a rise must be than none, and the reverse
_SLOWEST_S = 0.5  # a call that was not refused in this time was let through
_LOOK_AGAIN = 100  # refusals after which noise may have become something else
_USUAL = 3.0  # standard deviations


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


class Tally:
    """Calls, and the refused among them, since some call."""

    __slots__ = ("_log", "_of", "_from", "refused")

    def __init__(self, log: SentCalls, *, of: int = 0) -> None:
        self._log, self._of, self._from = log, of, log.count
        self.refused = 0

    @property
    def sent(self) -> int:
        return self._of + self._log.count - self._from

    @property
    def share(self) -> float:
        return self.refused / max(1, self.sent)


class Refusals:
    """The level that the refusals of one kind leave. After a change: `level`, and when (`changed_at`, `since`)."""

    def __init__(self, log: SentCalls, *, least: float = 0.0, most_cut: float = 1.0, burst_s: float = 0.0) -> None:
        self._log = log
        self._least, self._most_cut = least, most_cut
        self._burst_s = burst_s  # what is let through of a first wave is worth so much time at least
        self.level: float | None = None
        self.is_trial = False
        self.is_first = False  # the level was not lowered again since it was free
        self.changed_at, self._round_at = float("-inf"), float("-inf")
        self.since = Tally(log)  # the calls since the last change
        self._away: deque[float] = deque()  # when those of the last second were sent that were refused
        self._answer_s = 0.0  # how long a refusal takes
        self._round, self._round_refused, self._cut_from = 0, 0, 0.0  # the calls that the last cut was made for
        self._began, self._before, self._low = 0.0, self.since, None  # type: float, Tally, Tally | None
        self._low_at = 0.0
        self._sent, self._refused = 0, 0  # the calls that a trial is compared with; then the noise
        self._noise_left = 0
        self._marks: deque[tuple[int, float]] = deque(maxlen=_MANY + 1)

    # -- what happens ---------------------------------------------------------------------------

    def refused(self, level: float, *, sent_at: float, now: float) -> None:
        """A call was refused at this level."""
        away = self._away
        away.append(sent_at)
        while away and away[0] < now - _SPAN_S:
            away.popleft()
        self._answer_s = min(_SLOWEST_S, max(now - sent_at, 0.9 * self._answer_s))
        if sent_at < self.changed_at:
            self._refused_late(sent_at)
            return
        self.since.refused += 1
        if self.is_trial:
            return
        if self.level is None:
            if self._is_noise():
                return
            self.is_first = True
            self._begin(level, of=len(self._log.times))
            self._round, self._round_refused = len(self._log.times), len(away)
            self._before.refused = len(away)
        else:
            self.is_first = False
            if level >= _AGAIN * self._began:
                self._begin(level, of=min(self.since.sent, len(self._log.times)))
            self._round, self._round_refused = min(self.since.sent, len(self._log.times)), 1
            if self._low is None and level >= _AGAIN * self._cut_from:
                self._before = Tally(self._log, of=min(self.since.sent, len(self._log.times)))
            (self._low or self._before).refused += 1
            if self._low is not None and self._is_in_vain(level, now):
                return
        self._cut_from, self._round_at = level, self.changed_at
        self._lower()
        self._marks.append((self._log.count, level))
        if len(self._marks) == _MANY + 1:
            count, was = self._marks[0]
            share = _MANY / max(1, self._log.count - count)
            if share > 0.3 and was * (1 - share) * _BELOW < self.level:
                self.level = max(self._least, was * (1 - share) * _BELOW)
                self._marks.clear()
        self._change(now)
        if self._low is None and self.level <= _LOW * self._began:
            self._low, self._low_at = Tally(self._log), now

    def _refused_late(self, sent_at: float) -> None:
        """A call was refused that was sent before the last change: it belongs to what that cut was made for."""
        if self.level is None or self.is_trial or not self._round or sent_at < self._round_at:
            return
        self._round_refused += 1
        (self._low if self._low is not None and sent_at >= self._low_at else self._before).refused += 1
        self._lower()

    def _lower(self) -> None:
        share = STEP
        if self._round_refused >= _MANY:
            share = max(share, self._round_refused / (self._round + 2) - self._noise)
        kept, level = 1.0 - min(share, self._most_cut), self._cut_from
        if kept < _FEW and self.is_first and self._burst_s:
            level = min(level, self._round / self._burst_s)
        self.level = max(self._least, level * kept * (_BELOW if share > STEP and self._burst_s else 1.0))
        if kept < _FEW and self._round_refused >= _CERTAIN:
            self._begin(self.level)

    def _is_in_vain(self, level: float, now: float) -> bool:
        """Whether going on to lower the level is in vain as far as one can see: then a trial begins."""
        low = self._low
        assert low is not None
        if low.refused < _ENOUGH or low.share > _MOST_NOISE:
            return False
        if low.share < _AS_OFTEN * self._before.share:
            self._begin(level)
            return False
        self._sent, self._refused = low.sent, low.refused
        self._raise(level, now)
        return True

    def _raise(self, level: float, now: float) -> None:
        self._cut_from, self.level, self.is_trial = level, 2.0 * level, True
        self._change(now)

    def conclude(self, now: float, *, most: float) -> None:
        """Look how a trial goes; a level of `most` would be no bound."""
        assert self.level is not None
        elapsed = max(now - self.changed_at, 1e-9)
        unknown = self.since.sent * min(1.0, self._answer_s / elapsed)  # of the latest no refusal can be here yet
        refused = self.since.refused
        through = max(0.0, self.since.sent - unknown - refused)
        usual = min(_MOST_NOISE, max(0.005, self._refused / max(1, self._sent)))
        rose = usual + (1.0 - usual) * _RISE
        evidence = refused * log(rose / usual) + through * log((1.0 - rose) / (1.0 - usual))
        if evidence > _ROSE:
            self.level, self.is_trial = self._cut_from, False
            self._begin(self._cut_from)
            self._round = 0
            self._change(now)
        elif evidence < _SAME:
            self._sent, self._refused = self._sent + self.since.sent, self._refused + refused
            if self.level < most:
                self._raise(self.level, now)
            else:
                self.free(now)
                self._noise_left = _LOOK_AGAIN

    def free(self, now: float) -> None:
        """There is no bound any more."""
        self.level, self.is_trial = None, False
        self._change(now)

    # -- what is known --------------------------------------------------------------------------

    @property
    def _noise(self) -> float:
        return self._refused / self._sent if self._noise_left else 0.0

    def _is_noise(self) -> bool:
        """Whether noise explains the refusals of the last second."""
        if not self._noise_left:
            return False
        noise, sent = self._noise, len(self._log.times)
        spread = sqrt(noise * (1.0 - noise) * (1.0 / (sent + _PRIOR) + 1.0 / self._sent))
        if len(self._away) / (sent + _PRIOR) > noise + _USUAL * spread:
            return False
        self._noise_left -= 1
        self._sent, self._refused, self.since = self._sent + self.since.sent, self._refused + 1, Tally(self._log)
        return True

    def _begin(self, level: float, *, of: int = 0) -> None:
        """From this level on refusals are counted anew."""
        self._began, self._before, self._low = level, Tally(self._log, of=of), None

    def _change(self, now: float) -> None:
        self.changed_at, self.since = now, Tally(self._log)
