"""Statistical: twelve plain numbers of a series."""

from batchwork.benchmarks.datasets import SHAPES
from batchwork.benchmarks.scoring import MEASURES, Count, Number
from batchwork.benchmarks.tasks.task import BaseTask, only
from batchwork.benchmarks.trial import Form, Question

_LINEAR = "Interpolate linearly between the two closest ranks."
WITHIN = Number(relative=0.01)


def asked(name: str, text: str, form: Form = WITHIN) -> Question:
    """A question for one measure of the series."""
    return Question(name=name, text=text, form=form, truth=lambda dataset: MEASURES[name](only(dataset)))


MEAN = asked("mean", "What is the mean of the series? It is the sum of the values divided by their number.")
STD = asked("std", "What is the standard deviation of the series? Divide by the number of values, not by one less.")
MAX = asked("max", "What is the maximum of the series? It is its largest value.")
P95 = asked("p95", f"What is the 95th percentile of the series? {_LINEAR}")

STATISTICAL = BaseTask(
    name="statistical",
    questions=(
        MEAN,
        asked("median", "What is the median of the series? It is the middle value, or the mean of the middle two."),
        STD,
        asked("min", "What is the minimum of the series? It is its smallest value."),
        MAX,
        asked("range", "What is the range of the series? It is the largest value minus the smallest."),
        asked("p5", f"What is the 5th percentile of the series? {_LINEAR}"),
        asked("p25", f"What is the 25th percentile of the series? {_LINEAR}"),
        asked("p75", f"What is the 75th percentile of the series? {_LINEAR}"),
        P95,
        asked(
            "iqr",
            f"What is the interquartile range of the series? It is the 75th percentile minus the 25th. {_LINEAR}",
        ),
        asked("count", "How many values does the series have?", Count()),
    ),
    kinds=SHAPES,
    sizes=(60, 120, 250, 500),
)
