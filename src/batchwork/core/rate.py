"""Decide how fast calls may start and how many may be in flight. Pure: the caller brings `now`."""

from __future__ import annotations

from collections import deque

_BURST_S = 0.05  # how much of the rate may leave at once: providers enforce a minute's limit in much shorter steps
_LEAST_BURST = 2.0  # a timer that fires late must not cost throughput
_EASE, _MOST_EASE = 0.98, 0.9
_ROUNDING = 1e-9  # float refill must not turn "exactly now" into "a nanosecond from now"

_SPAN_S = 1.0  # how far back the calls that were let through are counted
_SHORTEST_SPAN_S = 0.25  # a shorter history would make any rate look huge
_START = 0.9  # of what was let through: that included the provider's burst
_PACE_CUT = 0.95  # of what the guess was a second before: it takes so long until a guess that is too high is refused
_GROWTH_PER_S = 0.002  # from a cut back to the limit in about half a minute: every refusal costs a second
_PROBING_PER_S = 0.2  # until the first guess has been refused in its turn
_SETTLE_S = 1.0  # refusals of calls sent so soon after a change still belong to what was before it

_WINDOW_CUT = 0.7
_FIRST_WINDOW = 4.0


class Bucket:
    """A token bucket: so much per minute, refilled continuously.

    What leaves it in any window of `w` seconds is at most capacity + rate * w, plus the one request that is larger than
    the bucket itself (it leaves when the bucket is full and the bucket goes into debt).
    """

    __slots__ = ("_at", "_ease", "_level", "_limit_per_s", "capacity", "per_s")

    def __init__(self, *, per_minute: float, now: float) -> None:
        self._ease = 1.0
        self._at = now
        self._set(per_minute / 60.0)
        self._level = self.capacity

    def _set(self, limit_per_s: float) -> None:
        self._limit_per_s = limit_per_s
        self.per_s = limit_per_s * self._ease
        self.capacity = max(_LEAST_BURST, self.per_s * _BURST_S)

    def level(self, now: float) -> float:
        """What may leave now; negative while in debt."""
        if now > self._at:  # a clock that goes backwards refills nothing and takes nothing away
            self._level = min(self.capacity, self._level + (now - self._at) * self.per_s)
            self._at = now
        return self._level

    def wait_for(self, amount: float, now: float) -> float:
        """Seconds until `amount` may leave; 0 when it may now."""
        short = min(amount, self.capacity) - self.level(now)
        return 0.0 if short <= _ROUNDING * self.capacity else short / self.per_s

    def take(self, amount: float, now: float) -> None:
        """Let `amount` leave."""
        self._level = self.level(now) - amount

    def correct(self, estimated: float, actual: float, now: float) -> None:
        """Replace an estimate that was taken by what was really used."""
        self._level = min(self.capacity, self.level(now) + estimated - actual)

    def learn(self, *, per_minute: float, now: float) -> None:
        """Adopt the limit that the provider states, keeping what is left of the current filling."""
        if per_minute / 60.0 != self._limit_per_s:
            level = self.level(now)
            self._set(per_minute / 60.0)
            self._level = min(self.capacity, level)

    def ease(self, now: float) -> None:
        """Stay a little below the limit from now on: calls that left exactly at it were refused."""
        level = self.level(now)
        self._ease = max(_MOST_EASE, self._ease * _EASE)
        self._set(self._limit_per_s)
        self._level = min(self.capacity, level)

    @property
    def eased_out(self) -> bool:
        """Staying below the limit has not helped: the limit itself must be wrong."""
        return self._ease <= _MOST_EASE

    def lower_to(self, remaining: float, now: float, *, slack: float = 1.0) -> None:
        """The provider says that less is left than we thought.

        A difference within `slack` is left alone: at the limit every answer says "0 remaining", and dropping
        what has grown since would cost half the throughput.
        """
        if remaining < self.level(now) - slack:
            self._level = remaining


class Pace:
    """A guess of the rate per second that is allowed, when the provider says "too fast" and nothing else.

    It starts from what was let through in the last second, which says little when the calls had just begun to come: so
    it grows fast until it is refused again. From then on it is lowered once per refusal episode and grows slowly, and
    keeps hovering just below a limit that nobody has stated.
    """

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
            self._guess = min(self._grown(now - _SETTLE_S) * _PACE_CUT, max(let_through, 1.0))
            self._growth = _GROWTH_PER_S
        self._changed_at = now

    def per_s(self, now: float) -> float | None:
        """The rate to keep now."""
        return None if self._guess is None else self._grown(now)

    def _grown(self, now: float) -> float:
        assert self._guess is not None
        return self._guess * (1.0 + self._growth * (now - self._changed_at))


class AdaptiveWindow:
    """The number of calls in flight that the provider has shown it bears, at most `most`.

    Full from the start, cut when refused, grown back by answers. One cut per refusal episode: the refusals of calls
    that were sent before the cut are echoes of the same mistake. Growth is additive (one more per window of answers)
    except in slow start, where every answer adds one up to a threshold: at the beginning with a provider whose limits
    are not known, and after a pause that the provider asked for, so that no herd follows it.
    """

    __slots__ = ("_cut_at", "_size", "_slow_start_to", "most")

    def __init__(self, most: int, *, slow_start: bool = False) -> None:
        self.most = most
        self._slow_start_to = float(most) if slow_start else 0.0
        self._size = min(_FIRST_WINDOW, float(most)) if slow_start else float(most)
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
        cut = max(1.0, min(self._size, float(in_flight)) * _WINDOW_CUT)
        self._size = min(_FIRST_WINDOW, cut) if paused and not paced else cut
        self._slow_start_to = float(self.most) if paced else cut if paused else 0.0
        return True
