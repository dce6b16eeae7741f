"""How far an estimate may be off: intervals for a share, and for a difference of paired shares."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

_DRAWS = 5_000
_TAIL = 0.025
# The curve on which two intervals are combined: an ellipse a little squarer than one (exponent 2.5), since in the worst
# of worlds a true ellipse holds the truth in 94.1% of the runs only.
_ANGLES = np.linspace(0.0, 2 * np.pi, 1441)
_ACROSS, _UPWARDS = (np.sign(part) * np.abs(part) ** 0.8 for part in (np.cos(_ANGLES), np.sin(_ANGLES)))


class Interval(NamedTuple):
    """Where the truth is in 95 of 100 runs like this one."""

    low: float
    high: float


def wilson(right: float, samples: int) -> Interval:
    """Wilson's interval for a share: honest at few samples and near 0 and 1, and never empty.

    `samples` counts what is independent. `right` may be a fraction: when several answers share a data set, it is
    their accuracy times the number of data sets.
    """
    if samples < 1 or not 0 <= right <= samples:
        raise ValueError(f"{right} right of {samples} samples is not a share")
    z = NormalDist().inv_cdf(1 - _TAIL)
    share = right / samples
    middle = (share + z * z / (2 * samples)) / (1 + z * z / samples)
    half = z / (1 + z * z / samples) * sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def difference_interval(only_second: float, only_first: float, samples: float) -> Interval:
    """A 95% interval for how much more often the second condition is right, of paired answers.

    Of `samples` independent pairs, `only_second` and `only_first` were right in one condition only. As with `wilson`,
    all three may be fractions when pairs share a data set; see `independent_samples`.

    The difference is the share of pairs in which one condition alone is right, times the lead of the second among
    those. Both factors have the exact interval of Clopper and Pearson; the ends are the least and the largest product
    on a round curve through the four limits. So zero is outside exactly when McNemar's exact test gives p < 0.05, and
    by exact enumeration over all that can be true, in steps of 1/160 for 1 to 15 pairs and coarser for up to 100, the
    truth is inside in at least 95.2% of the runs, 97% to 99% as a rule.
    """
    if samples <= 0 or only_second < 0 or only_first < 0 or only_second + only_first > samples * (1 + 1e-9):
        raise ValueError(f"{only_second} and {only_first} of {samples} pairs are not shares")
    differing = min(only_second + only_first, samples)
    share, share_ends = differing / samples, _clopper_pearson(differing, samples)
    if differing == 0:  # nothing is known of the direction
        return Interval(-share_ends.high, share_ends.high)
    low, high = _clopper_pearson(min(only_second, differing), differing)
    lead, lead_ends = (only_second - only_first) / differing, Interval(2 * low - 1, 2 * high - 1)
    products = _curve(share, share_ends, _ACROSS) * _curve(lead, lead_ends, _UPWARDS)
    return Interval(float(products.min()), float(products.max()))


def bootstrap_interval(nets: Sequence[int], counts: Sequence[int], *, seed: int) -> Interval:
    """A 95% interval for the mean difference of a pair by the bootstrap, drawing whole data sets.

    `nets` has, per data set, the pairs that only the second condition got right less those that only the first did;
    `counts` its pairs, which stand or fall together. The plain interval would be a point when all pairs agree, so two
    imaginary data sets, one for each side, are added before drawing (the adjustment of Bonett and Price). With few
    pairs and a one-sided truth it still holds the truth less often than it says, which `difference_interval` does not.
    """
    if not nets:
        raise ValueError("no pairs, no interval")
    usual = sum(counts) / len(counts)
    sets = [*zip(nets, counts, strict=True), (usual, usual), (-usual, usual)]
    # How many there are of each distinct data set is drawn, and not the data sets: the same at a fraction of the cost.
    kinds, often = np.unique(np.array(sets, dtype=float), axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(sets), often / len(sets), size=_DRAWS)
    low, high = np.quantile((drawn @ kinds[:, 0]) / (drawn @ kinds[:, 1]), [_TAIL, 1 - _TAIL])
    return Interval(float(low), float(high))


def independent_samples(counts: Sequence[int]) -> float:
    """How many independent pairs are as good as data sets of so many pairs each, if those of one stand or fall as one.

    The number of pairs when each data set has one, and of data sets when all have equally many (Kish's formula).
    """
    return sum(counts) ** 2 / sum(count * count for count in counts)


def _clopper_pearson(right: float, samples: float) -> Interval:
    return Interval(
        float(betaincinv(right, samples - right + 1, _TAIL)) if right > 0 else 0.0,
        float(betaincinv(right + 1, samples - right, 1 - _TAIL)) if right < samples else 1.0,
    )


def _curve(middle: float, ends: Interval, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """One coordinate of the curve: from the middle towards its ends, as far as the steps from -1 to 1 say."""
    return middle + np.where(steps > 0, ends.high - middle, middle - ends.low) * steps


def percentiles(values: Sequence[float]) -> list[float]:
    """The 50th, 90th and 99th percentile of the values, linear between neighbours; nothing of nothing."""
    return [float(value) for value in np.percentile(values, (50, 90, 99))] if len(values) else []
