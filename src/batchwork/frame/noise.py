"""Decide how much a run of residuals is worth: how persistent it is, and what that costs a test.

Every test divides by the *inflation*, the long-run variance over the plain one at an upper confidence limit: an
underestimate claims what is not true, an overestimate only stays silent.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

Floats = NDArray[np.float64]

_SAMPLE = 20000
_HELD_TO = 4.0
_LONG = 4096  # beyond this, blocks of sixteen have one median each
MAD_TO_SIGMA = 1.4826022185056018


def thinned(values: Floats, most: int = _SAMPLE) -> Floats:
    """An even choice of a long series, enough for its middle and its scale."""
    return values if values.size <= most else values[:: values.size // most | 1]


def block_means(values: Floats, size: int) -> Floats:
    """Means of consecutive blocks; a last block that is not full joins the one before."""
    if size == 1:
        return values
    whole = values.size // size
    means = values[: whole * size].reshape(whole, size).mean(axis=1)
    if whole * size < values.size:
        means[-1] = values[(whole - 1) * size :].mean()
    return np.asarray(means, dtype=np.float64)


def median(values: Floats) -> float:
    """The middle value; a short description asks for it 150 times, and numpy's own looks for NaN every time."""
    half = values.size // 2
    sorted_about = np.partition(values, half)
    upper = float(sorted_about[half])
    return upper if values.size % 2 else 0.5 * (float(sorted_about[:half].max()) + upper)


def robust_sigma(values: Floats) -> float:
    """Standard deviation of the bulk (MAD scaled to a normal); the mean deviation if over half are equal."""
    if values.size == 0:
        return 0.0
    values = thinned(values)
    deviation = np.abs(values - median(values))
    mad = median(deviation)
    if mad > 0:
        return MAD_TO_SIGMA * mad
    return 1.2533 * float(np.mean(deviation))


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


def lag_one(values: Floats) -> float:
    """Correlation of each value with the one before; 0 when nothing varies."""
    centred = values[:100000] - values[:100000].mean()
    power = float(centred @ centred)
    return float(centred[1:] @ centred[:-1]) / power if power > 0 else 0.0


def upper_persistence(residuals: Floats, parameters: float) -> float:
    """An upper limit of the lag-one persistence; exactly 1 where a random walk cannot be told apart.

    Fitting a mean of m parameters biases the estimate down by about (m + (m + 2) phi) / n.
    """
    n = residuals.size
    phi = lag_one(residuals)
    corrected = min(max((phi * n + parameters) / max(n - parameters - 2.0, 1.0), -1.0), 1.0)
    limit = corrected + (1.25 + 18.0 / n) * float(np.sqrt((1.0 - corrected**2) / n))
    return limit if limit < 1.0 - n**-0.5 else 1.0


def inflation(residuals: Floats, parameters: float) -> float:
    """Long-run variance over plain variance, at its upper limit and never below 1: by one lag or by a longer memory."""
    n = residuals.size
    phi = upper_persistence(residuals, parameters)
    ceiling = n / 2.0
    first_order = (1.0 + phi) / max(1.0 - phi, 2.0 / n)
    return float(min(max(1.0, first_order, _autoregression(residuals)[0]), ceiling))


def unpredictable(residuals: Floats) -> tuple[float, int]:
    """The variance that the preferred autoregression cannot foretell, and that autoregression's order."""
    _, error, order = _autoregression(residuals)
    before, after = residuals[:_SAMPLE][:-1], residuals[:_SAMPLE][1:]
    power = float(before @ before)
    fresh = after - (float(before @ after) / power if power > 0 else 0.0) * before
    first_order = float(fresh @ fresh) / max(fresh.size, 1)  # sees a random walk, of which the recursion sees less
    return (error, order) if error <= first_order else (first_order, 1)


def description_lengths(residuals: Floats) -> Floats:
    """For no memory, one of one point, two, ...: n log of the variance it leaves (Burg's recursion), and its price."""
    n = residuals.size
    ahead = back = residuals - residuals.mean()
    errors = [max(float(ahead @ ahead) / n, 1e-300)]
    for _ in range(min(12, n // 12)):
        ahead, back = ahead[1:], back[:-1]
        power = float(ahead @ ahead + back @ back)
        reflection = 2.0 * float(ahead @ back) / power if power > 0 else 0.0
        ahead, back = ahead - reflection * back, back - reflection * ahead
        errors.append(max(errors[-1] * (1.0 - reflection**2), 1e-300))
    return np.asarray(n * np.log(errors) + np.log(n) * np.arange(len(errors)))


def _autoregression(residuals: Floats) -> tuple[float, float, int]:
    """Zero-frequency power over the variance, prediction error and order (Levinson's recursion, AICc)."""
    residuals = residuals[:_SAMPLE]
    n = residuals.size
    centred = residuals - residuals.mean()
    longest = min(12, n // 12)
    gamma = np.array([float(centred[lag:] @ centred[: n - lag]) / n for lag in range(max(longest, 0) + 1)])
    if longest < 2 or gamma[0] <= 0:
        return 1.0, float(gamma[0]), 0
    best = n * np.log(gamma[0]) + 2.0 * n / max(n - 2, 1)
    found = (1.0, float(gamma[0]), 0)
    coefficients = np.zeros(0)
    error = gamma[0]
    for order in range(1, longest + 1):
        reflection = (gamma[order] - coefficients @ gamma[order - 1 : 0 : -1][: order - 1]) / error
        coefficients = np.append(coefficients - reflection * coefficients[::-1], reflection)
        error *= 1.0 - reflection**2
        if error <= 0:
            break
        criterion = n * np.log(error) + 2.0 * (order + 1) * n / max(n - order - 2, 1)
        if criterion < best:
            best = criterion
            gain = max(1.0 - float(coefficients.sum()), 2.0 / n)
            found = (float(error / gamma[0] / gain**2), float(error), order)
    return found
