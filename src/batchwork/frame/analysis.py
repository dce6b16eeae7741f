"""Decide everything about one series, in the order in which one answer needs another.

Hold odd points, find level and seasons together, judge odd points on what those leave, then spread and
shape on what is left without the odd points. All of it happens on values scaled by a power of two and
shifted by their median, so that no unit and no offset changes a verdict, and on one thread of linear algebra.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from threadpoolctl import ThreadpoolController

from batchwork.frame import description as say
from batchwork.frame.axis import Axis, axis_of
from batchwork.frame.blocks import block_size
from batchwork.frame.certain import certainty_of, exact_structure, grain_of, is_bent_one_way
from batchwork.frame.joint_fit import rest_of, without_far_points
from batchwork.frame.levels import Level
from batchwork.frame.noise import Floats, held, inflation, median, robust_sigma, thinned
from batchwork.frame.outliers import exceptions, odd_points, without_echoes
from batchwork.frame.recurrence import Recurrence, recurrence_of
from batchwork.frame.samples import Samples, exponent_of, ldexp_or_inf, statistics_of
from batchwork.frame.season import Structure, refit, structure_of
from batchwork.frame.shape import few_values, shape_of
from batchwork.frame.trend import test_slope
from batchwork.frame.volatility import change_of_spread

_LONG = 1 << 16
_FLAT = 1e-6  # of the range: a line that rises less is flat
_MOST_KEPT = 1000  # odd points
_lock = Lock()
_inside: list[Any] = []  # a limit of threads for each description under way; only the first one is not None


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Finds the libraries once; it takes as long as a short description."""
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for linear algebra while any description is under way; the last one leaves the process as it was."""
    with _lock:
        limit = None if _inside else _controller().limit(limits=1, user_api="blas")
        _inside.append(limit)
    try:
        yield
    finally:
        with _lock:
            if len(_inside) == 1:
                _inside[0].restore_original_limits()
            _inside.pop()


def analyse(samples: Samples, context: str | None = None, unit: str | None = None) -> say.Description:
    """The description of a series."""
    with one_thread():
        statistics = statistics_of(samples)
        found = say.Description(
            context=context or samples.name,
            unit=unit,
            length=samples.length,
            count=samples.values.size,
            missing=samples.missing,
            infinite=samples.infinite,
            gaps=samples.gaps,
            base=samples.base,
            slope_per=samples.timeline.unit,
            statistics=statistics,
            quality=samples.notes,
        )
        if statistics is None:
            return found
        found = replace(found, last=_last(samples, statistics))
        if samples.values.size < 4 or statistics.range == 0:
            return replace(found, distribution=shape_of(samples.values, 1.0))
        return _Analysis.of(samples, statistics.median).filled(found)


def _last(samples: Samples, statistics: say.Statistics) -> say.Last:
    last = samples.values[-1]
    below = float(np.mean(samples.values < last) + 0.5 * np.mean(samples.values == last)) * 100.0
    place = "low" if last < statistics.p5 else "high" if last > statistics.p95 else "usual"
    return say.Last(index=int(samples.rows[-1]), value=float(last), percentile=below, place=place)


@dataclass(frozen=True, slots=True)
class _Analysis:
    """A scaled series, its level and seasons, and what those leave."""

    samples: Samples
    exponent: int
    shift: float
    values: Floats
    axis: Axis
    structure: Structure
    noiseless: bool
    distinct: int | None  # how many values there are, if few
    rest: Floats
    phi: float  # persistence of the rest
    view: Floats  # of the rest, in which one odd point shows best
    odd: NDArray[np.int64]

    @classmethod
    def of(cls, samples: Samples, middle: float) -> Self:
        exponent = exponent_of(samples.values)
        values = np.ldexp(samples.values, -exponent)
        shift = float(np.ldexp(middle, -exponent))
        values -= shift
        axis, grain = samples.axis, grain_of(values)
        law = recurrence_of(values, axis, grain)
        structure = exact_structure(values, axis, law, grain)
        if structure is None:
            law = None if law is None or law.is_level else law
            structure = _structure(values, axis, law)
        rest = rest_of(values, structure)
        rest[(rest < grain) & (rest > -grain)] = 0.0
        noiseless, odd = certainty_of(rest, axis, structure, law, grain)
        distinct = few_values(values)
        phi, view = 0.0, rest
        if not noiseless:
            phi = 1.0 if structure.level.wanders and rest.size >= 30 else _persistence(rest, axis)
            view = axis.against_neighbours(rest, phi)
            odd = _odd(values, rest, view, phi, distinct)
            if odd.size and structure.level.steps and not axis.even:
                structure = replace(structure, level=_steps_into_gaps(structure.level, axis, odd))
                rest = rest_of(values, structure)
                view = axis.against_neighbours(rest, phi)
        return cls(samples, exponent, shift, values, axis, structure, noiseless, distinct, rest, phi, view, odd)

    def filled(self, found: say.Description) -> say.Description:
        """The description with all that was found out."""
        return replace(
            found,
            trend=self._trend(),
            seasons=self._seasons(),
            change_points=self._changes(),
            anomaly_count=int(self.odd.size),
            anomalies=self._anomalies(),
            distribution=self._distribution(),
            volatility=self._volatility(),
        )

    def _size(self, number: float) -> float:
        return ldexp_or_inf(number, self.exponent)

    def _height(self, number: float) -> float:
        return ldexp_or_inf(number + self.shift, self.exponent)

    @property
    def _clean(self) -> NDArray[np.bool_]:
        mask = np.ones(self.rest.size, dtype=bool)
        mask[self.odd] = False
        return mask

    def _without_odd(self, values: Floats) -> Floats:
        """The values less the odd ones; the same array when none are."""
        return values[self._clean] if self.odd.size else values

    def _trend(self) -> say.Trend:
        structure, values = self.structure, self.values
        coarse = structure.coarse
        one_way = is_bent_one_way(values, self.axis)
        if one_way or (self.noiseless and structure.level.base == "line"):
            path = values if one_way else structure.level.smooth
            if abs(path[-1] - path[0]) > max(_FLAT * float(np.ptp(values)), 10.0 * grain_of(values)):
                direction = "rising" if path[-1] > path[0] else "falling"
                return say.Trend(direction=direction, confidence=1.0, curved=one_way, certain=True)
        if self.noiseless and coarse.base != "curve":
            return say.Trend(direction="none", confidence=1.0, certain=True)
        blocks = structure.blocks
        slope = test_slope(blocks, self.axis.blocks(block_size(values.size)), coarse)
        rise = float(np.linspace(-1.0, 1.0, blocks.size) @ blocks)
        against = slope is not None and slope.curved and bool(coarse.steps) and slope.per_point * rise < 0
        if slope is None or not slope.is_real or against:  # between steps that lead the other way there is no trend
            confidence = 0.0 if slope is None or against else 1.0 - slope.p_value
            return say.Trend(direction="none", confidence=confidence, wanders=coarse.wanders and not self.noiseless)
        return say.Trend(
            direction="rising" if slope.per_point > 0 else "falling",
            confidence=1.0 - slope.p_value,
            curved=slope.curved,
            certain=self.noiseless,
            wanders=coarse.wanders,
        )

    def _seasons(self) -> tuple[say.Season, ...]:
        clean, step_s = self._clean, self.samples.timeline.step_s
        found = []
        for line, wave in zip(self.structure.lines, self.structure.waves, strict=True):
            period = 1.0 / line.frequency
            rest = self.rest[clean]
            if self.structure.level.wanders:  # slower than the season, so neither for nor against it
                rest = rest - uniform_filter1d(rest, max(round(period), 2), mode="nearest")
            left, whole = float(np.var(rest)), float(np.var(wave[clean] + rest))
            found.append(
                say.Season(
                    period=period,
                    amplitude=self._size(0.5 * float(np.ptp(wave))),
                    strength=min(max(1.0 - left / whole, 0.0), 1.0) if whole > 0 else 0.0,
                    duration_s=None if step_s is None else period * step_s,
                )
            )
        return tuple(sorted(found, key=lambda season: -season.amplitude))

    def _changes(self) -> tuple[say.ChangePoint, ...]:
        fitted = self.structure.level.fitted
        return tuple(
            say.ChangePoint(
                index=int(self.samples.rows[place]),
                before=self._height(fitted[place - 1]),
                after=self._height(fitted[place]),
                after_gap=self.axis.gap_before(place),
            )
            for place in self.structure.level.steps
        )

    def _anomalies(self) -> tuple[say.Anomaly, ...]:
        """The odd points, farthest first."""
        if self.odd.size == 0:
            return ()
        unit = 0.0 if self.noiseless else robust_sigma(self._without_odd(self.view))
        distance = self.view[self.odd] - median(thinned(self.view))
        order = np.argsort(-np.abs(distance), kind="stable")[:_MOST_KEPT]
        return tuple(
            say.Anomaly(
                index=int(self.samples.rows[place]),
                value=float(self.samples.values[place]),
                expected=self._height(float(self.values[place] - self.view[place])),
                deviations=_in_units(far, unit),
            )
            for place, far in zip(self.odd[order], distance[order].tolist(), strict=True)
        )

    def _innovations(self) -> Floats:
        """The clean rest without its persistence."""
        rest = self._without_odd(self.rest)
        if self.phi <= 0:
            return rest
        axis = axis_of(self.axis.at[self._clean]) if self.odd.size else self.axis
        return axis.whiten(rest, self.phi)[1:]

    def _volatility(self) -> say.Volatility | None:
        if self.noiseless:
            return say.Volatility(noise=0.0)
        if self.distinct and _stays(self.values):
            return None
        fresh = self._innovations()
        noise = self._size(float(np.std(fresh)) if fresh.size else 0.0)
        change = change_of_spread(fresh, white=self.phi <= 0)
        if change is None:
            return say.Volatility(noise=noise)
        place, before, after = change
        rows = self.samples.rows[self._clean]
        index = int(rows[place + rows.size - fresh.size])
        return say.Volatility(noise=noise, index=index, before=self._size(before), after=self._size(after))

    def _distribution(self) -> say.Distribution:
        if self.distinct is not None:
            return say.Distribution(kind="discrete", distinct=self.distinct)
        if self.noiseless:
            return say.Distribution(kind="unknown")
        level = self.structure.level
        if level.wanders:
            fresh = self._innovations()
            return say.Distribution(kind=shape_of(fresh, inflation(fresh, 1.0)).kind, of_rest=True)
        bare = level.base == "constant" and not level.steps and not self.structure.lines
        worth = inflation(self._without_odd(self.rest), level.parameters) if self.phi > 0 else 1.0
        shape = shape_of(self._without_odd(self.values if bare else self.rest), worth)
        centre = 0.0 if bare else float(np.mean(level.fitted))
        modes = tuple(self._height(mode + centre) for mode in shape.modes)
        return say.Distribution(kind=shape.kind, of_rest=not bare, modes=modes)


def _structure(values: Floats, axis: Axis, law: Recurrence | None) -> Structure:
    if law is not None:  # without noise there is nothing to hold
        return structure_of(law.mended(values), axis)
    structure = structure_of(held(values), axis)
    if structure.lines:  # a sharp season was held like odd points; now that it is known it need not be
        season = structure.season
        structure = refit(held(values - season) + season, axis, structure)
    return without_far_points(values, axis, structure)


def _persistence(rest: Floats, axis: Axis) -> float:
    """How much of each value comes again in the next; 0 where that may be chance."""
    calm = rest[:_LONG]
    calm = np.where(np.abs(calm) > 3.5 * robust_sigma(calm), 0.0, calm)  # a group of odd points is not persistence
    phi = axis.part(_LONG).persistence(calm)
    return phi if phi >= 2.5 / np.sqrt(rest.size) else 0.0


def _odd(values: Floats, rest: Floats, view: Floats, phi: float, distinct: int | None) -> NDArray[np.int64]:
    """The odd points: of few distinct values, those that are exceptions; else those that lie too far out."""
    odd = exceptions(values) if distinct else None
    if odd is not None:
        return odd
    if distinct and _stays(values):
        return np.zeros(0, dtype=np.int64)
    return without_echoes(odd_points(view, values - rest), view, phi)


def _steps_into_gaps(level: Level, axis: Axis, odd: NDArray[np.int64]) -> Level:
    """The level with each step in the widest gap between the points that show it: odd ones do not."""
    strange, heights = set(odd.tolist()), level.fitted - level.smooth
    steps = []
    for place in level.steps:
        first, last = place, place
        while first > 1 and first - 1 in strange:
            first -= 1
        while last < axis.size - 1 and last in strange:
            last += 1
        widths = np.diff(axis.at[first - 1 : last + 1])
        moved = place if widths[place - first] == widths.max() else first + int(np.argmax(widths))
        before, after = heights[place - 1], heights[place]
        heights[first:moved], heights[moved:last] = before, after
        steps.append(moved)
    return replace(level, steps=tuple(steps), fitted=level.smooth + heights)


def _stays(values: Floats) -> bool:
    """Whether most values are those before them: of a few levels, there is then no noise to speak of."""
    return median(np.abs(np.diff(values))) == 0


def _in_units(distance: float, unit: float) -> float:
    """Distance in units, at most a million of them: beyond that it is just far."""
    return float(np.clip(distance / unit, -1e6, 1e6)) if unit > abs(distance) * 1e-6 else float(np.sign(distance)) * 1e6
