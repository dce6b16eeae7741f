"""Decide whether a call passes the rate limits, and what the headers say about them.

Token buckets with continuous refill, in real time. A call larger than the bucket passes when the bucket is full and
leaves a debt behind, so that nothing waits for ever.
"""

from batchwork.simulator.clock import real_s
from batchwork.simulator.config import SimulatorConfig

_UNLIMITED_PER_MINUTE = 60_000_000


class Bucket:
    """One limit per minute."""

    def __init__(self, per_minute: int | None, burst_s: float, now: float) -> None:
        self.limited = per_minute is not None
        self.per_minute = per_minute or _UNLIMITED_PER_MINUTE
        self._rate = self.per_minute / 60.0
        self.capacity = max(1.0, self._rate * burst_s)
        self._level = self.capacity
        self._at = now

    def level(self, now: float) -> float:
        """What is in it now; below zero after a debt."""
        self._level = min(self.capacity, self._level + (now - self._at) * self._rate)
        self._at = now
        return self._level

    def wait_s(self, amount: float, now: float) -> float:
        """Seconds until `amount` may be taken; 0 when it may be now."""
        if not self.limited:
            return 0.0
        missing = min(amount, self.capacity) - self.level(now)
        return missing / self._rate if missing > 1e-9 else 0.0

    def take(self, amount: float, now: float) -> None:
        """Take it, into debt if need be."""
        if self.limited:
            self.level(now)
            self._level -= amount

    def remaining(self, now: float) -> int:
        """What a header says is left."""
        return max(0, int(self.level(now))) if self.limited else self.per_minute

    def full_in_s(self, now: float) -> float:
        """Seconds until it is fully replenished."""
        return (self.capacity - self.level(now)) / self._rate if self.limited else 0.0


class RateLimits:
    """The buckets of one provider: requests, input tokens, output tokens, and OpenAI's joint tokens."""

    def __init__(self, config: SimulatorConfig) -> None:
        now = real_s()
        self.requests = Bucket(config.rpm, config.burst_s, now)
        self.input = Bucket(config.input_tpm, config.burst_s, now)
        self.output = Bucket(config.output_tpm, config.burst_s, now)
        joint = [limit for limit in (config.input_tpm, config.output_tpm) if limit is not None]
        self.joint = Bucket(sum(joint) if joint else None, config.burst_s, now)
        self.limited = config.rpm is not None or bool(joint)

    def admit(self, tokens: int, now: float, *, jointly: bool) -> tuple[float, str]:
        """Seconds to wait and for what; or take, and (0, "").

        OpenAI has one limit for all tokens, charged jointly: the stated `max_tokens` or the input, whichever is more.
        Anthropic has two, and takes output once it is produced.
        """
        bucket, name = (self.joint, "tokens") if jointly else (self.input, "input tokens")
        waits = [(self.requests.wait_s(1, now), "requests"), (bucket.wait_s(tokens, now), name)]
        if not jointly:
            waits.append((self.output.wait_s(1, now), "output tokens"))
        longest = max(waits)
        if longest[0] > 0:
            return longest
        self.requests.take(1, now)
        bucket.take(tokens, now)
        return 0.0, ""
