"""Decide what a description holds: every number that may be said about a series, typed and frozen.

Indices are those of the series as it was given; `None` means looked for and not found, or not to be looked for.
"""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Plain numbers of the finite values, as numpy gives them (std with ddof 0, linear percentiles)."""

    mean: float
    median: float
    std: float
    minimum: float
    minimum_at: int
    maximum: float
    maximum_at: int
    p5: float
    p25: float
    p75: float
    p95: float
    iqr: float
    range: float
    first: float
    last: float
    last_at: int
    slope: float
    r2: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Runs of missing values: how many, the longest, and the rows right after and before which it lies."""

    count: int
    longest: int
    after: int | None
    before: int | None
    after_time: str | None = None  # the same by their times, where rows were sorted by time
    before_time: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Direction ("rising", "falling", "none"), and how sure: 1 minus the test's p-value."""

    direction: str
    confidence: float
    curved: bool = False
    certain: bool = False  # no test was needed: there is no noise
    wanders: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """A period in steps, its amplitude (half of its range) and the share of the rest that it explains."""

    period: float
    amplitude: float
    strength: float
    duration_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A step: index of the first value of the new level, mean level before and after."""

    index: int
    before: float
    after: float
    after_gap: bool = False  # the step lies somewhere in the gap before the index


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """An odd point: index, value, and distance from what was expected there in noise standard deviations."""

    index: int
    value: float
    expected: float
    deviations: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Name of the distribution of the values, or of what trend, season and steps leave (`of_rest`)."""

    kind: str
    of_rest: bool = False
    modes: tuple[float, ...] = ()
    distinct: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Volatility:
    """Standard deviation of the noise; where and how it changes, if it does."""

    noise: float
    index: int | None = None
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The last value, the share of values below it in percent, and its place against p5 to p95."""

    index: int
    value: float
    percentile: float
    place: str  # "usual", "high" or "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """All that is known of a series."""

    context: str | None
    unit: str | None
    length: int
    count: int
    missing: int  # values that are not there, and steps of time without a row
    infinite: int
    gaps: Gaps | None
    base: int
    slope_per: str  # "step", or the unit of time
    statistics: Statistics | None
    trend: Trend | None = None
    seasons: tuple[Season, ...] = ()
    change_points: tuple[ChangePoint, ...] = ()
    anomaly_count: int = 0
    anomalies: tuple[Anomaly, ...] = ()
    distribution: Distribution = Distribution(kind="unknown")
    volatility: Volatility | None = None
    last: Last | None = None
    quality: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists, ready for JSON: what lies beyond every float is None."""
        return {name: jsonable(value) for name, value in asdict(self).items()}


def jsonable(value: Any) -> Any:
    """Plain data without numbers that JSON has no word for."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(part) for part in value]
    return value
