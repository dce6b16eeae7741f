"""A distribution in a few numbers: percentiles, and counts in bins of equal ratio. Pure."""

import math
from typing import Any

import msgspec
import numpy as np

_BINS = 40
_FINE = 4000
_FEW = 50_000  # values of which every one is looked at
_SHARES = (0.5, 0.9, 0.99)
_OUT = 0.001


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """How one figure is spread over many items."""

    count: int
    mean: float
    percentiles: dict[str, float]  # p50, p90, p99, max
    edges: list[float]  # of the bins, one more than there are counts
    counts: list[int]


def distribution_of(values: np.ndarray[Any, Any]) -> Distribution | None:
    """The distribution of the values above zero; None when there are none.

    Percentiles of very many are read from fine bins of equal ratio, and so true to a few thousandths.
    """
    values = values[values > 0]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if high <= low:
        high = low * 1.001
    ratio = math.log(high / low)
    ratios = values.astype(np.float32) / np.float32(low)
    fine = np.clip(np.log(ratios) * np.float32(_FINE / ratio), 0, _FINE - 1).astype(np.int16)
    counts = np.bincount(fine, minlength=_FINE)
    edges = low * np.exp(np.linspace(0.0, ratio, _FINE + 1))
    below = np.cumsum(counts)
    if len(values) <= _FEW:
        found = [float(value) for value in np.quantile(values, _SHARES)]
    else:
        found = [float(edges[int(np.searchsorted(below, share * len(values))) + 1]) for share in _SHARES]
    # A few that lie far out must not press all others into one bin: they go into the outermost ones.
    first, last = np.searchsorted(below, (_OUT * len(values), (1 - _OUT) * len(values)))
    cuts = np.unique(np.linspace(first, max(last + 1, first + 1), _BINS + 1).astype(np.int64))
    sums = np.add.reduceat(counts, cuts[:-1])
    sums[0] += counts[: cuts[0]].sum()
    sums[-1] = len(values) - sums[:-1].sum()
    return Distribution(
        count=len(values),
        mean=float(values.mean(dtype=np.float64)),
        percentiles=dict(zip(("p50", "p90", "p99"), found, strict=True)) | {"max": float(values.max())},
        edges=[float(edge) for edge in edges[cuts]],
        counts=[int(count) for count in sums],
    )
