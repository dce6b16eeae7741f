"""Decide whether values have two modes: Hartigan's dip, the distance to the nearest one-peaked distribution.

The dip is computed from its definition: shrink an interval around the mode until the greatest convex
minorant below it and the least concave majorant above it stop disagreeing. Its null is the uniform, of all
one-peaked shapes the one that dips most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.noise import Floats, median

MOST_POINTS = 400  # quantiles that stand for a longer sample,
_MOST_WORTH = 4000  # as long as their own grain is small beside its dip
_COARSE_CRITICAL = 0.65  # the same for quantiles of a longer sample
_CRITICAL = 0.58  # of dip * sqrt(n + 1): about 1% of uniform samples exceed it, and far fewer of any other


def dip_of(values: Floats) -> float:
    """The dip of a sample; 1/(2n) is the least there is."""
    x = np.sort(values)
    n = x.size
    if n < 4 or x[0] == x[-1]:
        return 0.0
    points = x.tolist()  # plain floats: the hulls are the cost of the dip
    low, high = 0, n - 1
    dip = 1.0 / n
    while True:
        minorant = _hull(points, low, high, lower=True)
        majorant = _hull(points, low, high, lower=False)
        gap, left, right = _widest(x, minorant, majorant)
        if gap < dip:
            break
        dip = max(dip, _bulge(x, minorant, low, left, below=True), _bulge(x, majorant, right, high, below=False))
        if (left, right) == (low, high) or left >= right:
            break
        low, high = left, right
    return 0.5 * dip


def _hull(points: list[float], low: int, high: int, *, lower: bool) -> list[int]:
    """Corners of the greatest convex minorant (or least concave majorant) of the counts over [low, high]."""
    sign = 1.0 if lower else -1.0
    corners = [low]
    for index in range(low + 1, high + 1):
        here = points[index]
        b = corners.pop()
        while corners:
            a = corners[-1]
            left = points[a]
            if sign * ((points[b] - left) * (index - a) - (b - a) * (here - left)) > 0:
                break
            b = corners.pop()
        corners += (b, index)
    return corners


def _line(x: Floats, corners: list[int], at: NDArray[np.int64]) -> Floats:
    places = np.array(corners)
    return np.interp(x[at], x[places], places.astype(np.float64))


def _widest(x: Floats, minorant: list[int], majorant: list[int]) -> tuple[float, int, int]:
    """Largest vertical distance between the two hulls (in counts + 1, over n), and the modal interval there."""
    n = x.size
    lower, upper = np.array(minorant), np.array(majorant)
    at_lower = _line(x, majorant, lower) - lower
    at_upper = upper - _line(x, minorant, upper)
    i, j = int(np.argmax(at_lower)), int(np.argmax(at_upper))
    if at_lower[i] >= at_upper[j]:
        left = int(lower[i])
        right = int(upper[np.searchsorted(upper, left)])
        gap = float(at_lower[i])
    else:
        right = int(upper[j])
        left = int(lower[np.searchsorted(lower, right, side="right") - 1])
        gap = float(at_upper[j])
    return (gap + 1.0) / n, left, right


def _bulge(x: Floats, corners: list[int], a: int, b: int, *, below: bool) -> float:
    """How far the counts leave a hull between a and b."""
    if b <= a:
        return 0.0
    at = np.arange(a, b + 1)
    line = _line(x, corners, at)
    distance = at - line if below else line - at
    return (float(distance.max()) + 1.0) / x.size


def two_modes(values: Floats, independent: float) -> tuple[float, float] | None:
    """The two modes of a sorted sample worth so many independent points, or None if one mode explains it."""
    n = values.size
    if n < 20:
        return None
    x = untied(values)
    if n > MOST_POINTS:  # its quantiles, evenly
        x = np.interp((np.arange(MOST_POINTS) + 0.5) / MOST_POINTS * (n - 1), np.arange(n), x)
    critical = _CRITICAL if n <= MOST_POINTS else _COARSE_CRITICAL
    if dip_of(x) * np.sqrt(min(independent, _MOST_WORTH) + 1.0) < critical:
        return None
    return _modes(x)


def untied(x: Floats) -> Floats:
    """Sorted values, equal ones spread over the cell they were rounded to: ties alone are no modes."""
    if bool((x[1:] > x[:-1]).all()):
        return x
    distinct, count = np.unique(x, return_counts=True)
    if distinct.size < 2:
        return x
    middle = 0.5 * (distinct[1:] + distinct[:-1])
    low = np.concatenate([[1.5 * distinct[0] - 0.5 * distinct[1]], middle])
    high = np.concatenate([middle, [1.5 * distinct[-1] - 0.5 * distinct[-2]]])
    rank = np.arange(x.size) - np.repeat(np.cumsum(count) - count, count)
    share = (rank + 0.5) / np.repeat(count, count)
    return np.asarray(np.repeat(low, count) + share * np.repeat(high - low, count))


def _modes(x: Floats) -> tuple[float, float]:
    """Centres of the two halves that a cut parts with the least spread inside (exact two-means)."""
    n = x.size
    total = np.cumsum(x - x.mean())[:-1]
    count = np.arange(1, n)
    cut = 1 + int(np.argmax(total**2 * (1.0 / count + 1.0 / (n - count))))
    return median(x[:cut]), median(x[cut:])
