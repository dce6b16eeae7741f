"""Decide everything about one series, in the order in which one answer needs another.

Hold odd points, find level and seasons together, judge odd points on what those leave, then spread and
shape on what is left without the odd points. All of it happens on values scaled by a power of two and
shifted by their median, so that no unit and no offset changes a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from batchwork.frame.axis import Axis
from batchwork.frame.blocks import block_size
from batchwork.frame.certain import (
    Certainty,
    certainty_of,
    exact_structure,
    grain_of,
    is_bent_one_way,
    polished,
    rest_of,
)
from batchwork.frame.cleaning import held
from batchwork.frame.description import (
    Anomaly,
    ChangePoint,
    Description,
    Distribution,
    Last,
    Season,
    Statistics,
    Trend,
    Volatility,
)
from batchwork.frame.noise import (
    Floats,
    inflation,
    median,
    robust_sigma,
    thinned,
)
from batchwork.frame.outliers import exceptions, odd_points, without_echoes
from batchwork.frame.recurrence import Recurrence, recurrence_of
from batchwork.frame.samples import Samples
from batchwork.frame.season import Structure, refit, structure_of
from batchwork.frame.shape import few_values, shape_of
from batchwork.frame.statistics import exponent_of, ldexp_or_inf, statistics_of
from batchwork.frame.threads import one_thread
from batchwork.frame.trend import test_slope
from batchwork.frame.volatility import change_of_spread

MOST_LISTED = 8
_LONG = 1 << 16
_FLAT = 1e-6  # of the range: a line that rises less is flat


@dataclass(frozen=True, slots=True)
class _Scale:
    """How analysed numbers become those of the series again."""

    exponent: int
    shift: float

    def level(self, number: float) -> float:
        return ldexp_or_inf(number + self.shift, self.exponent)

    def size(self, number: float) -> float:
        return ldexp_or_inf(number, self.exponent)


@dataclass(frozen=True, slots=True)
class _Noise:
    """What level and seasons leave, its persistence, and the view of it in which one odd point shows best."""

    rest: Floats
    phi: float
    view: Floats
    odd: NDArray[np.int64]
    certain: Certainty
    distinct: int | None  # how many values there are, if few

    @property
    def clean(self) -> NDArray[np.bool_]:
        mask = np.ones(self.rest.size, dtype=bool)
        mask[self.odd] = False
        return mask

    def without_odd(self, values: Floats) -> Floats:
        """The values less the odd ones; the same array when none are."""
        return values[self.clean] if self.odd.size else values


def analyse(samples: Samples, context: str | None = None, unit: str | None = None) -> Description:
    """The description of a series."""
    with one_thread():
        return _described(samples, context, unit)


def _described(samples: Samples, context: str | None, unit: str | None) -> Description:
    statistics = statistics_of(samples)
    empty = Description(
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
        trend=None,
        seasons=(),
        change_points=(),
        anomaly_count=0,
        anomalies=(),
        distribution=Distribution(kind="unknown"),
        volatility=None,
        last=None,
        quality=samples.notes,
    )
    return empty if statistics is None else _filled(empty, samples, statistics)


def _filled(empty: Description, samples: Samples, statistics: Statistics) -> Description:
    exponent = exponent_of(samples.values)
    values = np.ldexp(samples.values, -exponent)
    scale = _Scale(exponent, median(values))
    values -= scale.shift
    if values.size < 4 or statistics.range == 0:
        return replace(empty, distribution=_plain_shape(values), last=_last(samples, statistics))
    axis = samples.axis
    grain = grain_of(values)
    law = recurrence_of(values, axis, grain)
    structure = exact_structure(values, axis, law, grain)
    if structure is None:
        law = None if law is None or law.is_level else law
        structure = polished(values, axis, _structure(values, axis, law), grain)
    noise = _noise(values, axis, structure, law, grain)
    return replace(
        empty,
        trend=_trend(values, structure, axis, noise),
        seasons=_seasons(structure, noise, scale, samples.timeline.step_s),
        change_points=_changes(structure, axis, samples, scale),
        anomaly_count=int(noise.odd.size),
        anomalies=_anomalies(noise, values, samples, scale),
        distribution=_distribution(values, axis, structure, noise, scale),
        volatility=_volatility(values, noise, axis, samples, scale),
        last=_last(samples, statistics),
    )


def _structure(values: Floats, axis: Axis, law: Recurrence | None) -> Structure:
    if law is not None:  # without noise there is nothing to hold
        return structure_of(law.mended(values), axis)
    structure = structure_of(held(values), axis)
    if structure.lines:  # a sharp season was held like odd points; now that it is known it need not be
        season = structure.season
        structure = refit(held(values - season) + season, axis, structure)
    return structure


def _noise(values: Floats, axis: Axis, structure: Structure, law: Recurrence | None, grain: float) -> _Noise:
    """What is left, and which of its points are odd."""
    rest = rest_of(values, structure)
    rest[(rest < grain) & (rest > -grain)] = 0.0
    certain = certainty_of(rest, axis, structure, law, grain)
    distinct = few_values(values)
    if certain.noiseless:
        return _Noise(rest, 0.0, rest, certain.odd, certain, distinct)
    phi = 1.0 if structure.level.wanders and rest.size >= 30 else _persistence(rest, axis)
    view = axis.against_neighbours(rest, phi)
    odd = exceptions(values) if distinct else None
    if odd is None and distinct and _stays(values):
        odd = np.zeros(0, dtype=np.int64)
    if odd is None:
        odd = without_echoes(odd_points(view), view, phi)
    return _Noise(rest, phi, view, odd, certain, distinct)


def _persistence(rest: Floats, axis: Axis) -> float:
    """How much of each value comes again in the next; 0 where that may be chance."""
    calm = rest[:_LONG]
    calm = np.where(np.abs(calm) > 3.5 * robust_sigma(calm), 0.0, calm)  # a group of odd points is not persistence
    phi = axis.part(_LONG).persistence(calm)
    return phi if phi >= 2.5 / np.sqrt(rest.size) else 0.0


def _trend(values: Floats, structure: Structure, axis: Axis, noise: _Noise) -> Trend:
    coarse = structure.coarse
    one_way = is_bent_one_way(values, axis)
    if one_way or (noise.certain.noiseless and structure.level.base == "line"):
        path = values if one_way else structure.level.smooth
        if abs(path[-1] - path[0]) > max(_FLAT * float(np.ptp(values)), 10.0 * grain_of(values)):
            direction = "rising" if path[-1] > path[0] else "falling"
            return Trend(direction=direction, confidence=1.0, curved=one_way, certain=True)
    if noise.certain.noiseless and coarse.base != "curve":
        return Trend(direction="none", confidence=1.0, certain=True)
    slope = test_slope(structure.blocks, axis.blocks(block_size(axis.size)), coarse)
    against = (
        slope is not None and slope.curved and bool(coarse.steps) and slope.per_point * _rise(structure.blocks) < 0
    )
    if slope is None or not slope.is_real or against:  # between steps that lead the other way there is no trend
        return Trend(
            direction="none",
            confidence=0.0 if slope is None or against else 1.0 - slope.p_value,
            wanders=coarse.wanders and not noise.certain.noiseless,
        )
    return Trend(
        direction="rising" if slope.per_point > 0 else "falling",
        confidence=1.0 - slope.p_value,
        curved=slope.curved,
        certain=noise.certain.noiseless,
        wanders=coarse.wanders,
    )


def _stays(values: Floats) -> bool:
    """Whether most values are those before them: of a few levels, there is then no noise to speak of."""
    return median(np.abs(np.diff(values))) == 0


def _rise(values: Floats) -> float:
    """The sign of the least-squares slope."""
    return float(np.linspace(-1.0, 1.0, values.size) @ values)


def _seasons(structure: Structure, noise: _Noise, scale: _Scale, step_s: float | None) -> tuple[Season, ...]:
    clean = noise.clean
    found = []
    for line, wave in zip(structure.lines, structure.waves, strict=True):
        period = 1.0 / line.frequency
        rest = noise.rest[clean]
        if structure.level.wanders:  # slower than the season, so neither for nor against it
            rest = rest - uniform_filter1d(rest, max(round(period), 2), mode="nearest")
        left, whole = float(np.var(rest)), float(np.var(wave[clean] + rest))
        found.append(
            Season(
                period=period,
                amplitude=scale.size(0.5 * float(np.ptp(wave))),
                strength=min(max(1.0 - left / whole, 0.0), 1.0) if whole > 0 else 0.0,
                duration_s=None if step_s is None else period * step_s,
            )
        )
    return tuple(sorted(found, key=lambda season: -season.amplitude))


def _changes(structure: Structure, axis: Axis, samples: Samples, scale: _Scale) -> tuple[ChangePoint, ...]:
    fitted = structure.level.fitted
    return tuple(
        ChangePoint(
            index=int(samples.rows[place]),
            before=scale.level(fitted[place - 1]),
            after=scale.level(fitted[place]),
            after_gap=axis.gap_before(place),
        )
        for place in structure.level.steps
    )


def _anomalies(noise: _Noise, values: Floats, samples: Samples, scale: _Scale) -> tuple[Anomaly, ...]:
    """The odd points, farthest first."""
    unit = robust_sigma(noise.without_odd(noise.view))
    if noise.odd.size == 0:
        return ()
    middle = median(thinned(noise.view))
    distance = noise.view[noise.odd] - middle
    ranked = noise.odd[np.argsort(-np.abs(distance), kind="stable")][:1000]
    return tuple(
        Anomaly(
            index=int(samples.rows[place]),
            value=float(samples.values[place]),
            expected=scale.level(float(values[place] - noise.view[place])),
            deviations=_clip(float(noise.view[place]) - middle, unit),
        )
        for place in ranked
    )


def _clip(distance: float, unit: float) -> float:
    """Distance in units, at most a million of them: beyond that it is just far."""
    return float(np.clip(distance / unit, -1e6, 1e6)) if unit > abs(distance) * 1e-6 else float(np.sign(distance)) * 1e6


def _innovations(noise: _Noise, axis: Axis) -> Floats:
    """The clean rest without its persistence."""
    rest = noise.without_odd(noise.rest)
    if noise.phi <= 0:
        return rest
    return (axis.kept(noise.clean) if noise.odd.size else axis).whiten(rest, noise.phi)[1:]


def _volatility(values: Floats, noise: _Noise, axis: Axis, samples: Samples, scale: _Scale) -> Volatility | None:
    if noise.certain.noiseless:
        return Volatility(noise=0.0)
    if noise.distinct and _stays(values):
        return None
    fresh = _innovations(noise, axis)
    deviation = float(np.std(fresh)) if fresh.size else 0.0
    spread = change_of_spread(fresh, white=noise.phi <= 0)
    if spread is None:
        return Volatility(noise=scale.size(deviation))
    rows = samples.rows[noise.clean]
    lost = rows.size - fresh.size
    return Volatility(
        noise=scale.size(deviation),
        index=int(rows[spread.place + lost]),
        before=scale.size(spread.before),
        after=scale.size(spread.after),
    )


def _plain_shape(values: Floats) -> Distribution:
    shape = shape_of(values, 1.0)
    return Distribution(kind=shape.kind, distinct=shape.distinct)


def _distribution(values: Floats, axis: Axis, structure: Structure, noise: _Noise, scale: _Scale) -> Distribution:
    if noise.distinct is not None:
        return Distribution(kind="discrete", distinct=noise.distinct)
    level = structure.level
    bare = level.base == "constant" and not level.steps and not structure.lines and not level.wanders
    if noise.certain.noiseless:
        return Distribution(kind="unknown")
    if level.wanders:
        fresh = _innovations(noise, axis)
        return Distribution(kind=shape_of(fresh, inflation(fresh, 1.0)).kind, of_rest=True)
    rest = noise.without_odd(values if bare else noise.rest)
    worth = inflation(noise.without_odd(noise.rest), level.parameters) if noise.phi > 0 else 1.0
    shape = shape_of(rest, worth)
    centre = 0.0 if bare else float(np.mean(level.fitted))
    return Distribution(
        kind=shape.kind, of_rest=not bare, modes=tuple(scale.level(mode + centre) for mode in shape.modes)
    )


def _last(samples: Samples, statistics: Statistics) -> Last:
    last = samples.values[-1]
    below = float(np.mean(samples.values < last) + 0.5 * np.mean(samples.values == last)) * 100.0
    place = "low" if last < statistics.p5 else "high" if last > statistics.p95 else "usual"
    return Last(index=int(samples.rows[-1]), value=float(last), percentile=below, place=place)
