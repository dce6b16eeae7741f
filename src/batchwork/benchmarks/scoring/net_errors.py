"""Measure how often the net for invented numbers errs, both ways, on fresh data of every kind.

A false alarm is a true number taken for invented. For the quantities of the stated list there are none by design, and
that is measured; for true numbers that are not on it (any percentile, the mean or deviation of any stretch, the
distance of any two values) there are many. A miss is a made-up number, within the range of the data, that something
explains by chance: the more points, the more often. All are written with 3 to 6 significant digits.
"""

from collections.abc import Callable, Sequence

import numpy as np

from batchwork.benchmarks.datasets import LINE, SHAPES, Dice, draw
from batchwork.benchmarks.scoring.invented import Known, derived
from batchwork.benchmarks.scoring.numerals import Numeral, numerals
from batchwork.benchmarks.trial import Series

_DIGITS = (3, 4, 5, 6)
_SIZES = (50, 500, 5000)
_MIDDLE = 500  # points at which false alarms are measured
_A_SERIES = 10  # numbers asked for about each series
_LISTED = 0.75  # of the true numbers in an answer, by our guess: most answers give what was asked for

Draw = Callable[[Series, Dice, int], Sequence[float]]


def measured_error(seed: int = 0, n: int = 250) -> dict[str, float]:
    """The share of `n` numbers that the net takes for what they are not.

    `false_alarm_listed` and `false_alarm_unlisted` of true ones; `miss_50`, `miss_500` and `miss_5000` of made-up ones
    by the number of points.
    """
    return {
        "false_alarm_listed": 1.0 - _explained(_listed, _MIDDLE, n, np.random.default_rng([seed, 1])),
        "false_alarm_unlisted": 1.0 - _explained(_unlisted, _MIDDLE, n, np.random.default_rng([seed, 2])),
        **{f"miss_{size}": _explained(_made_up, size, n, np.random.default_rng([seed, size])) for size in _SIZES},
    }


def false_alarm_rate(error: dict[str, float]) -> float:
    """One number for both kinds of true numbers, three listed ones to one unlisted."""
    return _LISTED * error["false_alarm_listed"] + (1.0 - _LISTED) * error["false_alarm_unlisted"]


def _explained(numbers: Draw, size: int, n: int, dice: Dice) -> float:
    """The share of the numbers drawn from series of a size that the net takes for explained."""
    recipes = (*SHAPES.values(), *LINE.values())
    explained = 0
    for done in range(0, n, _A_SERIES):
        values = draw(recipes[int(dice.integers(len(recipes)))], dice, size).values
        known = Known((values,), ())
        drawn = numbers(values, dice, min(_A_SERIES, n - done))
        explained += sum(known.explains(_written(number, dice)) for number in drawn)
    return explained / n


def _listed(values: Series, dice: Dice, count: int) -> Sequence[float]:
    return [float(number) for number in dice.choice(derived(values), count)]


def _unlisted(values: Series, dice: Dice, count: int) -> Sequence[float]:
    def one(kind: int) -> float:
        if kind == 0:
            return float(np.percentile(values, dice.uniform(1, 99)))
        first, last = sorted(dice.choice(values.size, 2, replace=False).tolist())
        stretch = values[first : last + 1]
        return float((stretch.mean(), stretch.std(), values[first] - values[last])[kind - 1])

    return [one(number % 4) for number in range(count)]


def _made_up(values: Series, dice: Dice, count: int) -> Sequence[float]:
    return [float(number) for number in dice.uniform(values.min(), values.max(), count)]


def _written(number: float, dice: Dice) -> Numeral:
    return numerals(f"{number:.{int(dice.choice(_DIGITS))}g}")[0]
