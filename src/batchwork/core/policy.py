"""Every knob of a run, validated at birth."""

import math
from dataclasses import dataclass, field
from typing import Self

from batchwork.core.errors import ConfigError
from batchwork.core.lease import INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long a failed call is tried again."""

    max_attempts: int = 6  # calls that fail; a refusal, which says nothing about the item, is none
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    max_elapsed_s: float | None = None  # no try starts later after an item's first one, waits for a slot not counted

    def __post_init__(self) -> None:
        check_at_least(1, max_attempts=self.max_attempts)
        _above_0(first_wait_s=self.first_wait_s, longest_wait_s=self.longest_wait_s)
        if self.max_elapsed_s is not None:
            _above_0(max_retry_time=self.max_elapsed_s)

    @classmethod
    def of(cls, retries: int) -> Self:
        """The policy that tries a failed call so often again."""
        check_at_least(0, retries=retries)
        return cls(max_attempts=retries + 1)

    @property
    def retries(self) -> int:
        """How often a failed call is tried again."""
        return self.max_attempts - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePolicy:
    """The rate limits the user states, per minute; None where the provider's own headers decide."""

    rpm: float | None = None
    input_tpm: float | None = None
    output_tpm: float | None = None

    def __post_init__(self) -> None:
        for name in ("rpm", "input_tpm", "output_tpm"):
            if (value := getattr(self, name)) is not None:
                _above_0(**{name: value})

    @property
    def by_kind(self) -> dict[str, float]:
        """What is stated, per minute, by the kinds of `core/lease.py`."""
        stated = {REQUESTS: self.rpm, INPUT_TOKENS: self.input_tpm, OUTPUT_TOKENS: self.output_tpm}
        return {kind: rate for kind, rate in stated.items() if rate is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPolicy:
    """How provider batches are made and watched."""

    most_items: int | None = None  # per batch; None: as many as the provider takes
    max_parallel: int = 5
    poll_first_s: float = 5.0
    poll_longest_s: float = 60.0
    adopt_wait_s: float = 120.0  # how long a batch of unknown fate is looked for before it counts as absent
    results_wait_s: float = 900.0  # how long results of an ended batch may stay unreadable before they are lost
    max_expiries: int = 2  # an item whose batches expired so often fails
    cancel_on_interrupt: bool = False

    def __post_init__(self) -> None:
        if self.most_items is not None:
            check_at_least(1, **{"items per batch": self.most_items})
        check_at_least(1, max_parallel=self.max_parallel)
        _above_0(poll_interval=self.poll_first_s, poll_longest_s=self.poll_longest_s)
        _above_0(or_0=True, adopt_wait=self.adopt_wait_s, results_wait=self.results_wait_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a run behaves."""

    max_in_flight: int = 100
    rates: RatePolicy = field(default_factory=RatePolicy)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    max_cost_nano: int | None = None
    timeout_s: float = 600.0
    timeout_per_1k_s: float = 0.0  # so much more for every 1,000 characters of a request
    max_wait_s: float = 900.0  # for a quota to end, or for an item from its first refusal on
    max_consecutive_failures: int = 10
    retry_in_place: bool = False  # what waits to be tried again keeps its place among those in flight
    stall_s: float = 300.0  # refusals for so long without one answer are a stall
    drain_s: float = 60.0  # how long an interrupted run waits for its calls in flight
    reasks: int = 1
    count_margin: float = 0.05  # on top of what a provider counts before a budget trusts it
    batch: BatchPolicy = field(default_factory=BatchPolicy)

    def __post_init__(self) -> None:
        check_at_least(1, max_in_flight=self.max_in_flight, max_consecutive_failures=self.max_consecutive_failures)
        check_at_least(0, reask=self.reasks)
        _above_0(timeout=self.timeout_s, stall_s=self.stall_s, drain_s=self.drain_s)
        _above_0(or_0=True, timeout_per_1k_chars=self.timeout_per_1k_s, max_wait=self.max_wait_s)
        _above_0(or_0=True, count_margin=self.count_margin)


def check_at_least(least: int, **values: int) -> None:
    """Refuse a value that is not a whole number of at least so much."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{name} must be a whole number of at least {least}, got {value!r}")


def _above_0(*, or_0: bool = False, **values: float) -> None:
    for name, value in values.items():
        if or_0 and value == 0:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise ConfigError(f"{name} must be a finite number above 0, got {value!r}")
