"""How the 5% of false alarms that a run may give are shared between what it asks, and what that means for its size.

A run asks whether a treatment differs from the baseline over all tasks together, and in each task. At most 5% of the
runs of two identical conditions may call *anything* significant, so the questions share: half is for the overall ones,
which most runs are made for, half for the tasks, and Holm's method passes on what is not needed. With a single task the
two are the same question.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from batchwork.benchmarks.config import DISCORDANCE
from batchwork.benchmarks.statistics.power import trials_needed

ALPHA = 0.05


class Shares(NamedTuple):
    """The part of the 5% that one question starts with: of one treatment over all tasks, and in one task."""

    overall: float
    task: float


class Needed(NamedTuple):
    """Trials per task: to see the difference over all tasks together, and to see it in a task by itself."""

    overall: int
    each_task: int


def shares(tasks: int, treatments: int) -> Shares:
    """How the 5% are shared when so many tasks and treatments are compared."""
    if tasks < 1 or treatments < 1:
        raise ValueError(f"there is nothing to share between {tasks} tasks and {treatments} treatments")
    if tasks == 1:
        return Shares(1 / treatments, 1 / treatments)
    return Shares(0.5 / treatments, 0.5 / (tasks * treatments))


def trials_per_task(
    power: float, detect: float, *, tasks: int, treatments: int = 1, discordance: float = DISCORDANCE
) -> Needed:
    """The trials per task that a run needs to find a true difference of `detect` with this `power`.

    Raises:
        ValueError: a value is out of its range.
    """
    share = shares(tasks, treatments)
    overall = trials_needed(power, detect, discordance=discordance, level=ALPHA * share.overall)
    each = trials_needed(power, detect, discordance=discordance, level=ALPHA * share.task)
    return Needed(ceil(overall / tasks), each)
