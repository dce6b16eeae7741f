"""A numeric series in words that are true: short, labelled, and nothing claimed without a test behind it.

Needs numpy and scipy (`pip install batchwork[frame]`); stands alone, so `import batchwork` does not load it.
"""

from batchwork.frame.description import (
    Anomaly,
    ChangePoint,
    Description,
    Distribution,
    Last,
    Season,
    Statistics,
    Trend,
    Volatility,
)
from batchwork.frame.series import Compression, compression, describe_series
from batchwork.frame.samples import FrameError
from batchwork.frame.words import render

__all__ = [
    "Anomaly",
    "ChangePoint",
    "Compression",
    "Description",
    "Distribution",
    "FrameError",
    "Last",
    "Season",
    "Statistics",
    "Trend",
    "Volatility",
    "compression",
    "describe_series",
    "render",
]
