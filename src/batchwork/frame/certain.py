"""Decide what is certain: fits that leave nothing but rounding, and paths too smooth to hold any noise.

A test compares with noise; where there is none, rounding and the misfit of a model must not stand in for it.
"""

from dataclasses import replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.axis import Axis
from batchwork.frame.joint_fit import improved, rest_of
from batchwork.frame.noise import Floats, median, robust_sigma
from batchwork.frame.recurrence import Recurrence, period_of, repetition
from batchwork.frame.season import Line, Structure, fitted

_GRAIN = 1e-9  # of the range: what is smaller is rounding
_SMOOTH = 0.06  # fourth differences over second ones, each in units of white noise
_MISFIT = 1e-3  # eighth differences of the values over what level and seasons leave: noise would show in both
_LONGEST = 20000
_PART = 4096  # points that show whether a path is smooth
_FAR = 12.0  # times as far as any neighbour: an odd point of a smooth path


def grain_of(values: Floats) -> float:
    """The size of rounding in values that were scaled to at most 1 and then shifted."""
    return max(_GRAIN * float(np.ptp(values)), 8.0 * float(np.finfo(np.float64).eps))


def _joint(values: Floats, axis: Axis, lines: tuple[Line, ...], grain: float) -> Structure | None:
    """Level, seasons and their frequencies, improved together (Gauss and Newton) until nothing is left but rounding."""
    structure, best = fitted(values, axis, lines), np.inf
    for count in range(9):
        left = float(np.abs(rest_of(values, structure)).max())
        if left <= 1e-4 * grain:
            return structure
        if count > 1 and left > 0.8 * best:  # the first round moves the frequencies under waves that stand still
            return structure if left <= 4.0 * grain else None
        best = left
        structure = improved(values, axis, structure)
    return structure if best <= 4.0 * grain else None


def _differences(values: Floats, axis: Axis, order: int) -> Floats:
    """Differences of an order within runs without holes, in units of white noise."""
    changes = np.diff(values, order) / np.sqrt(comb(2 * order, order))
    return np.asarray(changes if axis.even else changes[axis.at[order:] - axis.at[:-order] == order])


def is_smooth(rest: Floats, values: Floats, axis: Axis, grain: float) -> bool:
    """Whether values follow a smooth path so closely that there is no noise to speak of."""
    rest, values, axis = rest[:_PART], values[:_PART], axis.part(_PART)
    second, fourth = _differences(rest, axis, 2), _differences(rest, axis, 4)
    if fourth.size < 8:
        return False
    slow, fast = median(np.abs(second)), median(np.abs(fourth))
    if slow <= grain:  # nearly all are rounding, not only those between rare events
        return float(np.quantile(np.abs(second), 0.95)) <= 1e3 * grain
    if fast < _SMOOTH * slow:
        return True
    fine, finest = (np.abs(_differences(values, axis, order)) for order in (4, 8))
    if finest.size < 8 or median(finest) >= _MISFIT * robust_sigma(rest):
        return False  # else a curve of pieces does not follow a smooth path
    return median(finest) < _SMOOTH**2 * median(fine) or float(np.quantile(finest, 0.95)) <= grain


def is_bent_one_way(values: Floats, axis: Axis) -> bool:
    """Whether values rise (or fall) at every point, and ever faster or ever slower: six points do not by chance."""
    if values.size < 6:
        return False
    slopes = np.diff(values) / np.diff(axis.at)
    bends = np.diff(slopes)
    return bool((slopes > 0).all() or (slopes < 0).all()) and bool((bends > 0).all() or (bends < 0).all())


def odd_in_smooth(values: Floats, axis: Axis) -> NDArray[np.int64]:
    """Single points far off a smooth path: farther from their neighbours' curve than any point about them."""
    n = values.size
    if n < 16:
        return np.zeros(0, dtype=np.int64)
    off = np.zeros(n)
    off[2:-2] = values[2:-2] - (4.0 * (values[1:-3] + values[3:-1]) - values[:-4] - values[4:]) / 6.0
    if not axis.even:
        broken = np.ones(n, dtype=bool)
        broken[2:-2] = axis.at[4:] - axis.at[:-4] != 4.0
        off[broken] = 0.0
    size = np.abs(off)
    far = 1e-6 * float(np.ptp(values))  # nearer is rounding
    found = []
    for place in np.argsort(-size, kind="stable")[: max(1, n // 50)]:
        about = np.concatenate([size[max(place - 14, 0) : max(place - 2, 0)], size[place + 3 : place + 15]])
        beside = off[max(place - 1, 0) : place + 2 : 2]
        shadows = beside[beside != 0] + 2.0 / 3.0 * off[place]  # its neighbours look off, too, the other way
        if size[place] > max(_FAR * about.max(initial=far), 7.0 * np.abs(shadows).max(initial=0.0)):
            found.append(int(place))
    return np.array(sorted(found), dtype=np.int64)


def certainty_of(
    rest: Floats, axis: Axis, structure: Structure, law: Recurrence | None, grain: float
) -> tuple[bool, NDArray[np.int64]]:
    """Whether there is no noise in a rest in which rounding is zero already, and which points are odd then."""
    few = np.count_nonzero(rest) <= max(1, rest.size // 50)
    if few or float(max(rest.max(), -rest.min())) <= 4.0 * grain:
        off = np.flatnonzero(rest)
        return True, off[np.abs(rest[off]) > 1e3 * grain]
    if law is not None:
        return True, law.odd
    path = rest + structure.level.fitted
    if is_smooth(rest, path + structure.season, axis, grain):
        return True, odd_in_smooth(path, axis)
    return False, np.zeros(0, dtype=np.int64)


def exact_structure(values: Floats, axis: Axis, law: Recurrence | None, grain: float) -> Structure | None:
    """Level and seasons that leave nothing but the points that do not obey, if there are such."""
    if values.size > _LONGEST:
        return None
    if law is None or law.is_level or not law.frequencies(2.0 / axis.span):
        period = period_of(values, axis)
        if period is not None:
            level = np.full(values.size, values.mean())  # and all else is the season
            return replace(fitted(level, axis, ()), lines=(Line(1.0 / period, 1),), waves=(values - level,))
    if law is None:
        return None
    calm = law.mended(values)
    whole = repetition(calm, axis, grain)
    swings = law.frequencies(2.0 / axis.span)
    apart = any(abs(swing / swings[0] - round(swing / swings[0])) > 1e-4 for swing in swings)
    trials: list[tuple[Line, ...]] = [()]
    if len(swings) == 1 or (apart and len(swings) <= 3):
        trials.append(tuple(Line(frequency, 1) for frequency in swings))
    if whole is not None:
        trials.append((Line(1.0 / whole, max(whole // 2, 1)),))
    for lines in trials:
        found = _joint(calm, axis, lines, grain)
        if found is None:
            continue
        if lines or whole is None or len(found.level.steps) < 3 or 3 * whole > axis.span:  # else steps that come again
            return found
    return None
