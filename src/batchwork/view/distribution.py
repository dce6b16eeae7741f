"""A distribution in a few numbers: percentiles, and counts in bins of equal ratio. Pure."""

from typing import Any

import msgspec
import numpy as np

_BINS = 40


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """How one figure is spread over many items."""

    count: int
    mean: float
    percentiles: dict[str, float]  # p50, p90, p99, max
    edges: list[float]  # of the bins, one more than there are counts
    counts: list[int]


def distribution_of(values: np.ndarray[Any, Any]) -> Distribution | None:
    """The distribution of the values above zero; None when there are none."""
    values = values[values > 0].astype(np.float64)
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    wide = np.quantile(values, (0.001, 0.999)) if len(values) > 2000 else (low, high)
    edges = np.geomspace(max(low, wide[0]), max(min(high, wide[1]), wide[0] * 1.001), _BINS + 1)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    p50, p90, p99 = (float(value) for value in np.quantile(values, (0.5, 0.9, 0.99)))
    return Distribution(
        count=len(values),
        mean=float(values.mean()),
        percentiles={"p50": p50, "p90": p90, "p99": p99, "max": high},
        edges=[float(edge) for edge in edges],
        counts=[int(count) for count in counts],
    )
