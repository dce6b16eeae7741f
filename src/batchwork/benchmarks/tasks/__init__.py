"""The six tasks by name."""

from batchwork.benchmarks.tasks.anomaly import ANOMALY
from batchwork.benchmarks.tasks.comparative import COMPARATIVE
from batchwork.benchmarks.tasks.multi_step import MULTI_STEP
from batchwork.benchmarks.tasks.scaling import SCALING
from batchwork.benchmarks.tasks.statistical import STATISTICAL
from batchwork.benchmarks.tasks.task import BaseTask
from batchwork.benchmarks.tasks.trend import TREND

TASKS: dict[str, BaseTask] = {
    task.name: task for task in (STATISTICAL, TREND, ANOMALY, COMPARATIVE, MULTI_STEP, SCALING)
}

__all__ = ["TASKS", "BaseTask"]
