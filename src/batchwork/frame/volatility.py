"""Decide whether the spread of the noise changes along the series, and where.

The largest CUSUM of Klotz's scores of the distances (ranks, so the tails' shape does not matter) is compared with the
law of its maximum, the scores' own persistence divided out.
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from batchwork.frame.noise import Floats, block_means, inflation, median, robust_sigma, thinned

_CRITICAL = 4.0  # the maximum over the middle 80% exceeds this in about 0.3% of unchanging series
_SHORT, _SHORT_CRITICAL = 150, 3.1  # in a short series without memory: in about 3%
_NOTABLE = 1.25  # a smaller change of the standard deviation is not worth words
_EDGE = 0.1
_MOST = 10000  # points ranked one by one


def scale_scores(values: Floats) -> Floats:
    """Klotz scores of the distances from the median; ties share their rank."""
    ranks = rankdata(np.abs(values - median(values)))
    return np.asarray(ndtri(0.5 + 0.5 * ranks / (values.size + 1)) ** 2, dtype=np.float64)


def _block_scores(values: Floats, size: int) -> Floats:
    """Normal scores of the blocks' mean distances: for long series as good, and no million ranks."""
    distance = values - median(thinned(values))
    np.abs(distance, out=distance)
    np.minimum(distance, 5.0 * robust_sigma(values), out=distance)
    means = block_means(distance, size)
    return np.asarray(ndtri(rankdata(means) / (means.size + 1)), dtype=np.float64)


def change_of_spread(values: Floats, *, white: bool = False) -> tuple[int, float, float] | None:
    """The first index after a proven change of the deviation, what it was and is; `white` noise has no memory."""
    n = values.size
    if n < 20 or float(np.ptp(values)) == 0:
        return None
    size = -(-n // _MOST) if n > 2 * _MOST else 1
    scores = scale_scores(values) if size == 1 else _block_scores(values, size)
    n = scores.size
    scores -= scores.mean()
    a, b = max(int(n * _EDGE), 5), n - max(int(n * _EDGE), 5)
    share = np.arange(a, b) / n
    bridge = np.cumsum(scores)[a - 1 : b - 1] / np.sqrt(n * share * (1.0 - share))
    place = a + int(np.argmax(np.abs(bridge)))
    split = np.concatenate([scores[:place] - scores[:place].mean(), scores[place:] - scores[place:].mean()])
    deviation = float(np.sqrt(np.mean(split**2) * inflation(split, 2.0)))
    place *= size
    before, after = float(np.std(values[:place])), float(np.std(values[place:]))
    if deviation <= 0:
        return None
    critical = _SHORT_CRITICAL if white and n < _SHORT else _CRITICAL
    if np.abs(bridge).max() / deviation < critical or max(before, after) < _NOTABLE * min(before, after):
        return None
    return place, before, after
