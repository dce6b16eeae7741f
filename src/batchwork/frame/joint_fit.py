"""Decide level and seasons of a known make once more, all at once: heights, shapes and frequencies.

Gauss and Newton: beside each season stands how it changes with its frequency. Points that lie far out have no say: what
an odd point does to a fit hides it, and makes odd points of others.
"""

import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.axis import Axis, base_columns, step_columns
from batchwork.frame.blocks import block_size
from batchwork.frame.noise import Floats, block_means, robust_sigma
from batchwork.frame.season import Line, Structure, wave_columns

_FAR = 3.5  # robust standard deviations
_ROUNDS = 3
_LONG = 4096  # beyond this a few points hardly have a say


def rest_of(values: Floats, structure: Structure) -> Floats:
    """What level and seasons leave."""
    rest = values - structure.level.fitted
    if structure.lines:
        rest -= structure.season
    return rest


def improved(values: Floats, axis: Axis, structure: Structure) -> Structure:
    """One round for values without noise; a line takes the place of a constant."""
    base = "line" if structure.level.base == "constant" else structure.level.base
    fit = _fit(values, axis, replace(structure, level=replace(structure.level, base=base)))
    size = block_size(values.size)
    coarse = fit.level if size == 1 else replace(structure.coarse, base=base)
    calm = np.asarray(values - np.sum(fit.waves, axis=0) if fit.lines else values)
    return replace(fit, coarse=coarse, blocks=block_means(calm, size))


def without_far_points(values: Floats, axis: Axis, structure: Structure) -> Structure:
    """Level and seasons as the other points show them; what the tests of the level saw stays as it was."""
    level = structure.level
    if values.size > _LONG or level.wanders or (level.base == "constant" and not level.steps and not structure.lines):
        return structure
    found = structure
    for count in range(_ROUNDS):
        rest = rest_of(values, found)
        near = np.abs(rest) <= _FAR * robust_sigma(rest)
        if near.all() and not found.lines:
            break
        if np.count_nonzero(near) < 0.8 * values.size:
            return structure
        found = _fit(values, axis, found, near, still=count == _ROUNDS - 1)
    return found


def _fit(
    values: Floats, axis: Axis, structure: Structure, near: NDArray[np.bool_] | None = None, *, still: bool = False
) -> Structure:
    """Level and seasons fitted to the near points, the frequencies moved towards better ones unless `still`."""
    level, lines, at = structure.level, structure.lines, axis.at
    parts = [base_columns(level.base, level.curve_size, axis, level.crowd), step_columns(level.steps, values.size)]
    parts += [wave_columns((line,), at) for line in lines]
    turned = [] if still else [_turned(line, wave, at) for line, wave in zip(lines, structure.waves, strict=True)]
    columns = np.column_stack([*parts, *turned])
    seen = slice(None) if near is None else near
    weights = np.linalg.lstsq(columns[seen], values[seen], rcond=None)[0]
    edges = np.cumsum([0, *(part.shape[1] for part in parts)])
    smooth, steps, *waves = (columns[:, a:b] @ weights[a:b] for a, b in itertools.pairwise(edges))
    if not still:
        shifts = np.clip(weights[edges[-1] :], -0.2 / axis.span, 0.2 / axis.span)
        moved = np.clip([line.frequency for line in lines] + shifts, 1e-9, 0.5).tolist()
        lines = tuple(
            line if near is not None and _is_whole(line) else Line(frequency, line.harmonics)
            for line, frequency in zip(lines, moved, strict=True)
        )
    level = replace(level, smooth=smooth, fitted=smooth + steps)
    return replace(structure, level=level, lines=lines, waves=tuple(waves))


def _is_whole(line: Line) -> bool:
    """Whether the period was chosen for being a whole number, which noise does not change."""
    return abs(1.0 / line.frequency - round(1.0 / line.frequency)) < 1e-9


def _turned(line: Line, wave: Floats, at: Floats) -> Floats:
    """How a season changes with its frequency: the place times the season's own slope there."""
    turns = [2.0 * np.pi * at * line.frequency * count for count in range(1, line.harmonics + 1)]
    weights = np.linalg.lstsq(wave_columns((line,), at), wave, rcond=None)[0]
    weights = np.append(weights, 0.0)  # a wave of two points has no sine
    slope = sum(
        count * (weights[2 * count - 1] * np.cos(turn) - weights[2 * count - 2] * np.sin(turn))
        for count, turn in enumerate(turns, start=1)
    )
    return np.asarray(2.0 * np.pi * at * slope)
