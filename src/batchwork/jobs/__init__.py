"""batch() and BatchJob: one job over messages or files, typed and cited."""

from batchwork.jobs.answers import BatchResult, BatchResults
from batchwork.jobs.job import BatchJob, batch
from batchwork.jobs.stats import JobStats

__all__ = ["BatchJob", "BatchResult", "BatchResults", "JobStats", "batch"]
