"""Decide what distribution values have, in one word that a test stands behind.

L-moments carry the decision: they exist for heavy tails, are nearly unbiased in small samples and have
known standard errors under the normal. A name needs three standard errors and, for the uniform and the
exponential, a distribution function that fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchwork.frame.dip import two_modes
from batchwork.frame.noise import Floats, thinned

_NORMAL_KURTOSIS = 0.1226  # L-kurtosis of a normal
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
        return 0.0, _NORMAL_KURTOSIS
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
    skew, tails = l_ratios(values)
    skew_error = float(np.sqrt(0.1866 / independent + 0.8 / independent**2))
    tail_error = float(np.sqrt(0.0883 / independent + 0.68 / independent**2))
    skew_error *= 1.0 + 8.0 * max(tails - _NORMAL_KURTOSIS, 0.0)  # heavy tails make skewness uncertain
    if abs(skew) > max(_ERRORS * skew_error, _LEAST_SKEW):
        if skew > 0 and _fits_exponential(values, independent):
            return Shape(kind="exponential")
        return Shape(kind="right-skewed" if skew > 0 else "left-skewed")
    if tails > _NORMAL_KURTOSIS + max(_ERRORS * tail_error, _LEAST_TAIL):
        return Shape(kind="heavy-tailed")
    if tails < _NORMAL_KURTOSIS - max(_ERRORS * tail_error, _LEAST_TAIL):
        return Shape(kind="uniform" if _fits_uniform(values, independent) else "light-tailed")
    return Shape(kind="normal")


def _distance(probability: Floats) -> float:
    """Kolmogorov's distance of sorted probabilities from the uniform."""
    n = probability.size
    step = np.arange(n) / n
    return float(max((probability - step).max(), (step + 1.0 / n - probability).max()))


def _fits_uniform(values: Floats, independent: float) -> bool:
    reach = float(values[-1] - values[0])
    return bool(_distance((values - values[0]) / reach) * np.sqrt(independent) < _FIT_UNIFORM)


def _fits_exponential(values: Floats, independent: float) -> bool:
    x = values - float(values[0])
    return bool(_distance(-np.expm1(-x / float(x.mean()))) * np.sqrt(independent) < _FIT_EXPONENTIAL)
