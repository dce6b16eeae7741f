"""The statistics of paired right-or-wrong answers: pure functions of counts, none of which knows what a call is."""

from batchwork.benchmarks.config import DISCORDANCE
from batchwork.benchmarks.statistics.family import ALPHA, holm, shares, trials_per_task
from batchwork.benchmarks.statistics.intervals import (
    Interval,
    bootstrap_interval,
    difference_interval,
    independent_samples,
    percentiles,
    wilson,
)
from batchwork.benchmarks.statistics.paired import cohens_h, exact_p, matched_odds_ratio
from batchwork.benchmarks.statistics.power import power_of, smallest_difference, trials_needed
