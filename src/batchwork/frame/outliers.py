"""Decide which points are odd: too far out for the tail that the other points show.

The k farthest points are odd if the *gap* to the rest is too wide: all of them lie beyond it with probability (S(far
end) / S(near end))^k. S is a Student tail, averaged over freedom and scale by what the sample says of them. All k are
tried, largest first, so that a group cannot hide itself; two sides of different shape are judged each alone.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, stdtr

from batchwork.frame.noise import Floats, median, robust_sigma, thinned
from batchwork.frame.shape import untied

_LEVEL = 0.015  # per side; both sides together have twice as much
_MORE_IN_SHORT = 1.7  # below 150 points, where the level would otherwise hardly be used
_LEAST_GAP = 1.2  # a narrower gap is never a reason
_NEAREST = 3.0  # robust standard deviations; nothing nearer is odd
# the shapes: Student's t with these degrees of freedom (infinite: normal), each at these scales, as columns
_NU = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, np.inf])
_PRIOR = np.array([0.2, 0.8, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0])
_SCALES = np.array([0.6, 0.72, 0.85, 1.0, 1.18, 1.4, 1.7])
_FREEDOM = np.repeat(_NU, _SCALES.size)[:, None]
_SCALE = np.tile(_SCALES, _NU.size)[:, None]
_LOG_PRIOR = np.log(np.repeat(_PRIOR, _SCALES.size))
# how dear a chance is under each: the lighter tails are known better, and would leave their level unused
_CAUTION = np.repeat([1.0, 1.0, 1.0, 0.8, 0.6, 0.55, 0.55, 0.55], _SCALES.size)[:, None]
_FINITE = np.where(np.isinf(_FREEDOM), 1.0, _FREEDOM)
_POWER = 0.5 * (_FINITE + 1.0)
_CONSTANT = np.where(
    np.isinf(_FREEDOM),
    0.5 * np.log(2.0 / np.pi),
    gammaln(_POWER) - gammaln(0.5 * _FINITE) - 0.5 * np.log(_FINITE * np.pi) + np.log(2.0),
) - np.log(_SCALE)
_BULK = 2000
_SORTED = 20000  # of more points, some stand for the bulk


def odd_points(values: Floats) -> NDArray[np.int64]:
    """Indices of the odd points of level-free values, in order."""
    n = values.size
    if n < 8:
        return np.zeros(0, dtype=np.int64)
    values = _spread_ties(values)
    middle = median(thinned(values))
    distance = values - middle
    unit = robust_sigma(distance)
    if unit <= 0:
        return np.zeros(0, dtype=np.int64)
    distance /= unit
    # long series show their tail, so power is no concern; short ones hardly show it, so caution is
    level = _LEVEL * min(1.0, float(np.sqrt(300.0 / n)), n / 60.0) * (_MORE_IN_SHORT if n < 150 else 1.0)
    some = thinned(distance)
    if _alike(np.sort(some[some > 0]), np.sort(-some[some < 0])):
        size = np.abs(distance, out=distance)
        return np.flatnonzero(size >= (_limit(size, n, 2.0 * level) or np.inf))
    high, low = (_limit(side[side > 0], n, level) for side in (distance, -distance))
    return np.flatnonzero((distance >= (high or np.inf)) | (distance <= -(low or np.inf)))


def _spread_ties(values: Floats) -> Floats:
    """Values that were rounded to few cells, spread over them: the room between cells is no gap."""
    some = np.sort(thinned(values))
    if np.count_nonzero(some[1:] == some[:-1]) * 20 < some.size:
        return values
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    spread = np.empty_like(values)
    spread[order] = untied(ordered)
    return spread


def _alike(above: Floats, below: Floats) -> bool:
    """Whether the two sides may share a shape (Smirnov's distance, without the farthest tenth of each)."""
    a, b = above[: above.size - above.size // 10], below[: below.size - below.size // 10]
    if min(a.size, b.size) < 4:
        return False
    a, b = thinned(a, 4000), thinned(b, 4000)
    grid = np.concatenate([a, b])
    gap = np.abs(np.searchsorted(a, grid, side="right") / a.size - np.searchsorted(b, grid, side="right") / b.size)
    return bool(float(gap.max()) * np.sqrt(a.size * b.size / (a.size + b.size)) < 1.36)


def exceptions(values: Floats) -> NDArray[np.int64] | None:
    """The few points of a series that is otherwise one value; None if it is not such a series."""
    other = np.flatnonzero(values != np.sort(values)[values.size // 2])
    return None if other.size > max(1, values.size // 50) or values.size < 10 else other


def without_echoes(odd: NDArray[np.int64], view: Floats, phi: float) -> NDArray[np.int64]:
    """Odd points less those that are odd only because a neighbour is.

    Seen against its neighbours, one odd point throws an opposite shadow of half its size on each side, and
    a jump of a wandering series throws two equal and opposite ones: the first is one point, the second none.
    """
    if phi <= 0 or odd.size < 2:
        return odd
    known = set(odd.tolist())
    share = phi / (1.0 + phi * phi)
    kept = []
    for place in odd.tolist():
        beside = [other for other in (place - 1, place + 1) if other in known and view[other] * view[place] < 0]
        largest = max((abs(view[other]) for other in beside), default=0.0)
        if abs(view[place]) > largest / max(2.0 * share, 0.5) and abs(view[place]) > 1.35 * largest:
            kept.append(place)
    return np.array(kept, dtype=np.int64)


def _limit(distance: Floats, n: int, level: float) -> float | None:
    """The distance from which on points are odd, or None if none are."""
    most = min(distance.size // 3, max(3, n // 8), 20000)
    if most < 1:
        return None
    near, far = _parted(distance, most)
    worth = np.flatnonzero((far[1:] > _LEAST_GAP * far[:-1]) & (far[1:] > _NEAREST))
    if worth.size == 0:
        return None
    count = np.arange(most, 0, -1)[worth]
    rest_end, gap_end = _log_tail(far[None, worth]), _log_tail(far[None, worth + 1])
    log_weight = (
        _log_likelihood(near, distance.size - most)[:, None]
        + _sums(far, worth)
        + count * rest_end
        + _LOG_PRIOR[:, None]
    )
    weight = np.exp(log_weight - log_weight.max(axis=0))
    weight /= weight.sum(axis=0)
    chance = np.sum(_CAUTION * weight * np.exp(count * (gap_end - rest_end)), axis=0)
    odd = np.flatnonzero(chance < level * 0.6 / count**2.0)  # the shares sum to the level over all counts
    return float(far[worth[odd[0]] + 1]) if odd.size else None


def _parted(distance: Floats, most: int) -> tuple[Floats, Floats]:
    """The rest in order (of many, an even choice), and from its end on the farthest points."""
    if distance.size <= _SORTED:
        ordered = np.sort(distance)
        return ordered[: distance.size - most], ordered[distance.size - most - 1 :]
    some = np.sort(thinned(distance))
    likely = some[-min(2 * (most + 1) * some.size // distance.size + 100, some.size)]
    beyond = np.sort(distance[distance >= likely])  # far fewer than all, and more than are sought
    far = beyond[-most - 1 :] if beyond.size > most else np.sort(distance)[-most - 1 :]
    return some[some <= far[0]], far


def _sums(far: Floats, worth: NDArray[np.int64]) -> Floats:
    """Log-likelihood of the far points that still belong to the rest, for each place where odd ones may start."""
    if worth[-1] == 0:
        return np.zeros((_FREEDOM.size, worth.size))
    stride = max(1, worth[-1] // 1000)  # of a long tail, every so many points stand for their neighbours
    density = stride * _log_density(far[None, 1 : worth[-1] + 1 : stride])
    total = np.concatenate([np.zeros((_FREEDOM.size, 1)), np.cumsum(density, axis=1)], axis=1)
    return np.asarray(total[:, np.minimum(worth // stride, total.shape[1] - 1)])


def _log_likelihood(points: Floats, count: int) -> Floats:
    """Log-likelihood under every shape of so many points, for which these stand; of many, an even choice speaks."""
    bulk = points if points.size <= _BULK else points[np.linspace(0, points.size - 1, _BULK).astype(np.int64)]
    return np.asarray(_log_density(bulk[None, :]).sum(axis=1) * (count / max(bulk.size, 1)))


def _log_density(x: Floats) -> Floats:
    """Log density of the distance from the middle on one side: a row per shape."""
    squares = (x / _SCALE) ** 2
    return np.asarray(_CONSTANT - np.where(np.isinf(_FREEDOM), 0.5 * squares, _POWER * np.log1p(squares / _FINITE)))


def _log_tail(x: Floats) -> Floats:
    """Log probability that a distance on one side exceeds x: a row per shape."""
    u = x / _SCALE
    tail = 2.0 * np.where(np.isinf(_FREEDOM), ndtr(-u), stdtr(_FINITE, -u))
    return np.asarray(np.where(tail < 1e-290, -0.5 * u * u, np.log(np.maximum(tail, 1e-300))))
