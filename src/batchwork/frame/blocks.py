"""Decide at what resolution a long series is looked at: means of equal blocks, steps placed point by point.

A step inside a block would look like a ramp: it is first placed exactly, and its block then counts its larger side
only.
"""

from dataclasses import replace

import numpy as np

from batchwork.frame.axis import Axis
from batchwork.frame.levels import Level, choose_level
from batchwork.frame.noise import Floats, block_means

MOST_BLOCKS = 1024


def block_size(n: int) -> int:
    """Points per block; 1 as long as every point can be looked at."""
    if n <= 1500:
        return 1
    return -(-n // (MOST_BLOCKS if n <= 20000 else MOST_BLOCKS // 2))


def level_of(values: Floats, axis: Axis, waves: Floats) -> tuple[Level, tuple[int, ...]]:
    """The level over blocks beside slow seasons (columns over the blocks), and its steps as positions in `values`."""
    n = values.size
    size = block_size(n)
    if size == 1:
        level = choose_level(values, axis, waves)
        return level, level.steps
    means = block_means(values, size)
    draft = choose_level(means, axis.blocks(size), waves, draft=True)
    if not draft.steps:
        return draft, ()
    for place in _exact(values, axis, draft, size):
        _set_straight(means, values, place, size)
    level = choose_level(means, axis.blocks(size), waves, after=draft)
    return level, _exact(values, axis, level, size)


def _exact(values: Floats, axis: Axis, level: Level, size: int) -> tuple[int, ...]:
    """Each step's first point: where a split of the points around it leaves the least spread."""
    places = []
    centres, at = axis.centres(size), axis.at
    for step in level.steps:
        a, b = max((step - 3) * size, 0), min((step + 3) * size, values.size)
        drift = np.interp(at[a:b], centres, level.smooth + level.season)
        window = values[a:b] - drift
        window -= window.mean()
        m = window.size
        left = np.cumsum(window)[:-1]
        count = np.arange(1, m)
        gain = left**2 * (1.0 / count + 1.0 / (m - count))
        places.append(a + 1 + int(np.argmax(gain)))
    return tuple(places)


def _set_straight(means: Floats, values: Floats, place: int, size: int) -> None:
    """Let the block that holds a step speak for its larger side alone."""
    block = min(place // size, means.size - 1)
    start = block * size
    stop = values.size if block == means.size - 1 else start + size
    if start < place < stop:
        side = values[start:place] if place - start >= stop - place else values[place:stop]
        means[block] = side.mean()


def as_points(level: Level, steps: tuple[int, ...], axis: Axis) -> Level:
    """The block level drawn out over all points, with its steps where they really are."""
    n = axis.size
    size = block_size(n)
    if size == 1:
        return level
    centres, at = axis.centres(size), axis.at
    if level.base == "constant":
        smooth = np.broadcast_to(np.float64(level.smooth[0]), (n,))  # one number, not n of them
    elif level.base == "curve":
        smooth = np.interp(at, centres, level.smooth)
    else:  # interpolation would flatten the two ends
        step = (level.smooth[-1] - level.smooth[0]) / (centres[-1] - centres[0])
        smooth = level.smooth[0] + step * (at - centres[0])
    none = np.broadcast_to(np.float64(0.0), (n,))
    if not steps:
        return replace(level, steps=steps, fitted=smooth, smooth=smooth, season=none)
    rises = level.fitted - level.smooth
    heights = [rises[0], *[rises[step] for step in level.steps]]
    fitted = np.repeat(heights, np.diff([0, *steps, n]))
    fitted += smooth
    return replace(level, steps=steps, fitted=fitted, smooth=smooth, season=none)
