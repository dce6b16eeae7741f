"""Decide what distribution values have, in one word that a test stands behind.

L-moments carry the decision: a direction (skewed, heavy, light) needs three standard errors, a name only comes when its
rivals are excluded. Two modes are told by Hartigan's dip, the distance to the nearest one-peaked distribution.
"""

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.description import Distribution
from batchwork.frame.noise import Floats, median, thinned

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
_QUANTILES = 400  # quantiles that stand for a longer sample,
_MOST_WORTH = 4000  # as long as their own grain is small beside its dip
_COARSE_CRITICAL = 0.65  # the same for quantiles of a longer sample
_CRITICAL = 0.58  # of dip * sqrt(n + 1): about 1% of uniform samples exceed it, and far fewer of any other
_LEAST_SKEW, _LEAST_TAIL = 0.03, 0.015  # less is not worth a name, however sure


def l_ratios(x: Floats) -> tuple[float, float]:
    """L-skewness and L-kurtosis of sorted values."""
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


def shape_of(values: Floats, worth: float) -> Distribution:
    """The shape of level-free values whose noise has this inflation."""
    values = np.sort(thinned(values, _MOST))
    n = values.size
    if n == 0:
        return Distribution(kind="unknown")
    if values[0] == values[-1]:
        return Distribution(kind="constant", distinct=1)
    independent = n / worth
    if n < _FEWEST or independent < _FEWEST / 2:
        return Distribution(kind="unknown")
    modes = two_modes(values, independent)
    if modes:
        return Distribution(kind="bimodal", modes=modes)
    if _is_uniform(values, independent):
        return Distribution(kind="uniform")
    skew, tails = l_ratios(values)
    skew_error = float(np.sqrt(0.1866 / independent + 0.8 / independent**2))
    tail_error = float(np.sqrt(0.0883 / independent + 0.68 / independent**2))
    skew_error *= 1.0 + 8.0 * max(tails - _NORMAL, 0.0)  # heavy tails make skewness uncertain
    if abs(skew) > max(_ERRORS * skew_error, _LEAST_SKEW):
        if skew > 0 and _is_exponential(values, worth):
            return Distribution(kind="exponential")
        return Distribution(kind="right-skewed" if skew > 0 else "left-skewed")
    if tails > _NORMAL + max(_ERRORS * tail_error, _LEAST_TAIL):
        return Distribution(kind="heavy-tailed")
    if tails < _NORMAL - max(_ERRORS * tail_error, _LEAST_TAIL):
        return Distribution(kind="light-tailed")
    if abs(skew) >= _ALIKE * skew_error:
        return Distribution(kind="unknown")
    bounded, heavy = (
        ((tails - rival) ** 2 - (tails - _NORMAL) ** 2) / tail_error**2 > 2.0 * _TOLD for rival in _RIVALS
    )
    farthest = max(float(values[-1] - values.mean()), float(values.mean() - values[0])) / float(values.std())
    return Distribution(kind="normal" if heavy and (bounded or farthest > _BEYOND) else "symmetric")


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
    if n > _QUANTILES:  # its quantiles, evenly
        x = np.interp((np.arange(_QUANTILES) + 0.5) / _QUANTILES * (n - 1), np.arange(n), x)
    critical = _CRITICAL if n <= _QUANTILES else _COARSE_CRITICAL
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
