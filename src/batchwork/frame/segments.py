"""Decide whether a short series is a few constant levels: the exact best ones, against all that needs no steps.

Greedy selection misses a step that another one undoes, and a short series cannot prove that its noise has no memory:
the steps must tell more than noise with a memory about a constant, a line or a parabola, than a random walk, than any
level.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.signal import lfilter

from batchwork.frame.axis import Axis
from batchwork.frame.noise import Floats

SHORTEST, LONGEST = 40, 150
_MOST_STEPS = 5
_STEP, _NEXT_STEP = 2.8, 2.2  # times log(n): the price of the first step, and of each other: slow noise makes one
_BEND = 1.5  # the same of each power of time
_JUMP = 3.38  # the same of one step in noise with a memory, where neither that noise
_STRAY_JUMP = 2.44  # nor one far innovation of noise with a long memory tells as much
_PHI = np.array([0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.9, 0.97, 0.995])  # memories: of the points before,
_CALM = 6  # so many of which are no wandering,
_THETA = (-0.7, -0.4, 0.0, 0.5)  # and of what was new in them
_SURELY = 120.0  # over n: how much more must be told in a short series


def best_segments(z: Floats, least: int) -> list[tuple[tuple[int, ...], float]]:
    """For no step, one, two, ...: the places that leave the least sum of squares, and that sum."""
    n = z.size
    sums, squares = (np.concatenate([[0.0], np.cumsum(x)]) for x in (z, z * z))
    length = np.arange(n + 1)[None, :] - np.arange(n + 1)[:, None]
    cost = squares[None, :] - squares[:, None] - (sums[None, :] - sums[:, None]) ** 2 / np.maximum(length, 1)
    cost[length < least] = np.inf
    left, starts = cost[0], []
    found: list[tuple[tuple[int, ...], float]] = [((), float(left[n]))]
    for _ in range(min(_MOST_STEPS, n // least - 1)):
        ways = left[:, None] + cost
        starts.append(ways.argmin(axis=0))
        left = ways.min(axis=0)
        places = [n]
        for start in reversed(starts):
            places.append(int(start[places[-1]]))
        found.append((tuple(reversed(places[1:])), float(left[n])))
    return found


def clear_steps(z: Floats, axis: Axis, least: int, rival: float, floor: float) -> tuple[int, ...]:
    """The steps of a short series; none if it needs none.

    `rival` is the score of the best other level (n log(rss) and its price), `floor` a sum of squares of mere rounding.
    """
    n = z.size
    unit = math.log(n)
    found = best_segments(z, least)
    prices = [unit * (_STEP + _NEXT_STEP * more) for more in range(len(found) - 1)]
    scores = [n * math.log(max(rss, floor)) + price for (_, rss), price in zip(found[1:], prices, strict=True)]
    best = int(np.argmin(scores))

    def others() -> Iterator[float]:
        yield rival - _SURELY / n
        yield _without_steps(z, axis) - _SURELY / n
        for (steps, _), price in zip(found[1 : best + 1], prices, strict=False):  # fewer steps, with a memory
            means = np.concatenate([np.full(part.size, part.mean()) for part in np.split(z, steps)])
            yield float(_with_memory((z - means)[:, None])[0]) + price

    return found[best + 1][0] if all(scores[best] < other for other in others()) else lone_jump(z, axis, least)


def lone_jump(z: Floats, axis: Axis, least: int) -> tuple[int, ...]:
    """The one step in noise with a memory, if neither more memory nor one far innovation tells as much."""
    unit = math.log(z.size)
    jumps = [_jump(z, phi, least) for phi in _PHI.tolist()]
    score, place = min(jumps[1:_CALM])
    plain = z.size * math.log(max(float(z.var()) * z.size, 1e-300))  # seen at once
    told = min(plain, min(jumps[_CALM:])[0] + _STRAY_JUMP * unit) - score
    return (place,) if told > _JUMP * unit and _without_steps(z, axis) - score > _JUMP * unit else ()


def _without_steps(z: Floats, axis: Axis) -> float:
    """The score of noise with a memory about a constant, a line or a parabola."""
    bends = _with_memory(np.column_stack([np.vander(axis.unit, 3, increasing=True), z]))[1:]
    return float(np.min(bends + _BEND * math.log(z.size) * np.arange(3)))


def _with_memory(columns: Floats) -> Floats:
    """The score of the best noise with a memory for the last column about none, one, two, ... of the columns before."""
    fresh = columns[1:] - _PHI[:, None, None] * columns[:-1]
    best = np.full(columns.shape[1], np.inf)
    for theta in _THETA:
        power = (1.0 + 2.0 * _PHI * theta + theta * theta) / (1.0 - _PHI**2)
        first = columns[None, :1] / power[:, None, None]
        rest = lfilter([1.0], [1.0, theta], fresh, axis=1, zi=-theta * first)[0]
        white = np.concatenate([first * np.sqrt(power)[:, None, None], rest], axis=1)
        left = np.cumsum(np.linalg.qr(white).R[:, ::-1, -1] ** 2, axis=1)[:, ::-1]
        scores = len(columns) * np.log(np.maximum(left, 1e-300)) + np.log(power)[:, None]
        best = np.minimum(best, scores.min(axis=0))
    return best


def _jump(z: Floats, phi: float, least: int) -> tuple[float, int]:
    """The score of the best step in noise with a memory of one point, and its place."""
    n, keep = z.size, 1.0 - phi
    start = math.sqrt(1.0 - phi * phi)
    level = np.concatenate([[start], np.full(n - 1, keep)])
    fresh = np.concatenate([[start * z[0]], z[1:] - phi * z[:-1]])
    fresh -= level * (level @ fresh) / (level @ level)
    places = np.arange(least, n - least + 1)
    after = keep**2 * (n - 1 - places)
    room = 1.0 + after - (keep + after) ** 2 / (level @ level)
    gains = (keep * fresh[::-1].cumsum()[::-1] + phi * fresh)[places] ** 2 / room
    rest = max(float(fresh @ fresh - gains.max()), 1e-300)
    return n * math.log(rest) - math.log(1.0 - phi * phi), least + int(gains.argmax())
