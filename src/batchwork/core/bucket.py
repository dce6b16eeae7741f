"""Decide how fast calls may start: a token bucket with continuous refill. Pure: the caller brings `now`."""

_BURST_S = 0.05  # how much of the rate may leave at once: providers enforce a minute's limit in much shorter steps
_LEAST_BURST = 2.0  # a timer that fires late must not cost throughput
_ROUNDING = 1e-9  # float refill must not turn "exactly now" into "a nanosecond from now"


class Bucket:
    """A token bucket: so much per minute, refilled continuously.

    What leaves it in any window of `w` seconds is at most capacity + rate * w, plus the one request that is larger than
    the bucket itself (it leaves when the bucket is full and the bucket goes into debt).
    """

    def __init__(self, *, per_minute: float, now: float) -> None:
        self._since = self._at = now
        self._set(per_minute / 60.0)
        self._level = self.capacity

    def _set(self, per_s: float) -> None:
        self.per_s = per_s
        self.capacity = max(_LEAST_BURST, self.per_s * _BURST_S)

    def level(self, now: float) -> float:
        """What may leave now; negative while in debt."""
        if now > self._at:  # a clock that goes backwards refills nothing and takes nothing away
            level = self._level + (now - self._at) * self.per_s
            self._level = level if level < self.capacity else self.capacity  # noqa: FURB136 (a hot path)
            self._at = now
        return self._level

    def wait_for(self, amount: float, now: float) -> float:
        """Seconds until `amount` may leave; 0 when it may now."""
        level = self.level(now)
        if amount <= level:
            return 0.0
        short = min(amount, self.capacity) - level
        return 0.0 if short <= _ROUNDING * self.capacity else short / self.per_s

    def take(self, amount: float, now: float) -> None:
        """Let `amount` leave."""
        if now > self._at:
            self.level(now)
        self._level -= amount

    def correct(self, estimated: float, actual: float, now: float, *, taken_at: float) -> None:
        """Replace an estimate that was taken by what was really used; one that the bucket is too young for was not."""
        if taken_at >= self._since:
            level = self.level(now) + estimated - actual
            self._level = level if level < self.capacity else self.capacity  # noqa: FURB136 (a hot path)

    def learn(self, *, per_minute: float, now: float) -> None:
        """Adopt the limit that the provider states, keeping what is left of the current filling."""
        if per_minute / 60.0 != self.per_s:
            level = self.level(now)
            self._set(per_minute / 60.0)
            self._level = min(self.capacity, level)

    def lower_to(self, remaining: float, now: float, *, slack: float = 1.0) -> None:
        """The provider says that less is left than we thought.

        A difference within `slack` is left alone: at the limit every answer says "0 remaining", and dropping
        what has grown since would cost half the throughput.
        """
        if remaining < self.level(now) - slack:
            self._level = remaining
