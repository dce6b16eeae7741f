"""Decide whether a level rises or falls, and how sure that is.

The slope is tested by generalised least squares at the *upper limit* of the noise's persistence: ordinary regression
for white noise, the test of the mean change for a random walk.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from batchwork.frame.axis import Axis, base_columns, step_columns
from batchwork.frame.levels import Level
from batchwork.frame.noise import Floats, inflation, upper_persistence

_LEVEL = 0.01  # two-sided; estimated persistence makes tests run hot, so 5% is kept with room
_SHORT_LEVEL = 0.006  # below 150 points persistence is not well known,
_SHORTEST_LEVEL = 0.0025  # and below 50 hardly at all
_SETBACK = 0.35  # how far a rising curve may surely fall back on its way, as a share of its net rise


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """A tested slope per point: its sign and size, the test's p-value, whether it is a trend, and a curved one."""

    per_point: float
    p_value: float
    is_real: bool
    curved: bool = False


def test_slope(z: Floats, axis: Axis, level: Level) -> Slope | None:
    """The slope of a chosen level, or None where the level has none."""
    n = z.size
    if n < 6 or float(np.ptp(z)) == 0 or (level.base == "constant" and not level.wanders):
        return None
    enough = _LEVEL if n >= 150 else _SHORT_LEVEL if n >= 50 else _SHORTEST_LEVEL
    if level.base == "curve":
        return _curve(z, axis, level, enough)
    columns = np.column_stack([base_columns("line", 0, axis), step_columns(level.steps, n)])
    weights = np.linalg.lstsq(columns, z, rcond=None)[0]
    phi = upper_persistence(z - columns @ weights, columns.shape[1] + len(level.steps))
    white = np.column_stack([axis.whiten(column, phi) for column in columns.T])
    target = axis.whiten(z, phi)
    at = 1
    if phi >= 1.0:  # the intercept has left the equation, and with it the first point
        white, target, at = white[1:, 1:], target[1:], 0
    tested, _, rank, _ = np.linalg.lstsq(white, target, rcond=None)
    rest = target - white @ tested
    freedom = max(target.size - int(rank), 1)
    spread = float(rest @ rest) / freedom * inflation(rest, white.shape[1])
    error = float(np.sqrt(max(spread * np.linalg.pinv(white.T @ white)[at, at], 0.0)))
    exact = float(np.ptp(z)) * 1e-9
    p_value = 0.0 if error <= exact else 2.0 * float(stdtr(freedom, -abs(tested[at]) / error))
    return Slope(per_point=float(weights[1]) * 2.0 / (n - 1), p_value=p_value, is_real=p_value < enough)


def _curve(z: Floats, axis: Axis, level: Level, enough: float) -> Slope:
    """A curve's net rise: tested as a slope against the noise the curve leaves."""
    n = z.size
    t = axis.unit - axis.unit.mean()
    path = level.smooth
    residual = z - level.fitted - level.season
    slope = float(t @ (path - path.mean())) / float(t @ t)
    freedom = max(n - level.parameters, 1.0)
    noise = float(np.sqrt(float(residual @ residual) / freedom))
    error = noise * float(np.sqrt(level.inflation / float(t @ t)))
    coarse = np.array([part.mean() for part in np.array_split(path, min(20, n))])  # a spline's very ends are noise
    net = float(coarse[-1] - coarse[0])
    rising = coarse if net > 0 else -coarse
    setback = float((np.maximum.accumulate(rising) - rising).max()) - noise * np.sqrt(2.0 * level.parameters / n)
    p_value = 2.0 * float(stdtr(freedom, -abs(slope) / error)) if error > 0 else 0.0
    monotone = net * slope > 0 and setback <= _SETBACK * abs(net)
    return Slope(per_point=net / (n - 1), p_value=p_value, is_real=monotone and p_value < enough, curved=True)
