"""Comparative: which of two series has more of something. Both stand in every condition; A is right as often as B."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from batchwork.benchmarks.datasets import Dice, Drawn, Recipe, draw_pair, uniform
from batchwork.benchmarks.scoring import MEASURES, Choice
from batchwork.benchmarks.tasks.anomaly import DEFINITION
from batchwork.benchmarks.tasks.task import BaseTask
from batchwork.benchmarks.trial import Dataset, Question

LABELS = ("A", "B")
_CLEAR = 0.1  # by how much of the larger one the two differ at least
_TRIES = 200

Amount = Callable[[Drawn], float]


def _measured(name: str) -> Amount:
    return lambda drawn: MEASURES[name](drawn.values)


_AMOUNTS: dict[str, tuple[Amount, str]] = {
    "mean": (_measured("mean"), "Which series has the higher mean, A or B?"),
    "median": (_measured("median"), "Which series has the higher median, A or B?"),
    "std": (_measured("std"), "Which series has the larger standard deviation, A or B?"),
    "max": (_measured("max"), "Which series has the higher maximum, A or B?"),
    "min": (lambda drawn: -MEASURES["min"](drawn.values), "Which series has the lower minimum, A or B?"),
    "range": (
        _measured("range"),
        "Which series has the larger range, A or B? The range is the largest value minus the smallest.",
    ),
    "slope": (
        _measured("slope"),
        "Which series has the higher slope, A or B? It is the slope of the least-squares straight line over the "
        "index; a falling line has a negative slope, which is lower than a positive one.",
    ),
    "anomalies": (lambda drawn: len(drawn.anomalies), f"Which series has more anomalies, A or B? {DEFINITION}"),
}


def _more(amount: Amount) -> Callable[[Dataset], str]:
    def truth(dataset: Dataset) -> str:
        a, b = (amount(Drawn(dataset.series[label], dataset.facts[label])) for label in LABELS)
        return LABELS[0] if a > b else LABELS[1]

    return truth


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparativeTask(BaseTask):
    """Two series and a question whose answer is clear, the right letter's turn being kept."""

    def draw(self, dice: Dice, recipe: Recipe, size: int, question: Question, turn: int) -> dict[str, Drawn]:
        """Pairs are drawn until this question has a clear answer; then the one that has more gets its letter."""
        amount, _ = _AMOUNTS[question.name]
        for _ in range(_TRIES):
            pair = sorted(draw_pair(recipe, dice, size), key=amount, reverse=True)
            more, less = map(amount, pair)
            if more > less and more - less >= _CLEAR * max(abs(more), abs(less)):
                return dict(zip(LABELS, pair if turn == 0 else pair[::-1], strict=True))
        raise AssertionError(f"no clear pair for {question.name} in {_TRIES} draws of {recipe}")


COMPARATIVE = ComparativeTask(
    name="comparative",
    questions=tuple(
        Question(
            name=name,
            text=text,
            form=Choice(LABELS, asks="less" if name == "min" else "more"),
            truth=_more(amount),
        )
        for name, (amount, text) in _AMOUNTS.items()
    ),
    kinds=MappingProxyType(
        {
            "flat": Recipe(anomalies=(0, 4)),
            "flat and uniform": Recipe(noise=uniform, anomalies=(0, 4)),
            "season": Recipe(season=1.5, anomalies=(0, 4)),
            "trending": Recipe(trend=1, anomalies=(0, 4)),
        }
    ),
    sizes=(100, 200),
)
