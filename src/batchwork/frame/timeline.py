"""Decide where on the time axis each row stands: in order of time, on even steps, with gaps left open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.noise import Floats

_EVEN = 0.2  # a time within this share of a step from a whole step is on the grid
_WIDEST = 3  # a grid may be this many times longer than the series; beyond that only the order is used


@dataclass(frozen=True, slots=True)
class Timeline:
    """The rows in order of time (None: as given) and their positions in steps (None: their index)."""

    rows: NDArray[np.int64] | None
    at: Floats | None
    step_s: float | None
    notes: tuple[str, ...]


AS_GIVEN = Timeline(None, None, None, ())


def order_of(seconds: Floats, length: int) -> Timeline:
    """The timeline of one time per row."""
    notes: list[str] = []
    unknown = ~np.isfinite(seconds)
    if unknown.any():
        notes.append(
            f"{int(unknown.sum())} timestamps missing (first at {int(np.flatnonzero(unknown)[0])}), order as given"
        )
        return Timeline(None, None, None, tuple(notes))
    changes = np.diff(seconds)
    rows = np.arange(length)
    if (changes < 0).any():
        first = int(np.flatnonzero(changes < 0)[0]) + 1
        notes.append(f"timestamps out of order (first at {first}), sorted by time")
        rows = np.argsort(seconds, kind="stable")
        seconds = seconds[rows]
        changes = np.diff(seconds)
    if length < 3 or not (changes > 0).any():
        return Timeline(rows, np.arange(length, dtype=np.float64), None, tuple(notes))
    if (changes == 0).any():
        notes.append(f"{int((changes == 0).sum())} repeated timestamps")
        return Timeline(rows, np.arange(length, dtype=np.float64), None, tuple(notes))
    step = float(np.median(changes))
    at = (seconds - seconds[0]) / step
    grid = np.round(at)
    if (np.abs(at - grid) > _EVEN).any() or (np.diff(grid) < 1).any():
        notes.append("uneven time steps, order used")
        return Timeline(rows, np.arange(length, dtype=np.float64), None, tuple(notes))
    gaps = np.diff(grid) > 1
    if gaps.any():
        notes.append(f"{int(gaps.sum())} time gaps ({int(grid[-1]) + 1 - length} steps absent)")
    if grid[-1] + 1 > _WIDEST * length:
        return Timeline(rows, np.arange(length, dtype=np.float64), step, tuple(notes))
    return Timeline(rows, grid, step, tuple(notes))
