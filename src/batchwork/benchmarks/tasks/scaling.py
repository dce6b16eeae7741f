"""Scaling: the same few questions from fifty points to a hundred thousand."""

from batchwork.benchmarks.datasets import LINE
from batchwork.benchmarks.tasks.statistical import MAX, MEAN, P95, STD
from batchwork.benchmarks.tasks.task import BaseTask
from batchwork.benchmarks.tasks.trend import DIRECTION, SLOPE

SCALING = BaseTask(
    name="scaling",
    questions=(MEAN, STD, MAX, P95, DIRECTION, SLOPE),
    kinds=LINE,
    sizes=(50, 200, 1000, 5000, 20_000, 100_000),
)
