"""Decide whether a series is one cycle that comes again without noise, after any number of steps, whole or not.

Put in order of their phase, the values of such a series rise once and fall once, and most of them lie exactly between
their neighbours: squares, saws, triangles and all that is made of straight pieces. Noise has no such order, which shows
at once: its distances between crossings of the middle differ by more than the one step of sampling.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.axis import Axis
from batchwork.frame.noise import Floats, median

_FEWEST_POINTS, _FEWEST_CROSSINGS = 24, 5
_ROUNDS, _TRIALS = 4, 33
_SLACK = 1e-6  # of the range: rounding, carried along by the phase


def period_of(values: Floats, axis: Axis) -> float | None:
    """The period at which the values, in order of their phase, rise once and fall once; None if there is none."""
    if values.size < _FEWEST_POINTS or not axis.even:
        return None
    above = values > 0.5 * (values.min() + values.max())
    up, down = (np.flatnonzero(~one[:-1] & one[1:]) for one in (above, ~above))
    if min(up.size, down.size) < _FEWEST_CROSSINGS or max(np.ptp(np.diff(up)), np.ptp(np.diff(down))) > 1:
        return None
    for crossings in (up, down):
        period = _near(values, crossings)
        if period is not None and _is_straight(values, period):
            return period
    return None


def _near(values: Floats, crossings: NDArray[np.int64]) -> float | None:
    """The period of the crossings, or one close to it, at which the way up and down again is as short as can be."""
    before, after = values[crossings], values[crossings + 1]
    times = crossings + (0.5 * (values.min() + values.max()) - before) / (after - before)
    period = float(np.polyfit(np.arange(times.size), times, 1)[0])
    reach = 1.0 / (times.size - 1)
    trials = np.array([round(period), period])
    for _ in range(_ROUNDS):
        ways = [_way(values, trial) for trial in trials]
        best = int(np.argmin(ways))
        if ways[best] <= (2.0 + _SLACK) * float(np.ptp(values)):
            return float(trials[best])
        period = float(trials[best]) if trials.size > 2 else period
        trials = period + np.linspace(-reach, reach, _TRIALS)
        reach /= 0.25 * _TRIALS
    return None


def _way(values: Floats, period: float) -> float:
    """The way from value to value in order of phase, and back to the first."""
    ordered = values[np.argsort(_phase(values, period), kind="stable")]
    return float(np.abs(np.diff(ordered)).sum() + abs(ordered[0] - ordered[-1]))


def _phase(values: Floats, period: float) -> Floats:
    return np.asarray((np.arange(values.size) / period) % 1.0)


def _is_straight(values: Floats, period: float) -> bool:
    """Whether most values lie where the line between their neighbours in phase does."""
    phase = _phase(values, period)
    order = np.argsort(phase, kind="stable")
    x, y = phase[order], values[order]
    share = (x[1:-1] - x[:-2]) / np.maximum(x[2:] - x[:-2], 1e-300)
    off = np.abs(y[1:-1] - y[:-2] - share * (y[2:] - y[:-2]))
    return median(off) <= _SLACK * float(np.ptp(values))
