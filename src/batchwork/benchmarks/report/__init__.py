"""Reports of a benchmark: all numbers once (`summarise`), then Markdown, JSON, CSV, charts and one page of it all."""

from batchwork.benchmarks.report.console import console_lines
from batchwork.benchmarks.report.figures import Summary, Verdict
from batchwork.benchmarks.report.runfiles import RunFilesError, load_run, save_run
from batchwork.benchmarks.report.summary import summarise
from batchwork.benchmarks.report.words import LIMITS, counted
from batchwork.benchmarks.report.writing import write_reports
