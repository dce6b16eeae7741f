"""`benchmarks.runner`, as the founding document has it."""

from batchwork.benchmarks.runner import BenchmarkResults, BenchmarkRunner

__all__ = ["BenchmarkResults", "BenchmarkRunner"]
