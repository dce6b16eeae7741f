"""The six tasks by name."""

from benchmarks.tasks.anomaly import ANOMALY
from benchmarks.tasks.comparative import COMPARATIVE
from benchmarks.tasks.multi_step import MULTI_STEP
from benchmarks.tasks.scaling import SCALING
from benchmarks.tasks.statistical import STATISTICAL
from benchmarks.tasks.task import BaseTask
from benchmarks.tasks.trend import TREND

TASKS: dict[str, BaseTask] = {
    task.name: task for task in (STATISTICAL, TREND, ANOMALY, COMPARATIVE, MULTI_STEP, SCALING)
}

__all__ = ["TASKS", "BaseTask"]
