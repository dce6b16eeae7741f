"""Decide whether a series foretells itself, without noise.

Lines, polynomials, exponentials, sines, their sums and short cycles obey a recurrence: each value is a fixed
combination of the few before it. A cycle of straight pieces may come again after a broken number of steps: in order
of their phase its values rise once and fall once, and most lie exactly between their neighbours.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.axis import Axis
from batchwork.frame.noise import Floats, median

_ORDERS = (1, 2, 3, 4, 6, 8, 12)
_PLAIN = (np.array([1.0, 0.0]), np.array([-1.0, 2.0, 0.0]))  # a level, a line
_PART = 130  # points that a recurrence is sought on
_UNDAMPED = 1e-3
_LONGEST_PERIOD = 600
_DRIFT = 0.25  # of the range: a cycle upon a line must rise by this in all
_PROMISING = 0.1
_SPIKE = 8.0  # times the median distance of a point from its neighbours
_FEWEST_POINTS, _FEWEST_CROSSINGS = 24, 5
_ROUNDS, _TRIALS = 4, 33
_SLACK = 1e-6  # of the range: rounding, carried along by the phase
_EXACT = 1e-6  # of the spread: what is smaller is rounding, carried along


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Weights of the values before, oldest first, then a constant; and the few points that do not obey."""

    weights: Floats
    odd: NDArray[np.int64]

    @property
    def is_level(self) -> bool:
        """Whether it says no more than that values stay as they are, which rounded ones often do."""
        return bool(np.array_equal(self.weights, _PLAIN[0]))

    def frequencies(self, slowest: float) -> list[float]:
        """Frequencies at which the recurrence swings for ever, none slower than this."""
        roots = np.roots([1.0, *-self.weights[-2::-1]]) if self.weights.size > 2 else np.zeros(0)
        turning = roots[(np.abs(np.abs(roots) - 1.0) < _UNDAMPED) & (roots.imag >= 0)]
        found = np.angle(turning) / (2.0 * np.pi)
        return sorted(float(f) for f in found if f >= slowest)

    def mended(self, values: Floats) -> Floats:
        """The values with what was foretold in place of the points that do not obey."""
        mended = values.copy()
        order = self.weights.size - 1
        for place in self.odd.tolist():
            mended[place] = mended[place - order : place] @ self.weights[:-1] + self.weights[-1]
        return mended


def recurrence_of(values: Floats, axis: Axis, grain: float) -> Recurrence | None:
    """The recurrence that nearly all values obey in both directions, or None where there is noise."""
    limit = max(_EXACT * float(values.std()), 4.0 * grain)
    weights = _weights(values, axis, limit)
    if weights is None:
        return None
    forward = _errors(values, axis.places, weights)
    if _typical(np.abs(forward)) > limit:
        return None
    back = axis if axis.even else Axis(axis.at[-1] - axis.at[::-1], axis.size)
    reverse = _weights(values[::-1], back, limit)
    if reverse is None:
        return None
    backward = _errors(values[::-1], back.places, reverse)[::-1]
    far = 1e-3 * float(values.std())  # an odd point is not one of rounding
    with np.errstate(invalid="ignore"):
        odd = np.flatnonzero((np.abs(forward) > far) & (np.abs(backward) > far))
    law = Recurrence(weights, odd if odd.size <= max(1, values.size // 50) else odd[:0])
    after = np.abs(np.nan_to_num(_errors(law.mended(values), axis.places, weights)))
    known = [place for place in law.odd.tolist() if after[place : place + weights.size].max() <= far]
    return replace(law, odd=np.array(known, dtype=np.int64))  # of others, those after are not foretold, either


def repetition(values: Floats, axis: Axis, grain: float) -> int | None:
    """The fewest whole steps after which values come again, but for a constant; seen at least three times."""
    if not (axis.is_whole and axis.is_dense):
        return None
    grid = np.full(int(axis.span), np.nan)
    grid[axis.at.astype(np.int64)] = values
    for period in range(2, min(grid.size // 3, _LONGEST_PERIOD) + 1):
        change = grid[period:] - grid[:-period]
        change = change if axis.even else change[np.isfinite(change)]
        if change.size < period or float(np.ptp(change)) > 8.0 * grain:
            continue
        drift = abs(float(change.mean())) * grid.size / period
        if drift <= 8.0 * grain or drift > _DRIFT * float(np.ptp(values)):  # else a period close to whole steps
            return period
    return None


def _typical(errors: Floats) -> float:
    known = errors[~np.isnan(errors)]
    return median(known) if known.size >= 3 else float("inf")


def _weights(values: Floats, axis: Axis, limit: float) -> Floats | None:
    """The weights of the shortest recurrence that holds on some part of the series, constant last."""
    n = values.size
    starts = sorted({0, max(n - _PART, 0)})  # an odd point spoils one of them
    parts = [(values[a : a + _PART], None if axis.places is None else axis.places[a : a + _PART]) for a in starts]
    for plain in _PLAIN:
        if min(_typical(np.abs(_errors(part, at, plain))) for part, at in parts) > limit:
            continue
        if _typical(np.abs(_errors(values, axis.places, plain))) <= limit:
            return plain
    for part, at in [cut for whole in parts for cut in (whole, *_without_spike(*whole))]:
        rows, targets = _windows(part, at, min(_ORDERS[-1], max(n // 5, 1)))
        if targets.size < 1.5 * rows.shape[1] + 4 or not _may_hold(rows, targets):
            continue
        if median(np.abs(targets - rows @ _fit(rows, targets))) > limit:
            continue
        for order in _ORDERS:
            rows, targets = _windows(part, at, order)
            weights = _fit(rows, targets)
            if median(np.abs(targets - rows @ weights)) <= limit:
                return weights
    return None


def _without_spike(part: Floats, at: Floats | None) -> list[tuple[Floats, Floats]]:
    """The part without the one point that stands far out of its neighbours, if there is such a point."""
    if part.size < 20:
        return []
    off = np.abs(part[1:-1] - 0.5 * (part[:-2] + part[2:]))
    place = 1 + int(np.argmax(off))
    if off[place - 1] <= _SPIKE * median(off):
        return []
    places = np.arange(part.size, dtype=np.float64) if at is None else at
    return [(np.delete(part, place), np.delete(places, place))]


def _may_hold(rows: Floats, targets: Floats) -> bool:
    """A quick look that noise does not pass: the normal equations, whatever they are worth."""
    gram = rows.T @ rows
    gram[np.diag_indices_from(gram)] *= 1.0 + 1e-9
    gram[-1, -1] += 1e-12
    off = np.abs(targets - rows @ np.linalg.solve(gram + 1e-300 * np.eye(len(gram)), rows.T @ targets))
    return median(off) <= _PROMISING * float(targets.std())


def _fit(rows: Floats, targets: Floats) -> Floats:
    """Least squares, without the rows that it does not meet: an odd point stands in a few of them."""
    weights = np.linalg.lstsq(rows, targets, rcond=None)[0]
    for _ in range(2):
        off = np.abs(targets - rows @ weights)
        kept = off <= 4.0 * median(off)
        if kept.all() or np.count_nonzero(kept) < rows.shape[1] + 4:
            break
        weights = np.linalg.lstsq(rows[kept], targets[kept], rcond=None)[0]
    return np.asarray(weights)


def _windows(values: Floats, at: Floats | None, order: int) -> tuple[Floats, Floats]:
    """Each value with those before it, newest last, and a one; only where none is missing."""
    windows = np.lib.stride_tricks.sliding_window_view(values, order + 1)
    if at is not None:
        windows = windows[at[order:] - at[:-order] == order]
    return np.column_stack([windows[:, :-1], np.ones(len(windows))]), windows[:, -1]


def _errors(values: Floats, at: Floats | None, weights: Floats) -> Floats:
    """How far each value is from what those before it foretell; NaN where some of those are missing."""
    order = weights.size - 1
    errors = np.full(values.size, np.nan)
    if values.size > order:
        errors[order:] = values[order:] - np.correlate(values, weights[:-1], "valid")[:-1] - weights[-1]
    if at is not None:
        errors[order:][at[order:] - at[:-order] != order] = np.nan
    return errors


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
