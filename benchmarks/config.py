"""`benchmarks.config`, as the founding document has it."""

from batchwork.benchmarks.config import BenchmarkConfig

__all__ = ["BenchmarkConfig"]
