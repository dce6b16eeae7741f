"""Decide which points are odd: too far out for the tail that the other points show.

Heavy tails are no anomalies, so a fixed number of standard deviations will not do. For each side, the k
farthest points are odd if the *gap* between them and the rest is too wide: given that k points lie beyond
the rest's farthest, they would all lie beyond the gap with probability (S(near end) / S(far end))^k. S is
the tail of a Student t, averaged over degrees of freedom and scale with the weights that the rest's own
likelihood gives them. All k are tried, largest first, so that a group cannot hide itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, stdtr

from batchwork.frame.dip import untied
from batchwork.frame.noise import Floats, robust_sigma

_LEVEL = 0.008  # per side
_FREEDOM = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0, np.inf])
_SCALES = np.array([0.55, 0.7, 0.85, 1.0, 1.18, 1.4, 1.8])
_BULK = 2000


def odd_points(values: Floats) -> NDArray[np.int64]:
    """Indices of the odd points of level-free values, in order."""
    n = values.size
    if n < 8:
        return np.zeros(0, dtype=np.int64)
    values = _spread_ties(values)
    middle = float(np.median(values))
    distance = values - middle
    unit = robust_sigma(distance)
    if unit <= 0:
        return np.zeros(0, dtype=np.int64)
    above, below = np.sort(distance[distance > 0]) / unit, np.sort(-distance[distance < 0]) / unit
    alike = _alike(above, below)
    first = [_limit(side, None, n) for side in (above, below)]
    limits = []
    for own, other, limit in ((above, below, first[1]), (below, above, first[0])):
        odd = 0 if limit is None else int((other >= limit).sum())
        spared = other[: other.size - max(odd, other.size // 50 + 1)]
        limits.append(_limit(own, spared if alike and spared.size else None, n))
    found = [
        np.flatnonzero(sign * distance / unit >= limit)
        for sign, limit in zip((1.0, -1.0), limits, strict=True)
        if limit is not None
    ]
    return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def _spread_ties(values: Floats) -> Floats:
    """Values that were rounded to few cells, spread over them: the room between cells is no gap."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    if np.count_nonzero(ordered[1:] == ordered[:-1]) * 20 < values.size:
        return values
    spread = np.empty_like(values)
    spread[order] = untied(ordered)
    return spread


def _alike(above: Floats, below: Floats) -> bool:
    """Whether the two sides may share a shape (Smirnov's distance, without the farthest tenth of each)."""
    a, b = above[: above.size - above.size // 10], below[: below.size - below.size // 10]
    if min(a.size, b.size) < 4:
        return False
    grid = np.concatenate([a, b])
    gap = np.abs(np.searchsorted(a, grid, side="right") / a.size - np.searchsorted(b, grid, side="right") / b.size)
    return float(gap.max()) * np.sqrt(a.size * b.size / (a.size + b.size)) < 1.36


def exceptions(values: Floats) -> NDArray[np.int64] | None:
    """The few points of a series that is otherwise one value; None if it is not such a series."""
    ordered = np.sort(values)
    common = ordered[values.size // 2]
    other = np.flatnonzero(values != common)
    if other.size > max(1, values.size // 50) or values.size < 10:
        return None
    return other


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


def _limit(distance: Floats, other: Floats | None, n: int) -> float | None:
    """The distance from which on points of one side are odd, or None if none are.

    `distance` is sorted; `other` are sorted points of the other side, if they may speak for this one's tail.
    """
    most = min(distance.size // 3, max(3, n // 8), 20000)
    if most < 1:
        return None
    near, far = distance[: distance.size - most], distance[distance.size - most - 1 :]
    if not (far[1:] > 1.2 * far[:-1]).any():
        return None
    log_weight = _log_weights(near, far)
    if other is not None:
        log_weight += _log_weights(other, np.repeat(other[-1:], 2))
    rest_end, gap_end = far[:-1], far[1:]  # entry i: the rest ends at far[i], the odd ones start at far[i + 1]
    count = np.arange(most, 0, -1)
    worth = np.flatnonzero(gap_end > 1.2 * rest_end)
    if worth.size == 0:
        return None
    tails = [_log_tail(far, nu, scale) for nu in _FREEDOM for scale in _SCALES]
    chance = np.zeros(worth.size)
    weight = np.exp(log_weight[:, worth] - log_weight[:, worth].max(axis=0))
    weight /= weight.sum(axis=0)
    for row, tail in zip(weight, tails, strict=True):
        chance += row * np.exp(count[worth] * (tail[1:] - tail[:-1])[worth])
    allowed = _LEVEL * 0.6 / count[worth] ** 2.0  # sums to the level over all k
    odd = np.flatnonzero(chance < allowed)
    return float(gap_end[worth[odd[0]]]) if odd.size else None


def _log_weights(near: Floats, far: Floats) -> Floats:
    """Log-likelihood of the points up to each far one, per shape, each cut off at its farthest."""
    bulk, share = near, 1.0
    if near.size > _BULK:
        bulk = near[np.linspace(0, near.size - 1, _BULK).astype(np.int64)]
        share = near.size / _BULK
    rows = []
    size = near.size + np.arange(far.size - 1)
    for nu in _FREEDOM:
        for scale in _SCALES:
            start = share * float(_log_density(bulk, nu, scale).sum())
            later = np.concatenate([[0.0], np.cumsum(_log_density(far[1:-1], nu, scale))])
            inside = np.log(np.maximum(-np.expm1(_log_tail(far[:-1], nu, scale)), 1e-300))
            rows.append(start + later - size * inside)
    return np.array(rows)


def _log_density(x: Floats, nu: float, scale: float) -> Floats:
    """Log density of the distance from the middle, on one side, up to a constant."""
    u = x / scale
    if np.isinf(nu):
        return -0.5 * u * u - np.log(scale) + 0.5 * np.log(2.0 / np.pi)
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) + np.log(2.0)
    return np.asarray(constant - np.log(scale) - 0.5 * (nu + 1) * np.log1p(u * u / nu))


def _log_tail(x: Floats, nu: float, scale: float) -> Floats:
    """Log probability that a distance on one side exceeds x."""
    u = x / scale
    tail = 2.0 * (ndtr(-u) if np.isinf(nu) else stdtr(nu, -u))
    small = tail < 1e-290
    return np.asarray(np.where(small, -0.5 * u * u, np.log(np.maximum(tail, 1e-300))))
