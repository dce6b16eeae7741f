"""Decide which numbers of a reply are invented: those that follow neither from the data nor from the question.

A number is explained if, to the digits it is written with, it is

- a value of the data;
- a whole number from 0 to the number of points: a position or a count;
- a number of the question, or its true answer;
- a number of the data part that was sent: to quote a description is not to invent, whether it is right or wrong;
- one of the quantities of `derived`: the stated list of what one computes from a series.

This is a coarse net; `net_errors` measures how coarse.
"""

import re
from collections.abc import Sequence

import numpy as np

from batchwork.benchmarks.scoring.measures import MEASURES, line_of
from batchwork.benchmarks.scoring.numerals import Numeral, numerals
from batchwork.benchmarks.trial import Json, Series, Trial

_MAIN = ("mean", "median", "std", "min", "max", "range", "p5", "p25", "p75", "p95", "iqr")
_SLACK = 1e-9  # of a number's size: what rounding in floating point may do


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


def invented(written: Sequence[Numeral], trial: Trial, data: str = "") -> list[Numeral]:
    """The numbers of a reply that nothing explains; `data` is the data part of the prompt that was sent."""
    if not written:
        return []
    series, question = tuple(trial.dataset.series.values()), trial.question
    asked = re.findall(r"\d+(?:\.\d+)?", f"{question.text} {question.form.tolerance}")  # the 95 of "95th" too
    known = Known(series, [*map(float, asked), *_numbers(trial.truth)])
    left = [number for number in written if not known.explains(number)]
    if not left or not data:
        return left
    quoted = Known(series, _told(data))  # a long text is looked through only for what nothing else explains
    return [number for number in left if not quoted.explains(number)]


def _told(data: str) -> list[float]:
    """The numbers of a text, a comma between digits read either way; percent also as a share."""
    found = [*numerals(data), *numerals(data.replace(",", " "))]
    return [one.value / by for one in found for by in ((1.0, 100.0) if one.percent else (1.0,))]


def _numbers(truth: Json) -> list[float]:
    if isinstance(truth, list):
        return [float(one) for one in truth]
    return [float(truth)] if isinstance(truth, int | float) and not isinstance(truth, bool) else []
