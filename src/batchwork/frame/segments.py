"""Decide whether a short series is a few constant levels: the exact best ones, against all that needs no steps.

Greedy selection misses a step that another one undoes, and a short series cannot prove that its noise has no memory:
the steps must tell more than noise with a memory about a constant, a line or a parabola, than a random walk, than any
level.
"""

import math

import numpy as np

from batchwork.frame.axis import Axis
from batchwork.frame.noise import Floats

SHORTEST, LONGEST = 40, 150
_MOST_STEPS = 5
_STEP, _NEXT_STEP = 2.8, 2.2  # times log(n): the price of the first step, and of each other: slow noise makes one
_BEND = 1.5  # the same of each power of time
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


def clear_steps(z: Floats, axis: Axis, least: int, rival: float, floor: float) -> tuple[tuple[int, ...], float]:
    """The steps of a short series (none if it needs none) and the sum of squares they leave.

    `rival` is the score of the best other level (n log(rss) and its price), `floor` a sum of squares of mere rounding.
    """
    n = z.size
    unit = math.log(n)
    found = best_segments(z, least)
    prices = [unit * (_STEP + _NEXT_STEP * more) for more in range(len(found) - 1)]
    scores = [n * math.log(max(rss, floor)) + price for (_, rss), price in zip(found[1:], prices, strict=True)]
    best = int(np.argmin(scores))
    needed = min(rival, _without_steps(z, axis)) - _SURELY / n
    for (steps, _), price in zip(
        found[1 : best + 1], prices, strict=False
    ):  # nor may noise with a memory about fewer steps tell as much
        means = np.concatenate([np.full(part.size, part.mean()) for part in np.split(z, steps)])
        needed = min(needed, _with_memory(z - means) + price)
    return found[best + 1] if scores[best] < needed else found[0]


def _without_steps(z: Floats, axis: Axis) -> float:
    """The score of the best level without steps, its noise with a memory of one or two points, or of a random walk."""
    n = z.size
    best = n * math.log(max(float(np.sum(np.diff(z) ** 2)) * n / (n - 1), 1e-300))
    for power in range(3):
        columns = np.vander(axis.unit, power + 1)
        rest = z - columns @ np.linalg.lstsq(columns, z, rcond=None)[0]
        best = min(best, _with_memory(rest) + power * _BEND * math.log(n))
    return best


def _with_memory(rest: Floats) -> float:
    """n log of the sum of squares that noise with a memory of one or two points leaves unforetold."""
    n = rest.size
    before = np.column_stack([rest[1:-1], rest[:-2]])
    fresh = rest[2:] - before @ np.linalg.lstsq(before, rest[2:], rcond=None)[0]
    return n * math.log(max(min(float(fresh @ fresh) * n / (n - 2), float(rest @ rest)), 1e-300))
