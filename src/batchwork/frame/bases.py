"""Decide what a level may be made of: a constant, a line, a curve, and steps upon them, as columns over the points."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.interpolate import BSpline

from batchwork.frame.axis import Axis
from batchwork.frame.noise import Floats

BEND = 3  # parts of a parabola: in a short series, a curve that costs no more than a step


@lru_cache(maxsize=64)
def base_columns(base: str, size: int, axis: Axis, crowd: int = 0) -> Floats:
    """The regressors of a base over the points, intercept first.

    A spline's knots crowd at the start (-1) or the end (1) for paths that are steep there, as logarithms are; where
    points are missing there are none.
    """
    n = axis.size
    t = _crowded(axis.unit, crowd)
    if base == "constant":
        return np.ones((n, 1))
    if base == "line":
        return np.column_stack([np.ones(n), t])
    if size == BEND:
        return np.column_stack([np.ones(n), t, t * t])
    inner = np.linspace(-1.0, 1.0, size - 2)
    if not axis.even:
        inner = np.interp(inner, _crowded(np.linspace(-1.0, 1.0, n), crowd), t)
    knots = np.concatenate([[-1.0] * 3, inner, [1.0] * 3])
    return np.asarray(BSpline.design_matrix(np.clip(t, -1, 1), knots, 3).toarray(), dtype=np.float64)


def _crowded(t: Floats, crowd: int) -> Floats:
    return np.asarray(crowd * (1.0 - 2.0 * np.sqrt(np.maximum(0.5 - 0.5 * crowd * t, 0.0)))) if crowd else t


def step_columns(steps: tuple[int, ...], n: int) -> Floats:
    """One column per step: 0 before it, 1 from it on."""
    return np.asarray(np.arange(n)[:, None] >= np.array(steps, dtype=np.int64)[None, :], dtype=np.float64)
