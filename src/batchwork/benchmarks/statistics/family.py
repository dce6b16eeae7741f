"""How the 5% of false alarms that a run may give are shared between what it asks, and what that means for its size.

A run asks whether a treatment differs from the baseline over all tasks together, and in each task. At most 5% of the
runs of two identical conditions may call *anything* significant, so the questions share: half is for the overall ones,
which most runs are made for, half for the tasks, and Holm's method passes on what is not needed. With a single task the
two are the same question.
"""

from collections.abc import Sequence
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

    Raises ValueError: a value is out of its range.
    """
    share = shares(tasks, treatments)
    overall = trials_needed(power, detect, discordance=discordance, level=ALPHA * share.overall)
    each = trials_needed(power, detect, discordance=discordance, level=ALPHA * share.task)
    return Needed(ceil(overall / tasks), each)


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """The p-values adjusted by Holm's method: at most 5% false alarms among *all* of those that are below 0.05.

    With `weights` a question may get a larger share of the 5% than another; what a settled question no longer
    needs passes on to the others in proportion.
    """
    parts = [1.0] * len(p_values) if weights is None else list(weights)
    adjusted = [1.0] * len(p_values)
    reached, remaining = 0.0, sum(parts)
    for at in sorted(range(len(p_values)), key=lambda i: p_values[i] / parts[i]):
        reached = max(reached, min(1.0, p_values[at] * remaining / parts[at]))
        adjusted[at] = reached
        remaining -= parts[at]
    return adjusted
