"""Scaling: the same few questions from fifty points to a hundred thousand."""

from __future__ import annotations

from benchmarks.datasets import LINE
from benchmarks.tasks.statistical import MAX, MEAN, P95, STD
from benchmarks.tasks.task import BaseTask
from benchmarks.tasks.trend import DIRECTION, SLOPE

SCALING = BaseTask(
    name="scaling",
    questions=(MEAN, STD, MAX, P95, DIRECTION, SLOPE),
    kinds=LINE,
    sizes=(50, 200, 1000, 5000, 20_000, 100_000),
)
