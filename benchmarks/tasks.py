"""`benchmarks.tasks`, as the founding document has it."""

from batchwork.benchmarks.tasks import TASKS, BaseTask

__all__ = ["TASKS", "BaseTask"]
