"""Decide what distribution values have, in one word that a test stands behind.

L-moments carry the decision: they exist for heavy tails, are nearly unbiased in small samples and have
known standard errors under the normal. A direction (skewed, heavy, light) needs three standard errors; a
name (normal, uniform, exponential) is given only when its rivals are excluded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchwork.frame.dip import two_modes
from batchwork.frame.noise import Floats, thinned

_NORMAL = 0.1226  # L-kurtosis of a normal
_RIVALS = (0.0357, 0.1936)  # of a parabola and of Student's t with 5 degrees of freedom
_BEYOND = 2.5  # standard deviations: neither a parabola nor a triangle reaches so far
_ALIKE = 2.5  # standard errors: the most that a symmetric sample may be skewed
_TOLD = 0.65  # log-likelihood by which a normal must tell more than its rivals,
_TOLD_UNIFORM, _TOLD_EXPONENTIAL = 2.0, 3.5  # and these
_ERRORS = 3.0
# of sqrt(n) times the largest distance to the fitted distribution function: 1% of true ones exceed these
_FIT_UNIFORM, _FIT_EXPONENTIAL = 1.63, 1.27
_FEWEST = 20
_DISCRETE = 12
_MOST = 50000
_LEAST_SKEW, _LEAST_TAIL = 0.03, 0.015  # less is not worth a name, however sure


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A distribution's name, its modes when it has two, how many distinct values when they are few."""

    kind: str
    modes: tuple[float, ...] = ()
    distinct: int | None = None


def l_ratios(values: Floats) -> tuple[float, float]:
    """L-skewness and L-kurtosis of sorted values."""
    x = values
    n = x.size
    rank = np.arange(n, dtype=np.float64)
    b0 = float(x.mean())
    b1 = float((rank / (n - 1)) @ x) / n
    b2 = float((rank * (rank - 1) / ((n - 1) * (n - 2))) @ x) / n
    b3 = float((rank * (rank - 1) * (rank - 2) / ((n - 1) * (n - 2) * (n - 3))) @ x) / n
    scale = 2 * b1 - b0
    if scale <= 0:
        return 0.0, _NORMAL
    return (6 * b2 - 6 * b1 + b0) / scale, (20 * b3 - 30 * b2 + 12 * b1 - b0) / scale


def few_values(values: Floats) -> int | None:
    """How many distinct values there are, if few enough to be called discrete."""
    sample = values if values.size <= 5000 else values[:: values.size // 5000]
    distinct = np.unique(sample).size
    if distinct > _DISCRETE or distinct * 4 > sample.size:
        return None
    distinct = np.unique(values).size
    return distinct if distinct <= _DISCRETE else None


def shape_of(values: Floats, worth: float) -> Shape:
    """The shape of level-free values whose noise has this inflation."""
    values = np.sort(thinned(values, _MOST))
    n = values.size
    if n == 0:
        return Shape(kind="unknown")
    if values[0] == values[-1]:
        return Shape(kind="constant", distinct=1)
    independent = n / worth
    if n < _FEWEST or independent < _FEWEST / 2:
        return Shape(kind="unknown")
    modes = two_modes(values, independent)
    if modes:
        return Shape(kind="bimodal", modes=modes)
    if _is_uniform(values, independent):
        return Shape(kind="uniform")
    skew, tails = l_ratios(values)
    skew_error = float(np.sqrt(0.1866 / independent + 0.8 / independent**2))
    tail_error = float(np.sqrt(0.0883 / independent + 0.68 / independent**2))
    skew_error *= 1.0 + 8.0 * max(tails - _NORMAL, 0.0)  # heavy tails make skewness uncertain
    if abs(skew) > max(_ERRORS * skew_error, _LEAST_SKEW):
        if skew > 0 and _is_exponential(values, worth):
            return Shape(kind="exponential")
        return Shape(kind="right-skewed" if skew > 0 else "left-skewed")
    if tails > _NORMAL + max(_ERRORS * tail_error, _LEAST_TAIL):
        return Shape(kind="heavy-tailed")
    if tails < _NORMAL - max(_ERRORS * tail_error, _LEAST_TAIL):
        return Shape(kind="light-tailed")
    if abs(skew) >= _ALIKE * skew_error:
        return Shape(kind="unknown")
    bounded, heavy = (
        ((tails - rival) ** 2 - (tails - _NORMAL) ** 2) / tail_error**2 > 2.0 * _TOLD for rival in _RIVALS
    )
    farthest = max(float(values[-1] - values.mean()), float(values.mean() - values[0])) / float(values.std())
    return Shape(kind="normal" if heavy and (bounded or farthest > _BEYOND) else "symmetric")


def _distance(probability: Floats) -> float:
    """Kolmogorov's distance of sorted probabilities from the uniform."""
    n = probability.size
    step = np.arange(n) / n
    return float(max((probability - step).max(), (step + 1.0 / n - probability).max()))


def _is_uniform(values: Floats, independent: float) -> bool:
    """Whether a uniform fits, and a normal, a parabola and two heaps at the ends do not."""
    n = values.size
    reach = float(values[-1] - values[0])
    wider = np.log(reach * (n + 1) / (n - 1)) - 0.5 * np.log(2.0 * np.pi * np.e * float(values.var()))
    if -wider * independent <= _TOLD_UNIFORM:
        return False
    place = (values - values[0]) / reach
    if _distance(place) * float(np.sqrt(independent)) >= _FIT_UNIFORM:
        return False
    at_ends = (int(np.count_nonzero((place < 0.05) | (place > 0.95))) - 2) / n
    amid = int(np.count_nonzero(np.abs(place - 0.5) < 0.1)) / n
    return max(0.05, 4.0 / n) <= at_ends <= 0.2 and amid >= 0.13


def _is_exponential(values: Floats, worth: float) -> bool:
    """Whether an exponential from the least value on fits, and neither a lognormal nor another gamma does."""
    x = values[1:] - values[0]  # without its least value, an exponential begins there
    x = x[x > 0]
    n = x.size
    if n < _FEWEST or _distance(-np.expm1(-x / float(x.mean()))) * np.sqrt(n / worth) >= _FIT_EXPONENTIAL:
        return False
    logs = np.log(x)
    mean, middle = float(np.log(x.mean())), float(logs.mean())
    lognormal = -0.5 * float(np.log(2.0 * np.pi * np.e * logs.var())) - middle
    told = (-mean - 1.0 - lognormal) * n / worth
    gap = mean - middle
    power = (3.0 - gap + float(np.sqrt((gap - 3.0) ** 2 + 24.0 * gap))) / (12.0 * gap)  # a gamma's, nearly
    return told > _TOLD_EXPONENTIAL and abs(power - 1.0) < 2.0 * float(np.sqrt(worth / (0.645 * n)))
