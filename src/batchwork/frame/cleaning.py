"""Decide what a series looks like without its odd points, so that they bend no other test.

Each value is held to a few robust standard deviations around a running median. This is a view for the
tests on level and season only; odd points themselves are judged on the original values.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

from batchwork.frame.noise import Floats, robust_sigma

_HELD_TO = 4.0
_LONG = 4096


def running_median(values: Floats) -> Floats:
    """A median over about the nearest dozen points; of blocks of sixteen when the series is long."""
    n = values.size
    if n < 5:
        return np.full(n, np.median(values)) if n else values
    if n <= _LONG:
        width = min(15, (n // 4) * 2 + 1)
        return np.asarray(median_filter(values, size=width, mode="nearest"), dtype=np.float64)
    size = 16
    whole = n // size
    ordered = np.sort(values[: whole * size].reshape(whole, size), axis=1)  # sorting rows beats selecting in them
    medians = 0.5 * (ordered[:, size // 2 - 1] + ordered[:, size // 2])
    return np.concatenate([np.repeat(medians, size), np.full(n - whole * size, medians[-1])])


def held(values: Floats) -> Floats:
    """The values with what stands far out of its neighbourhood pulled in."""
    middle = running_median(values)
    rest = values - middle
    limit = _HELD_TO * robust_sigma(rest)
    if limit <= 0:
        return values
    np.clip(rest, -limit, limit, out=rest)
    rest += middle
    return rest
