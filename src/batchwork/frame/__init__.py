"""A numeric series in words that are true: short, labelled, and nothing claimed without a test behind it.

Needs numpy and scipy (`pip install batchwork[frame]`); stands alone, so `import batchwork` does not load it.
"""

from batchwork.frame.description import (
    Anomaly,
    ChangePoint,
    Description,
    Distribution,
    Gaps,
    Last,
    Season,
    Statistics,
    Trend,
    Volatility,
)
from batchwork.frame.files import FileDescription, describe_file, plot
from batchwork.frame.samples import FrameError
from batchwork.frame.series import Compression, compression, describe_series
from batchwork.frame.table import Correlation, TableDescription, describe_dataframe
from batchwork.frame.words import render

__all__ = [
    "Anomaly",
    "ChangePoint",
    "Compression",
    "Correlation",
    "Description",
    "Distribution",
    "FileDescription",
    "FrameError",
    "Gaps",
    "Last",
    "Season",
    "Statistics",
    "TableDescription",
    "Trend",
    "Volatility",
    "compression",
    "describe_dataframe",
    "describe_file",
    "describe_series",
    "plot",
    "render",
]
