"""BatchManager, and batch() with BatchJob: many items, typed and cited, in jobs that survive a crash."""

from batchwork.manager.job import BatchJob, batch
from batchwork.manager.manager import BatchManager
from batchwork.manager.results import BatchResult, BatchResults
from batchwork.manager.stats import JobStats

__all__ = ["BatchJob", "BatchManager", "BatchResult", "BatchResults", "JobStats", "batch"]
