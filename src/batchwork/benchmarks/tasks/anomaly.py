"""Anomaly: whether values stand out, how many, where and to which side. The generator planted them and knows."""

from types import MappingProxyType

from batchwork.benchmarks.datasets import Recipe
from batchwork.benchmarks.scoring import Choice, Count, Flag, Positions
from batchwork.benchmarks.tasks.task import SERIES, BaseTask
from batchwork.benchmarks.trial import Dataset, Question

DEFINITION = (
    "An anomaly is a value farther than 8 times the scatter from the median of its neighbours, which are the two "
    "values before it and the two after it; the scatter is 1.4826 times the median of the distances of all values "
    "from the medians of their neighbours."
)


def _sides(dataset: Dataset) -> str:
    sides = {anomaly.side for anomaly in dataset.facts[SERIES]}
    return {frozenset(): "none", frozenset({1}): "above", frozenset({-1}): "below"}.get(frozenset(sides), "both")


ANOMALY = BaseTask(
    name="anomaly",
    questions=(
        Question(
            name="presence",
            text=f"Are there any anomalies in the series? {DEFINITION}",
            form=Flag(),
            truth=lambda dataset: len(dataset.facts[SERIES]) > 0,
        ),
        Question(
            name="count",
            text=f"How many anomalies does the series have? {DEFINITION}",
            form=Count(),
            truth=lambda dataset: len(dataset.facts[SERIES]),
        ),
        Question(
            name="positions",
            text=f"At which positions are the anomalies of the series? Positions count from 0. {DEFINITION}",
            form=Positions(slack=1),
            truth=lambda dataset: [anomaly.at for anomaly in dataset.facts[SERIES]],
        ),
        Question(
            name="type",
            text=(
                "Are the anomalies of the series above or below the values around them? Say both if some are above and "
                f"some below, none if there are no anomalies. {DEFINITION}"
            ),
            form=Choice(("above", "below", "both", "none")),
            truth=_sides,
        ),
    ),
    kinds=MappingProxyType(
        {
            "quiet": Recipe(),
            "quiet season": Recipe(season=1.5),
            "spikes": Recipe(anomalies=(1, 4), sides=(1,)),
            "dips": Recipe(anomalies=(1, 4), sides=(-1,)),
            "spikes and dips": Recipe(anomalies=(2, 5), sides=(1, -1)),
            "spikes on a season": Recipe(season=1.5, anomalies=(1, 4), sides=(1,)),
        }
    ),
    sizes=(100, 200, 300, 500),
)
