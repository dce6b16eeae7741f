"""Decide when the next call may leave: the rates that the user states, those that headers tell, and those that are
shared with other processes, together.

The one place where buckets are filled, corrected and taught. Where the user has stated a limit, the lower one holds.
"""

from collections.abc import Sequence
from typing import Protocol

from batchwork.core.bucket import Bucket
from batchwork.core.failure import Failure
from batchwork.core.lease import INPUT_TOKENS, KINDS, OUTPUT_TOKENS, REQUESTS
from batchwork.core.leased_bucket import LeasedBucket
from batchwork.core.policy import RatePolicy
from batchwork.core.reply import Limit, ReportedLimits, Usage
from batchwork.engine.queue import Need

_BELOW = 0.99  # of a limit that the provider tells: whoever shares it must find something left
_TOKEN_ROUNDING = 1000.0  # providers round the tokens that remain to the nearest thousand


class SharedRates(Protocol):
    """Rates that other processes use as well; there may be several of a kind, and more as they are learned."""

    @property
    def buckets(self) -> Sequence[LeasedBucket]:
        """What this process may use of each."""

    def learn(self, kind: str, per_minute: float) -> bool:
        """Let everybody know what the provider states; whether nobody knew of such a limit."""


class Rates:
    """The rate limits of one gate."""

    def __init__(self, stated: RatePolicy, *, now: float, shared: SharedRates | None = None) -> None:
        limits = {REQUESTS: stated.rpm, INPUT_TOKENS: stated.input_tpm, OUTPUT_TOKENS: stated.output_tpm}
        self._own = {kind: Bucket(per_minute=rate, now=now) for kind, rate in limits.items() if rate is not None}
        self._stated = frozenset(self._own)
        self._shared = shared

    def wait_for(self, need: Need, now: float) -> float:
        """Seconds until the call may leave; 0 when it may now."""
        wait_s = 0.0
        for kind, bucket in self._own.items():
            if (seconds := bucket.wait_for(_amount(kind, need), now)) > wait_s:
                wait_s = seconds
        if self._shared is not None:
            for leased in self._shared.buckets:
                if (seconds := leased.wait_for(_amount(leased.kind, need), now)) > wait_s:
                    wait_s = seconds
        return wait_s

    def take(self, need: Need, now: float) -> None:
        """Let the call leave."""
        for kind, bucket in self._own.items():
            bucket.take(_amount(kind, need), now)
        if self._shared is not None:
            for leased in self._shared.buckets:
                leased.take(_amount(leased.kind, need), now)

    def give_back(self, need: Need, now: float) -> None:
        """The call did not leave after all."""
        for kind, bucket in self._all():
            bucket.correct(_amount(kind, need), 0, now)

    def correct(self, need: Need, usage: Usage | None, failure: Failure | None, now: float) -> None:
        """Replace what the call was expected to use by what it has used."""
        if not self._own and self._shared is None:
            return
        used_in, used_out = need.input_tokens, need.output_tokens
        if usage is not None:
            # Cache reads do not count against the rate limit at the providers that have a cache.
            used_in, used_out = usage.input_tokens - usage.cache_read_tokens, usage.output_tokens
        elif failure is not None:
            used_in = used_out = 0
        for kind, bucket in self._all():
            if kind == INPUT_TOKENS:
                bucket.correct(need.input_tokens, used_in, now)
            elif kind == OUTPUT_TOKENS:
                bucket.correct(need.output_tokens, used_out, now)
            elif kind != REQUESTS:
                bucket.correct(need.input_tokens + need.output_tokens, used_in + used_out, now)

    def learn(self, limits: ReportedLimits, now: float) -> bool:
        """Take in what the provider says of itself; whether there is a limit that was not known."""
        is_new = False
        for kind in KINDS:
            limit: Limit | None = getattr(limits, kind)
            if limit is None:
                continue
            if limit.per_minute is not None and limit.per_minute > 0:
                is_new |= self._learn(kind, limit.per_minute * _BELOW, now)
            # What remains counts everybody's calls: of a shared rate it says nothing about our part.
            if limit.remaining is not None and kind in self._own:
                slack = 1.0 if kind == REQUESTS else _TOKEN_ROUNDING
                self._own[kind].lower_to(limit.remaining, now, slack=slack)
        return is_new

    def _learn(self, kind: str, per_minute: float, now: float) -> bool:
        is_new = self._shared is not None and self._shared.learn(kind, per_minute)
        bucket = self._own.get(kind)
        if bucket is None:
            if self._shared is not None:
                return is_new
            self._own[kind] = Bucket(per_minute=per_minute, now=now)
            return True
        if kind not in self._stated or per_minute / 60.0 < bucket.per_s:
            bucket.learn(per_minute=per_minute, now=now)
        return is_new

    def _all(self) -> list[tuple[str, Bucket | LeasedBucket]]:
        shared = () if self._shared is None else self._shared.buckets
        return [*self._own.items(), *((leased.kind, leased) for leased in shared)]


def _amount(kind: str, need: Need) -> float:
    if kind == REQUESTS:
        return 1.0
    if kind == INPUT_TOKENS:
        return need.input_tokens
    return need.output_tokens if kind == OUTPUT_TOKENS else need.input_tokens + need.output_tokens
