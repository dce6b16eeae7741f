"""Multi-step: numbers that follow from others in two or three steps, each with its definition."""

from collections.abc import Callable
from types import MappingProxyType

from batchwork.benchmarks.datasets import SHAPES, Recipe
from batchwork.benchmarks.scoring import MEASURES, Number, line_of
from batchwork.benchmarks.tasks.task import BaseTask, only
from batchwork.benchmarks.trial import Question, Series

AHEAD = 10


def _asked(name: str, text: str, form: Number, truth: Callable[[Series], float]) -> Question:
    return Question(name=name, text=text, form=form, truth=lambda dataset: float(truth(only(dataset))))


def _tails(values: Series) -> float:
    middle = MEASURES["median"](values)
    return (MEASURES["p95"](values) - middle) / (middle - MEASURES["p5"](values))


MULTI_STEP = BaseTask(
    name="multi_step",
    questions=(
        _asked(
            "forecast",
            f"What value does the least-squares straight line through the series reach {AHEAD} steps after the last "
            "value? Fit the line over the index of all values.",
            Number(relative=0.01),
            lambda values: line_of(values).at(values.size - 1 + AHEAD),
        ),
        _asked(
            "z_score",
            "What is the z-score of the last value of the series? It is the last value minus the mean of the series, "
            "divided by its standard deviation (dividing by the number of values).",
            Number(relative=0.02, absolute=0.02),
            lambda values: (values[-1] - values.mean()) / values.std(),
        ),
        _asked(
            "cv",
            "What is the coefficient of variation of the series? It is the standard deviation (dividing by the number "
            "of values) divided by the absolute value of the mean, as a fraction.",
            Number(relative=0.02),
            lambda values: values.std() / abs(values.mean()),
        ),
        _asked(
            "range_percent",
            "What is the range of the series in percent of its mean? Divide the largest value minus the smallest by "
            "the absolute value of the mean, times 100.",
            Number(relative=0.02, percent=True),
            lambda values: 100.0 * MEASURES["range"](values) / abs(values.mean()),
        ),
        _asked(
            "change_percent",
            "By how many percent of the mean does the least-squares straight line through the series change from the "
            "first index to the last? Divide the line's last value minus its first by the absolute value of the mean, "
            "times 100; a fall is negative.",
            Number(relative=0.02, absolute=0.05, percent=True),
            lambda values: 100.0 * line_of(values).slope * (values.size - 1) / abs(values.mean()),
        ),
        _asked(
            "tail_ratio",
            "What is the ratio of the upper tail of the series to the lower one? Divide the 95th percentile minus the "
            "median by the median minus the 5th percentile, percentiles interpolated linearly.",
            Number(relative=0.02),
            _tails,
        ),
    ),
    kinds=MappingProxyType(
        {
            "normal": SHAPES["normal"],
            "skewed": SHAPES["skewed"],
            "season": SHAPES["season"],
            "rising line": Recipe(trend=1),
            "falling line": Recipe(trend=-1),
            "rising curve": Recipe(trend=1, power=2.0),
        }
    ),
    sizes=(100, 200, 400),
)
