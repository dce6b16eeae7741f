"""How answers are read and judged: the forms with their strict judges, the score of a reply, invented numbers."""

from benchmarks.scoring.amounts import Count, Number, Positions
from benchmarks.scoring.choices import Choice, Flag
from benchmarks.scoring.invented import false_alarm_rate, miss_rate
from benchmarks.scoring.judging import Scored, score
from benchmarks.scoring.measures import MEASURES, line_of

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
    "miss_rate",
    "score",
]
