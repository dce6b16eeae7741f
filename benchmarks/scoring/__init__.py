"""How answers are read and judged: the forms with their strict judges, the score of a reply, invented numbers."""

from benchmarks.scoring.amounts import Count, Number, Positions
from benchmarks.scoring.choices import Choice, Flag
from benchmarks.scoring.judging import Scored, score
from benchmarks.scoring.measures import MEASURES, line_of
from benchmarks.scoring.net_errors import false_alarm_rate, measured_error

__all__ = [
    "MEASURES",
    "Choice",
    "Count",
    "Flag",
    "Number",
    "Positions",
    "Scored",
    "false_alarm_rate",
    "line_of",
    "measured_error",
    "score",
]
