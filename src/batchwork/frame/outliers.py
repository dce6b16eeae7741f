"""Decide which points are odd: strangers among points of another law, not the far end of the law of all.

Two stories compete over all points at once, each averaged over scales. In the first they share one Student law; in the
second a few are strangers among points whose own law is normal: at any distance beyond these, or values that are usual
at another time of the series. The second must be likelier, and a point is odd if it is likelier a stranger than not;
two sides of different shape are judged each alone. How much each Student law counts at a length was found by
simulation: as much as lets strangers be found most often while no Student noise (3 degrees of freedom to normal) has
any in more than 5% of series.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr, logsumexp

from batchwork.frame.noise import Floats, median, robust_sigma, thinned
from batchwork.frame.shape import untied

_LEAST_GAP = 1.2  # a narrower gap is never a reason
_FAR_APART = 2.5  # times as far: too far to be of one kind
_NEAREST = 3.0  # robust standard deviations; nothing nearer is odd
# the laws: Student's t with these degrees of freedom (infinite: normal), each at these scales, as rows
_NU = np.array([3.0, 6.0, 10.0, 20.0, np.inf])
# the log weights of the Student laws in series of these lengths: the shorter, the heavier the tails it may hide
_LENGTHS = (10, 20, 60, 100, 150, 300, 600, 2000)
_WEIGHTS = np.array(
    [
        [3.2, 2.9, 2.15, 1.9, 0.1, -1.5, -2.0, -1.0],
        [-6.0, -6.0, -6.0, 0.8, 1.8, -0.2, -4.0, -4.0],
        [-6.0, -6.0, -6.0, -5.0, -5.0, -0.2, -0.5, -2.0],
        [-6.0, -6.0, -6.0, -3.0, -3.4, 0.9, -0.5, -1.0],
    ]
)
_EACH_ALONE = 0.8  # how much likelier where two sides are judged, each alone
_SCALES = np.exp(np.linspace(np.log(0.6), np.log(1.6), 9))
_FREEDOM = np.repeat(_NU, _SCALES.size)[:, None]
_SCALE = np.tile(_SCALES, _NU.size)[:, None]
_FINITE = np.where(np.isinf(_FREEDOM), 1.0, _FREEDOM)
_POWER = 0.5 * (_FINITE + 1.0)
_CONSTANT = np.where(
    np.isinf(_FREEDOM),
    0.5 * np.log(2.0 / np.pi),
    gammaln(_POWER) - gammaln(0.5 * _FINITE) - 0.5 * np.log(_FINITE * np.pi) + np.log(2.0),
) - np.log(_SCALE)
_STRANGERS = (1.0, 2.0, 4.0)  # expected in all
_FROM = ((60, 300), (5.5, 4.5))  # where strangers begin at these lengths: nearer ones cannot be told from a short tail,
_TO = 8.0  # and from where on they are ever rarer; in standard deviations
_USUAL = 2.0  # so far beyond all that is expected anywhere values are usual;
_A_STEP_AWAY = 1.0  # and so near to what is expected a step away they are of no other time: a season may jump
_OF_ANOTHER_TIME = 2.5  # over sqrt(n): how many strangers are such values, for one that may be anywhere
_LEVEL = np.zeros(1)  # the same is expected everywhere
_BULK = 2000
_SORTED = 20000  # of more points, some stand for the bulk


def odd_points(values: Floats, expected: Floats = _LEVEL) -> NDArray[np.int64]:
    """Indices of the odd points of what level and season leave of values that were `expected`, in order."""
    n = values.size
    if n < 8:
        return np.zeros(0, dtype=np.int64)
    values = _spread_ties(values)
    distance = values - median(thinned(values))
    unit = robust_sigma(distance)
    if unit <= 0:
        return np.zeros(0, dtype=np.int64)
    distance /= unit
    elsewhere = _elsewhere(distance, expected, unit)
    some = thinned(distance)
    if _alike(np.sort(some[some > 0]), np.sort(-some[some < 0])):
        size = np.abs(distance, out=distance)
        return np.flatnonzero(size >= (_limit(size, elsewhere, 0.0) or np.inf))
    high, low = (_limit(side[side > 0], elsewhere[side > 0], _EACH_ALONE) for side in (distance, -distance))
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
    return bool(float(gap.max()) * np.sqrt(a.size * b.size / (a.size + b.size)) < 1.65)


def exceptions(values: Floats) -> NDArray[np.int64] | None:
    """The few points of a series that is otherwise one value; None if it is not such a series."""
    other = np.flatnonzero(values != np.sort(values)[values.size // 2])
    return None if other.size > max(1, values.size // 50) or values.size < 10 else other


def without_echoes(odd: NDArray[np.int64], view: Floats, phi: float) -> NDArray[np.int64]:
    """Odd points less those that are odd only because a neighbour is.

    Against its neighbours, an odd point throws an opposite shadow on each side, a jump two equal and opposite ones.
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


def _elsewhere(distance: Floats, expected: Floats, unit: float) -> Floats:
    """How densely strangers lie at each point that are usual at other places of the series; 0 where they cannot be."""
    n, start = distance.size, _start(distance.size)
    low, high = float(expected.min()) / unit - _USUAL, float(expected.max()) / unit + _USUAL
    if high - low <= start or n > _SORTED:
        return np.broadcast_to(np.float64(0.0), (n,))
    expected = expected / unit
    room = float(np.mean(np.maximum(high - expected - start, 0.0) + np.maximum(expected - low - start, 0.0)))
    value = expected + distance
    beside = np.minimum(np.abs(value - np.roll(expected, 1)), np.abs(value - np.roll(expected, -1)))
    usual = (value >= low) & (value <= high) & (beside > _A_STEP_AWAY)
    return np.where(usual, _OF_ANOTHER_TIME / np.sqrt(n) / max(room, 1.0), 0.0)


def _limit(distance: Floats, elsewhere: Floats, surely: float) -> float | None:
    """The distance from which on points are odd, or None if none are."""
    n = distance.size
    most = min(n // 3, max(3, n // 8), 20000)
    if most < 1:
        return None
    near, far = _parted(distance, most)
    worth = np.flatnonzero((far[1:] > _LEAST_GAP * far[:-1]) & (far[1:] > _NEAREST))
    if worth.size == 0:
        return None
    stride = max(1, most // 1000)  # of many far points, every so many stand for their neighbours
    some = far[None, 1::stride]
    bulk, beyond = _log_likelihood(near, n - most), _log_density(some)
    student = _FREEDOM[:, 0] < np.inf
    weights = np.repeat([np.interp(np.log(n), np.log(_LENGTHS), row) for row in _WEIGHTS], _SCALES.size)
    first = logsumexp(weights + (bulk + stride * beyond.sum(axis=1))[student]) - np.log(_SCALES.size)
    usual = elsewhere[np.argsort(distance)[-most:]][::stride] if n <= _SORTED else np.zeros(1)
    share = np.minimum(np.array(_STRANGERS) / n, 0.2)[:, None, None]
    strange = np.log(share) + _log_strange(some, n, usual)[~student]
    either = np.logaddexp(np.log1p(-share) + beyond[~student], strange)
    second = bulk[~student] + stride * either.sum(axis=2) + np.log1p(-share[:, :, 0]) * (n - most)
    total = logsumexp(second)
    if total - np.log(len(_STRANGERS)) < first + surely:
        return None
    likely = np.einsum("es,esp->p", np.exp(second - total), np.exp(strange - either))
    odd = far[worth[likely[worth // stride] > 0.5] + 1]
    apart = np.flatnonzero(odd[1:] > _FAR_APART * odd[:-1])
    if apart.size:  # what spoke for the second story was far beyond: the nearer ones have to speak for themselves
        farther = float(odd[apart[-1] + 1])
        nearer = distance < farther
        return _limit(distance[nearer], elsewhere[nearer], surely) or farther
    return float(odd[0]) if odd.size else None


def _start(n: int) -> float:
    """Where strangers begin among n points, in standard deviations."""
    return float(np.interp(np.log(n), np.log(_FROM[0]), _FROM[1]))


def _log_strange(x: Floats, n: int, elsewhere: Floats) -> Floats:
    """Log density of the distance of a stranger in n points: a row per law."""
    u, start = x / _SCALE, _start(n)
    broad = 1.0 / (u * (1.0 + u / _TO) * (np.log1p(_TO / start) * _SCALE))
    return np.asarray(np.log(broad + elsewhere) + log_ndtr((u - start) / 0.7))


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


def _log_likelihood(points: Floats, count: int) -> Floats:
    """Log-likelihood under every shape of so many points, for which these stand; of many, an even choice speaks."""
    bulk = points if points.size <= _BULK else points[np.linspace(0, points.size - 1, _BULK).astype(np.int64)]
    return np.asarray(_log_density(bulk[None, :]).sum(axis=1) * (count / max(bulk.size, 1)))


def _log_density(x: Floats) -> Floats:
    """Log density of the distance from the middle on one side: a row per shape."""
    squares = (x / _SCALE) ** 2
    return np.asarray(_CONSTANT - np.where(np.isinf(_FREEDOM), 0.5 * squares, _POWER * np.log1p(squares / _FINITE)))
