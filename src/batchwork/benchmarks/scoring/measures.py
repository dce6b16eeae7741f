"""What can be computed from a series: the truths, by numpy alone and never by the code under test."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from batchwork.benchmarks.trial import Series

Measure = Callable[[Series], float]


class Line(NamedTuple):
    """The least-squares line over the index: its slope per step, its value at index 0, the variance it explains."""

    slope: float
    start: float
    r2: float

    def at(self, index: float) -> float:
        """The line's value at an index, inside the series or beyond it."""
        return self.start + self.slope * index


def line_of(values: Series) -> Line:
    """The least-squares straight line through the values over their index."""
    time = np.arange(values.size) - (values.size - 1) / 2.0
    about = values - values.mean()
    across, along, up = float(time @ about), float(time @ time), float(about @ about)
    slope = across / along if along > 0 else 0.0
    r2 = across * across / (along * up) if along > 0 and up > 0 else 0.0
    return Line(slope, float(values.mean()) - slope * (values.size - 1) / 2.0, r2)


def percentile(percent: float) -> Measure:
    """A percentile with linear interpolation between the closest ranks."""
    return lambda values: float(np.percentile(values, percent))


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "mean": lambda values: float(values.mean()),
        "median": lambda values: float(np.median(values)),
        "std": lambda values: float(values.std()),
        "min": lambda values: float(values.min()),
        "max": lambda values: float(values.max()),
        "range": lambda values: float(np.ptp(values)),
        "p5": percentile(5),
        "p25": percentile(25),
        "p75": percentile(75),
        "p95": percentile(95),
        "iqr": lambda values: float(np.percentile(values, 75) - np.percentile(values, 25)),
        "count": lambda values: values.size,
        "slope": lambda values: line_of(values).slope,
        "r2": lambda values: line_of(values).r2,
    }
)
