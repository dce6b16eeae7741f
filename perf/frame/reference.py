"""What plain methods reach on the weakest signals, and what they claim of noise when they do.

Each statistic is as sharp as it can be in white noise (for odd points, between white and Student noise; for a step in
noise with a memory, in that noise): the odd points' season is known to it, the steps are the exact best segments, the
season is the largest power of a line and its harmonics. Its threshold keeps 5% in white noise; the
last columns say what it then claims of noise with heavy tails or a memory, and what it still finds when it keeps 5%
there, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from batchwork.frame.segments import best_segments
from perf.frame.cases import Case, Family
from perf.frame.families import NULLS
from perf.frame.power import WEAK
from perf.frame.suite import cases_of

_STEP_PRICE = 2.8  # times log(n)
_SCALES = np.exp(np.linspace(-0.7, 0.8, 25))
_PHIS = np.linspace(0.0, 1.0, 11)


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
    """By how much a normal with a few strangers beyond 4 deviations tells more than Student's t with 3 degrees.

    The season is known, and fitted without the odd points; both scales are averaged.
    """
    values, at = case.values, np.arange(case.values.size)
    columns = np.ones((values.size, 1))
    for period in case.truth.periods:
        columns = np.column_stack([columns, np.cos(2 * np.pi * at / period), np.sin(2 * np.pi * at / period)])
    kept = np.setdiff1d(at, sorted(case.truth.odd))
    rest = values - columns @ np.linalg.lstsq(columns[kept], values[kept], rcond=None)[0]
    u = np.abs(rest) / (max(1.4826 * float(np.median(np.abs(rest))), 1e-300) * _SCALES[:, None])
    if u[_SCALES.size // 2].max() < 4.0:  # nothing to claim
        return -1e9
    one = np.sum(np.log(6 * np.sqrt(3) / np.pi) - 2.0 * np.log(3 + u * u), axis=1) - u.shape[1] * np.log(_SCALES)
    strange = 1.5 / u.shape[1] / (np.log(10) * np.maximum(u, 4.0)) * (u > 4.0)
    normal = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
    few = np.sum(np.log(normal + strange + 1e-300), axis=1) - u.shape[1] * np.log(_SCALES)
    return float(logsumexp(few) - logsumexp(one))


def _step_in_memory(case: Case) -> float:
    """By how much one step in first-order noise tells more than the best first-order noise or random walk without."""
    z, n = case.values, case.values.size
    without, best = [], []
    for phi in _PHIS:
        first = np.sqrt(1.0 - phi * phi)
        y = np.concatenate([[first * z[0]], z[1:] - phi * z[:-1]])
        level = np.concatenate([[first], np.full(n - 1, 1.0 - phi)])
        steps = np.tril(np.full((n, n), 1.0 - phi), -1)[:, 5 : n - 4] + np.eye(n)[:, 5 : n - 4]
        if phi < 1.0:
            level /= np.linalg.norm(level)
            y, steps = y - level * (level @ y), steps - np.outer(level, level @ steps)
        price = -np.log(max(1.0 - phi * phi, 1.0 / n))
        left = float(y @ y)
        without.append(n * np.log(max(left, 1e-300)) + price)
        gain = float(np.max((y @ steps) ** 2 / np.sum(steps * steps, axis=0)))
        if phi <= 0.5:
            best.append(n * np.log(max(left - gain, 1e-300)) + price)
    return float(min(without) - min(best))


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
    ("weak: step of 3 in AR 0.5", 60, _step_in_memory),
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
