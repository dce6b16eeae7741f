"""Decide what a hole between two points means to every test: the only place that knows of holes.

Each value keeps its place, in steps from the first one: levels are fitted over places, seasons turn with them, and
over d steps persistence phi becomes phi to the power of d. The columns that a level is made of stand here, too.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.interpolate import BSpline
from scipy.ndimage import uniform_filter1d

from batchwork.frame.noise import Floats, block_means, lag_one

_WIDEST = 3  # a grid may be this many times as long as the series; beyond that no season is sought
BEND = 3  # parts of a parabola: in a short series, a curve that costs no more than a step
_BESIDE = 1.5  # steps; farther points are not neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Increasing places of values, from 0 on; None when they are 0, 1, 2, ..."""

    places: Floats | None
    size: int

    @property
    def even(self) -> bool:
        """Whether there are no holes."""
        return self.places is None

    @property
    def at(self) -> Floats:
        """The place of each value; made anew each time where there are no holes, for it is as long as the data."""
        return np.arange(self.size, dtype=np.float64) if self.places is None else self.places

    @property
    def span(self) -> float:
        """Steps from the first point to the last, both counted."""
        return float(self.size if self.places is None else self.places[-1] + 1.0)

    @property
    def is_dense(self) -> bool:
        """Whether there are points enough for every step to speak of seasons."""
        return self.even or self.span <= _WIDEST * self.size

    @property
    def is_whole(self) -> bool:
        """Whether every place is a whole number of steps."""
        return self.even or bool((self.at % 1.0 == 0.0).all())

    @property
    def unit(self) -> Floats:
        """The places shrunk to -1 ... 1."""
        if self.even:
            return np.linspace(-1.0, 1.0, self.size)
        return np.asarray(2.0 * self.at / self.at[-1] - 1.0)

    def part(self, most: int) -> "Axis":
        """The axis of the first points, at most so many."""
        return self if self.size <= most else even_axis(most) if self.even else axis_of(self.at[:most])

    def centres(self, size: int) -> Floats:
        """The places of block means on the axis of the points."""
        whole = self.size // size
        if self.places is not None:
            return block_means(self.places, size)
        centres = (np.arange(whole) + 0.5) * size - 0.5
        centres[-1] = 0.5 * ((whole - 1) * size + self.size - 1)
        return np.asarray(centres, dtype=np.float64)

    def blocks(self, size: int) -> "Axis":
        """The places of block means; a last block that is not full joins the one before."""
        if size == 1:
            return self
        if self.even:
            return even_axis(self.size // size)
        centres = self.centres(size)
        return Axis((centres - centres[0]) / size, centres.size)

    def gap_before(self, place: int, width: float = _BESIDE) -> bool:
        """Whether points are missing right before this one, so many steps or more."""
        return not self.even and bool(self.at[place] - self.at[place - 1] > width)

    def filled(self, values: Floats, *, bare: bool = False) -> Floats:
        """Level-free values at every step; holes hold what the points about them are on average, or (`bare`) 0."""
        if self.even:
            return values
        cell = np.round(self.at).astype(np.int64)
        count = np.bincount(cell)
        sums = np.bincount(cell, weights=values)
        calm = uniform_filter1d(values, min(7, values.size), mode="nearest")
        grid: Floats = np.zeros(count.size) if bare else np.interp(np.arange(count.size), self.at, calm)
        np.divide(sums, count, out=grid, where=count > 0)
        return grid

    def persistence(self, values: Floats) -> float:
        """Correlation of each value with its neighbour one step before."""
        if self.even:
            return lag_one(values)
        beside = np.flatnonzero(np.diff(self.at) <= _BESIDE)
        if beside.size < max(10, values.size // 5):
            return lag_one(values)
        centred = values - values.mean()
        before, after = centred[beside], centred[beside + 1]
        power = 0.5 * float(before @ before + after @ after)
        return float(before @ after) / power if power > 0 else 0.0

    def _distances(self) -> Floats:
        """Steps between neighbours; those of uneven times that nearly meet count as half a step."""
        return np.asarray(np.maximum(np.diff(self.at), 0.5))

    def whiten(self, values: Floats, phi: float) -> Floats:
        """Innovations of a first-order persistence, all of one variance."""
        head = values[:1] * np.sqrt(max(1.0 - phi * phi, 0.0))
        if self.even:
            return np.concatenate([head, values[1:] - phi * values[:-1]])
        distance, phi = self._distances(), max(phi, 0.0)
        fresh = (values[1:] - phi**distance * values[:-1]) / np.sqrt(_variance(phi, distance))
        return np.concatenate([head, fresh])

    def against_neighbours(self, values: Floats, phi: float) -> Floats:
        """How far each value is from what its two neighbours (at the ends, one) foretell: best to see one odd point."""
        if values.size < 4 or phi <= 0:
            return values
        middle = values[1:-1]
        if self.even:
            inner = middle - phi / (1.0 + phi * phi) * (values[:-2] + values[2:])
        else:
            left, right = self._distances()[:-1], self._distances()[1:]
            before, after, both = (_variance(phi, d) for d in (left, right, left + right))
            expected = (phi**left * after * values[:-2] + phi**right * before * values[2:]) / both
            inner = (middle - expected) * np.sqrt(both / (before * after * _variance(phi, np.array(2.0))))
        ends = [_end(values[place], values[near], values[far], phi) for place, near, far in ((0, 1, 2), (-1, -2, -3))]
        return np.concatenate([[ends[0]], inner, [ends[1]]])


def _variance(phi: float, distance: Floats) -> Floats:
    """The variance that a first-order persistence gathers over a distance, in units of one step's."""
    if phi >= 1.0:
        return np.asarray(distance, dtype=np.float64)
    return np.asarray((1.0 - phi ** (2.0 * distance)) / (1.0 - phi * phi))


def _end(value: float, near: float, far: float, phi: float) -> float:
    """An end seen from its neighbour, or from the line through two: whichever foretells it better."""
    scale = 1.0 / np.sqrt(1.0 + phi * phi)
    one = (value - phi * near) * scale
    two = (value - 2.0 * phi * near + phi * phi * far) * scale * scale
    return float(one if abs(one) < abs(two) else two)


@lru_cache(maxsize=64)
def even_axis(n: int) -> Axis:
    """The axis of values without holes; one object for each length, so that what hangs on it is kept."""
    return Axis(None, n)


def axis_of(at: Floats) -> Axis:
    """The axis of increasing places."""
    n = at.size
    if n == 0 or (float(at[-1] - at[0]) == n - 1 and bool((np.diff(at) == 1.0).all())):
        return even_axis(n)
    return Axis(at - at[0], n)


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
