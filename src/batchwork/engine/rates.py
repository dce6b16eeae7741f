"""Decide when the next call may leave: by the rates that the user states, that headers tell, and that others share.

The one place where buckets are filled, corrected and taught. Where the user has stated a limit, the lower one holds.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from batchwork.core.bucket import Bucket
from batchwork.core.failure import Failure
from batchwork.core.lease import INPUT_TOKENS, KINDS, OUTPUT_TOKENS, REQUESTS, TOKENS
from batchwork.core.leased_bucket import LeasedBucket
from batchwork.core.policy import RatePolicy
from batchwork.core.reply import Limit, ReportedLimits, Usage
from batchwork.engine.queue import Grant, Need

_BELOW = 0.99  # of a limit that the provider tells: whoever shares it must find something left
_TOKEN_ROUNDING = 1000.0  # providers round the tokens that remain to the nearest thousand
# What a call takes from a bucket of this kind: so much by itself, per input token and per output token.
_TAKES = {REQUESTS: (1, 0, 0), INPUT_TOKENS: (0, 1, 0), OUTPUT_TOKENS: (0, 0, 1), TOKENS: (0, 1, 1)}


class SharedRates(Protocol):
    """Rates that other processes use as well; there may be several of a kind, and more as they are learned."""

    @property
    def buckets(self) -> Sequence[LeasedBucket]:
        """What this process may use of each."""

    def learn(self, kind: str, per_minute: float) -> bool:
        """Let everybody know what the provider states; whether nobody knew of such a limit."""

    def cool(self, seconds: float) -> None:
        """Let everybody know that nobody starts a call for so long."""


class Rates:
    """The rate limits of one gate."""

    def __init__(self, stated: RatePolicy, *, now: float, shared: Sequence[SharedRates] = ()) -> None:
        self._own: dict[str, tuple[Bucket, int, int, int]] = {
            kind: (Bucket(per_minute=rate, now=now), *_TAKES[kind]) for kind, rate in stated.by_kind.items()
        }
        self._stated = frozenset(self._own)
        self._shared = shared

    def wait_for(self, need: Need, now: float) -> float:
        """Seconds until the call may leave; 0 when it may now."""
        wait_s = 0.0
        for bucket, calls, inputs, outputs in self._all():
            amount = calls + inputs * need.input_tokens + outputs * need.output_tokens
            if (seconds := bucket.wait_for(amount, now)) > wait_s:
                wait_s = seconds
        return wait_s

    def take(self, need: Need, now: float) -> None:
        """Let the call leave."""
        for bucket, calls, inputs, outputs in self._all():
            bucket.take(calls + inputs * need.input_tokens + outputs * need.output_tokens, now)

    def give_back(self, grant: Grant, now: float) -> None:
        """The call did not leave after all."""
        need = grant.need
        for bucket, calls, inputs, outputs in self._all():
            taken = calls + inputs * need.input_tokens + outputs * need.output_tokens
            bucket.correct(taken, 0, now, taken_at=grant.at)

    def correct(self, grant: Grant, usage: Usage | None, failure: Failure | None, now: float) -> None:
        """Replace what the call was expected to use by what it has used."""
        if not self._own and not self._shared:
            return
        need = grant.need
        used_in, used_out = need.input_tokens, need.output_tokens
        if usage is not None:
            # Cache reads do not count against the rate limit at the providers that have a cache.
            used_in, used_out = usage.input_tokens - usage.cache_read_tokens, usage.output_tokens
        elif failure is not None:
            used_in = used_out = 0
        for bucket, calls, inputs, outputs in self._all():
            if not calls:
                expected = inputs * need.input_tokens + outputs * need.output_tokens
                bucket.correct(expected, inputs * used_in + outputs * used_out, now, taken_at=grant.at)

    def learn(self, limits: ReportedLimits, now: float) -> bool:
        """Take in what the provider says of itself; whether there is a limit that was not known."""
        is_any_new = False
        for kind in KINDS:
            limit: Limit | None = getattr(limits, kind)
            if limit is None:
                continue
            is_new = kind not in self._own
            if limit.per_minute is not None and limit.per_minute > 0:
                is_any_new |= self._learn(kind, limit.per_minute * _BELOW, now)
            # What remains counts everybody's calls: of a shared rate it says nothing about our part.
            if limit.remaining is not None and kind in self._own:
                slack = 0.0 if is_new else 1.0 if kind == REQUESTS else _TOKEN_ROUNDING
                self._own[kind][0].lower_to(limit.remaining, now, slack=slack)
        return is_any_new

    def _learn(self, kind: str, per_minute: float, now: float) -> bool:
        news = [shared.learn(kind, per_minute) for shared in self._shared]
        if kind not in self._own:
            if news:
                return any(news)
            self._own[kind] = (Bucket(per_minute=per_minute, now=now), *_TAKES[kind])
            return True
        bucket = self._own[kind][0]
        if kind not in self._stated or per_minute / 60.0 < bucket.per_s:
            bucket.learn(per_minute=per_minute, now=now)
        return any(news)

    def _all(self) -> Iterable[tuple[Bucket | LeasedBucket, int, int, int]]:
        if not self._shared:
            return self._own.values()
        leased = [bucket for shared in self._shared for bucket in shared.buckets]
        return [*self._own.values(), *((bucket, *_TAKES[bucket.kind]) for bucket in leased)]
