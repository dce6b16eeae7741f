"""How far an estimate may be off: intervals for a share, and for a difference of paired shares."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

DRAWS = 5_000


class Interval(NamedTuple):
    """Where the truth is in 95 of 100 runs like this one."""

    low: float
    high: float


def wilson(right: float, samples: int, *, confidence: float = 0.95) -> Interval:
    """Wilson's interval for a share: honest at few samples and near 0 and 1, and never empty.

    `samples` counts what is independent. `right` may be a fraction: when several answers share a data set, it is
    their accuracy times the number of data sets.
    """
    if samples < 1 or not 0 <= right <= samples:
        raise ValueError(f"{right} right of {samples} samples is not a share")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = right / samples
    middle = (share + z * z / (2 * samples)) / (1 + z * z / samples)
    half = z / (1 + z * z / samples) * sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def difference_interval(
    nets: Sequence[int], counts: Sequence[int], *, seed: int, confidence: float = 0.95, draws: int = DRAWS
) -> Interval:
    """A bootstrap interval for the mean difference of a pair, resampling whole data sets.

    `nets` has, per data set, the pairs that only the second condition got right less those that only the first did;
    `counts` its pairs. Pairs of one data set stand or fall together, so it is data sets that are drawn.

    The percentile interval of the sample as it is would be far too narrow at small n, and a point when all pairs agree
    (BCa has no acceleration there, and is a point too). So two imaginary data sets, one for each side, are added before
    drawing: the adjustment of Bonett and Price for paired shares, which keeps the coverage at 95% or above from 5 pairs
    on. Drawing how many there are of each distinct data set, instead of the data sets themselves, is the same
    and costs almost nothing.
    """
    if not nets:
        raise ValueError("no pairs, no interval")
    usual = sum(counts) / len(counts)
    sets = [*zip(nets, counts, strict=True), (usual, usual), (-usual, usual)]
    kinds, often = np.unique(np.array(sets, dtype=float), axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(sets), often / len(sets), size=draws)
    differences = (drawn @ kinds[:, 0]) / (drawn @ kinds[:, 1])
    tail = (1 - confidence) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    return Interval(float(low), float(high))


def percentiles(values: Sequence[float], at: Sequence[float] = (50, 90, 99)) -> list[float]:
    """Percentiles of the values, linear between neighbours; nothing of nothing."""
    return [float(value) for value in np.percentile(values, at)] if len(values) else []
