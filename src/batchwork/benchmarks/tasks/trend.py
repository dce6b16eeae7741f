"""Trend: where a series is heading, how strongly by a stated definition, and how steeply."""

from types import MappingProxyType

from batchwork.benchmarks.datasets import Recipe
from batchwork.benchmarks.scoring import MEASURES, Choice, Number, line_of
from batchwork.benchmarks.tasks.task import BaseTask, only
from batchwork.benchmarks.trial import Dataset, Question

STEADY = 0.1  # R squared below which a series is not said to go anywhere; the data keeps well clear of it


def _direction(dataset: Dataset) -> str:
    line = line_of(only(dataset))
    if line.r2 < STEADY:
        return "none"
    return "rising" if line.slope > 0 else "falling"


DIRECTION = Question(
    name="direction",
    text=(
        "Is the trend of the series rising, falling or none? It is rising or falling, by the sign of the slope, if "
        f"a least-squares straight line over the index explains at least {STEADY:.0%} of the variance, else none."
    ),
    form=Choice(("rising", "falling", "none")),
    truth=_direction,
)
SLOPE = Question(
    name="slope",
    text="What is the slope of the series per step? It is the slope of the least-squares straight line over the index.",
    form=Number(relative=0.02),
    truth=lambda dataset: MEASURES["slope"](only(dataset)),
)
STRENGTH = Question(
    name="strength",
    text=(
        "What is the R squared of the linear trend of the series? It is the share of the variance, from 0 to 1, that "
        "the least-squares straight line over the index explains."
    ),
    form=Number(relative=0.01, absolute=0.01),
    truth=lambda dataset: MEASURES["r2"](only(dataset)),
)

TREND = BaseTask(
    name="trend",
    questions=(DIRECTION, STRENGTH, SLOPE),
    kinds=MappingProxyType(
        {
            "rising line": Recipe(trend=1),
            "falling line": Recipe(trend=-1),
            "rising curve": Recipe(trend=1, power=2.0),
            "falling line with season": Recipe(trend=-1, season=1.5),
            "flat": Recipe(),
            "flat with season": Recipe(season=1.5),
        }
    ),
    sizes=(100, 200, 400),
)
