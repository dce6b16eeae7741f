"""Decide which numbers of a reply are invented: those that follow neither from the data nor from the question.

A number is explained if, to the digits it is written with, it is

- a value of the data;
- a whole number from 0 to the number of points: a position or a count;
- a number of the question, or its true answer;
- one of the quantities of `derived`: the stated list of what one computes from a series.

This is a coarse net, so its two errors are measured: `false_alarm_rate`, the share of true derived numbers that it
takes for invented, and `miss_rate`, the share of made-up numbers that it lets pass by chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from benchmarks.datasets import LINE, SHAPES, Dice, draw
from benchmarks.scoring.measures import MEASURES, line_of
from benchmarks.scoring.numerals import Numeral, numerals
from benchmarks.trial import Json, Series, Trial

_MAIN = ("mean", "median", "std", "min", "max", "range", "p5", "p25", "p75", "p95", "iqr")
_SLACK = 1e-9  # of a number's size: what rounding in floating point may do
_SIZES = (60, 120, 250, 500)
_DIGITS = (3, 4, 5, 6)


def derived(values: Series) -> Series:
    """What one computes from a series, as far as this net goes.

    Its measures, their differences and ratios; its line; the z-scores of its ends and extremes; mean and deviation of
    its halves, thirds and quarters.
    """
    main = np.array([MEASURES[name](values) for name in _MAIN])
    mean, std = values.mean(), values.std()
    line, n = line_of(values), values.size
    ends = np.array((values[0], values[-1], values.min(), values.max()))
    a, b = (main[places] for places in np.triu_indices(main.size, 1))
    parts = [part for count in (2, 3, 4) for part in np.array_split(values, count)]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.concatenate(
            (
                main,
                (std**2, std * np.sqrt(n / (n - 1)), values.sum(), values[-1] - values[0]),
                np.percentile(values, (1, 2.5, 10, 20, 30, 40, 60, 70, 80, 90, 97.5, 99)),
                [part.mean() for part in parts],
                [part.std() for part in parts],
                (line.slope, line.slope * (n - 1), line.r2, line.r2**0.5, line.start, line.at(n - 1), line.at(n)),
                (ends - mean) / std,
                a - b,
                a / b,
                b / a,
            )
        )
    return np.asarray(found[np.isfinite(found)])


class Known:
    """Every number that data and question explain, ready to be asked for many numbers."""

    def __init__(self, series: Sequence[Series], others: Sequence[float]) -> None:
        lists = [derived(values) for values in series]
        between = [a - b for a in lists[:1] for b in lists[1:] if a.size == b.size]
        known = np.concatenate([*series, *lists, *between, np.asarray(others, dtype=np.float64)])
        self._sorted = np.sort(np.abs(known))  # a fall of 5 and a change of -5 are the same
        self._most = max(values.size for values in series)

    def explains(self, number: Numeral) -> bool:
        """Whether the number is a known one, rounded to the digits it is written with; percent also as a share."""
        if number.is_whole and 0 <= number.value <= self._most:
            return True
        return any(self._has(abs(number.value) / by, number.unit / by) for by in (1.0, 100.0))

    def _has(self, size: float, unit: float) -> bool:
        reach = unit / 2 + _SLACK * size
        first, last = np.searchsorted(self._sorted, (size - reach, size + reach))
        return bool(last > first)


def invented(written: Sequence[Numeral], trial: Trial) -> list[Numeral]:
    """The numbers of a reply that nothing explains."""
    if not written:
        return []
    question = trial.question
    asked = re.findall(r"\d+(?:\.\d+)?", f"{question.text} {question.form.tolerance}")  # the 95 of "95th" too
    others = [*map(float, asked), *_numbers(trial.truth)]
    known = Known(tuple(trial.dataset.series.values()), others)
    return [number for number in written if not known.explains(number)]


def _numbers(truth: Json) -> list[float]:
    if isinstance(truth, list):
        return [float(one) for one in truth]
    return [float(truth)] if isinstance(truth, int | float) and not isinstance(truth, bool) else []


# -- how often it errs ----------------------------------------------------------------------------


def false_alarm_rate(seed: int = 0, n: int = 1000) -> float:
    """The share of true numbers taken for invented.

    Three in four numbers are from the stated list; one follows from the data without being on it: any percentile, the
    mean or deviation of any stretch, the distance of any two values. Written with 3 to 6 significant digits.
    """
    dice = np.random.default_rng([seed, 1])
    alarms = 0
    for number in range(n):
        values = _fresh(dice)
        true = float(dice.choice(derived(values))) if number % 4 else _unlisted(values, dice)
        alarms += not Known((values,), ()).explains(_written(true, dice))
    return alarms / n


def miss_rate(seed: int = 0, n: int = 1000) -> float:
    """The share of made-up numbers, as large as the data and written with 3 to 6 significant digits, let pass."""
    dice = np.random.default_rng([seed, 2])
    missed = 0
    for _ in range(n):
        values = _fresh(dice)
        made_up = dice.uniform(values.min(), values.max())
        missed += Known((values,), ()).explains(_written(made_up, dice))
    return missed / n


def _fresh(dice: Dice) -> Series:
    recipes = (*SHAPES.values(), *LINE.values())
    return draw(recipes[int(dice.integers(len(recipes)))], dice, int(dice.choice(_SIZES))).values


def _unlisted(values: Series, dice: Dice) -> float:
    part = values[: int(dice.integers(values.size // 4, values.size))]
    first, second = dice.choice(values, 2, replace=False)
    numbers = (part.mean(), part.std(), np.percentile(values, dice.uniform(1, 99)), first - second)
    return float(numbers[int(dice.integers(len(numbers)))])


def _written(number: float, dice: Dice) -> Numeral:
    return numerals(f"{number:.{int(dice.choice(_DIGITS))}g}")[0]
