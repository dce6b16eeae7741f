"""How answers are read and judged: the forms with their strict judges, the score of a reply, invented numbers."""

from batchwork.benchmarks.scoring.amounts import Count, Number, Positions
from batchwork.benchmarks.scoring.choices import Choice, Flag
from batchwork.benchmarks.scoring.judging import score
from batchwork.benchmarks.scoring.measures import MEASURES, line_of
from batchwork.benchmarks.scoring.net_errors import false_alarm_rate, measured_error
