"""What plain methods reach on the weakest signals, and what they claim of noise when they do.

Each statistic is as sharp as it can be in white noise: the odd points' season is known to it, the steps are the exact
best segments, the season is the largest power of a line and its harmonics. Its threshold keeps 5% in white noise; the
last columns say what it then claims of noise with heavy tails or a memory, and what it still finds when it keeps 5%
there, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from batchwork.frame.segments import best_segments
from perf.frame.cases import Case, Family
from perf.frame.families import NULLS
from perf.frame.power import WEAK
from perf.frame.suite import cases_of

_STEP_PRICE = 2.8  # times log(n)


@dataclass(frozen=True, slots=True)
class Reference:
    """One line of the table; shares in percent."""

    name: str
    size: int
    found: float
    worst_noise: str
    claimed: float
    found_at_all: float  # when 5% are kept in every noise


def _odd(case: Case) -> float:
    """The farthest of the odd points from the known season (of noise, of all points), in robust deviations."""
    values, at = case.values, np.arange(case.values.size)
    odd = sorted(case.truth.odd)
    columns = np.ones((values.size, 1))
    for period in case.truth.periods:
        columns = np.column_stack([columns, np.cos(2 * np.pi * at / period), np.sin(2 * np.pi * at / period)])
    kept = np.setdiff1d(at, odd)
    rest = values - columns @ np.linalg.lstsq(columns[kept], values[kept], rcond=None)[0]
    size = np.abs(rest) / (1.4826 * np.median(np.abs(rest[kept])))
    return float(size[odd].min() if odd else size.max())


def _steps(case: Case) -> float:
    """By how much the best segments tell more than no step, per their price."""
    z, n = case.values, case.values.size
    path = best_segments(z, 5)
    told = [n * np.log(path[0][1] / rss) - _STEP_PRICE * np.log(n) * len(steps) for steps, rss in path[1:]]
    return float(max(told))


def _season(case: Case) -> float:
    """The largest power of a line and its third harmonic, over the mean power."""
    values = case.values - case.values.mean()
    power = np.abs(np.fft.rfft(values, 8 * values.size)) ** 2
    first, last = 8 * 5, power.size // 3
    third = power[np.minimum(3 * np.arange(power.size), power.size - 1)]
    alone = power[first:].max()
    both = (power[first:last] + third[first:last]).max(initial=0.0)
    return float(max(alone, 0.85 * both) / power.mean())


_TRIED: tuple[tuple[str, int, Callable[[Case], float]], ...] = (
    ("weak: odd of 6 in a season", 60, _odd),
    ("weak: odd of 6 in a season", 300, _odd),
    ("weak: several steps of 3", 60, _steps),
    ("weak: square of 1", 60, _season),
)


def references(count: int) -> list[Reference]:
    """What the plain methods reach on `count` series each."""
    return [_reference(name, size, statistic, count) for name, size, statistic in _TRIED]


def _reference(name: str, size: int, statistic: Callable[[Case], float], count: int) -> Reference:
    family: Family = next(family for family in WEAK if family.name == name)
    noises = {
        null.name: np.array([statistic(case) for case in cases_of(null, size, count)])
        for null in NULLS
        if null.name != "constant"
    }
    signal = np.array([statistic(case) for case in cases_of(family, size, count)])
    limit = np.quantile(noises["white"], 0.95)
    worst = max(noises, key=lambda noise: float(np.mean(noises[noise] > limit)))
    strict = max(float(np.quantile(noise, 0.95)) for noise in noises.values())
    shares = [100 * float(np.mean(x)) for x in (signal > limit, noises[worst] > limit, signal > strict)]
    return Reference(name, size, shares[0], worst, shares[1], shares[2])
