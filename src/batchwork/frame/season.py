"""Decide which seasons a series has, and what each looks like.

A season must stand out of the spectrum, and then the best level with its waves must tell more than the best level
without: a step has power at many frequencies, but a step tells it cheaper.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from batchwork.frame.axis import Axis, even_axis
from batchwork.frame.blocks import as_points, block_size, level_of
from batchwork.frame.levels import Level
from batchwork.frame.noise import Floats, block_means, description_lengths
from batchwork.frame.spectrum import FEWEST_CYCLES, find_line, refine, steady_changes

MOST_SEASONS = 3
_MOST_WAVES = 10
_LONG = 4096
_BINS = 64
_MIDDLE = 1 << 14
_SLOW = 4096
_SURELY = 90.0  # over n: how much more must be told in a short series
_BESIDE_MEMORY = 5.0  # a season beside noise with a memory must tell so much more
_SIDE_LINES = 3.0  # a long season that swells and fades has lines so many bins beside its harmonics
_OWN_BEAT, _OFF_BEAT = 2.0, 0.2  # times log(n): what a frequency of its own must tell; cycles it must go astray
_SHORT, _APART = 150, 0.7  # points, and cycles: a folded harmonic must go astray by so much in a short series
_OWN_VOICE = 0.65  # a harmonic this strong beside its fundamental is a season of its own (a day in a week)


@dataclass(frozen=True, slots=True)
class Line:
    """One season's frequency (cycles per point) and how many harmonics describe its shape."""

    frequency: float
    harmonics: int


@dataclass(frozen=True, slots=True)
class Structure:
    """Level and seasons of a series over its points, chosen together."""

    coarse: Level  # over blocks, for the tests
    blocks: Floats  # the block means that it was chosen on, less all seasons
    level: Level  # over points
    lines: tuple[Line, ...]
    waves: tuple[Floats, ...]  # each season over the points

    @property
    def season(self) -> Floats:
        """All seasons together."""
        if len(self.waves) == 1:
            return self.waves[0]
        return np.sum(self.waves, axis=0) if self.waves else np.broadcast_to(np.float64(0.0), (self.level.smooth.size,))


def wave_columns(lines: tuple[Line, ...], at: Floats) -> Floats:
    """Cosines and sines of every line and harmonic at the given positions."""
    columns = [
        turn(2.0 * np.pi * line.frequency * count * at)
        for line in lines
        for count in range(1, line.harmonics + 1)
        for turn in ((np.cos,) if 0.499 < line.frequency * count < 0.506 else (np.cos, np.sin))
    ]
    return np.column_stack(columns) if columns else np.empty((at.size, 0))


def structure_of(values: Floats, axis: Axis) -> Structure:
    """Level and seasons of `values` (odd points held) at their places."""
    found = fitted(values, axis, ())
    if values.size < 16 or not axis.is_dense:
        return found
    for _ in range(MOST_SEASONS):
        if float(np.ptp(values - found.level.fitted - found.season)) <= 1e-9 * float(np.ptp(values)):
            break
        better = next(_better(values, axis, found), None)
        if better is None:
            break
        found = better
    return found


def refit(values: Floats, axis: Axis, known: Structure) -> Structure:
    """Level and shapes of known seasons, fitted again to values that were held with the seasons in mind."""
    if values.size <= _LONG:
        return fitted(values, axis, known.lines)
    return replace(known, waves=tuple(_fold_all(values - known.level.fitted, axis, known.lines)))


def _better(values: Floats, axis: Axis, found: Structure) -> Iterator[Structure]:
    """Structures with one more season that tell more than the one found."""
    span = axis.span
    beside = 1.0 if values.size <= _LONG else _SIDE_LINES
    rest = values - found.season if found.lines else values
    for candidate in _candidates(rest, axis, found):
        if any(abs(candidate - line.frequency) * span < 1.0 for line in found.lines):
            continue
        # the level found so far may have bent to the season: look at its shape beside a level that knows of it
        line = Line(candidate, 3)
        if values.size <= _LONG:  # longer ones are folded, not fitted; the number is only a price
            rough = fitted(values, axis, (*found.lines, Line(candidate, min(2, max(1, int(0.5 / candidate))))))
            left = values - rough.level.fitted - np.sum(rough.waves[:-1], axis=0)
            if rough.level.wanders:  # what wanders would draw the frequency after it
                left = left - uniform_filter1d(left, max(round(1.0 / candidate), 2), mode="nearest")
            line = _shape(left, axis.at, candidate)
        trial = fitted(values, axis, (*found.lines, line))
        if _is_echo(trial, span / beside) or _is_told_cheaper(found, trial):
            continue
        if not _is_only_swinging(values, trial, 1):
            yield trial
        elif not found.lines:  # of two seasons at once, each alone leaves a swing
            pair = _with_another(values, axis, trial)
            if pair is not None and not _is_only_swinging(values, pair, 2):
                yield pair


def _is_echo(trial: Structure, span: float) -> bool:
    """Whether the last season is but a harmonic of another one, and not loud enough to stand for itself."""
    *others, last = zip(trial.lines, trial.waves, strict=True)
    return any(
        is_harmonic(last[0].frequency, line.frequency, span) and np.ptp(last[1]) < _OWN_VOICE * np.ptp(wave)
        for line, wave in others
    )


def _with_another(values: Floats, axis: Axis, trial: Structure) -> Structure | None:
    """The structure with the strongest line that its season leaves beside it."""
    if values.size > _LONG:
        return None
    for candidate in _candidates(values - trial.season, axis, trial):
        if abs(candidate - trial.lines[0].frequency) * axis.span >= 1.0:
            line = _shape(values - trial.level.fitted - trial.season, axis.at, candidate)
            pair = fitted(values, axis, (*trial.lines, line))
            if not _is_echo(pair, axis.span):
                return pair
    return None


def _is_told_cheaper(found: Structure, trial: Structure) -> bool:
    """Whether the level without the new season explains as much for less; only steps and curves could."""
    level = found.coarse
    too_fast_for_a_level = _is_fast(trial.lines[-1], block_size(trial.level.smooth.size))
    if too_fast_for_a_level or (level.base != "curve" and not level.steps):
        return False
    rival, level = level, trial.coarse
    independent = max(level.smooth.size / level.inflation, 3.0)
    told = independent * float(np.log(max(rival.rss, 1e-300) / max(level.rss, 1e-300)))
    return told <= (level.price - rival.price + 2.0 + trial.lines[-1].harmonics) * float(np.log(independent))


def _is_only_swinging(values: Floats, trial: Structure, fresh: int) -> bool:
    """Whether noise that swings by itself (an autoregression) foretells as well as the last few seasons do."""
    if values.size > _LONG:
        return False  # a line is narrow enough there to be told from any swing
    rest = values - trial.level.fitted - trial.season
    price = float(np.log(values.size))
    noise = description_lengths(rest)
    noise[1:] += _BESIDE_MEMORY
    told = float(description_lengths(rest + np.sum(trial.waves[-fresh:], axis=0)).min() - noise.min())
    harmonics = sum(min(line.harmonics, 2) for line in trial.lines[-fresh:])  # a swing has no more to pay for
    return told < (2 * harmonics + fresh) * price + _SURELY / values.size


def is_harmonic(candidate: float, known: float, span: float) -> bool:
    """Whether a frequency is a multiple of a known one, as sampled points show it (folded at one half)."""
    multiples = np.arange(1, 1 + int(np.clip(span / 25.0, 2, 40))) * known  # more would meet every frequency by chance
    return bool(np.min(np.abs(_folded(multiples) - candidate)) * span < 1.0)


def _folded(frequency: Any) -> Any:
    """The frequency that points show: faster ones than one half look slower."""
    return np.abs(frequency - np.round(frequency))


def _is_fast(line: Line, size: int) -> bool:
    """Whether a season is too fast for blocks of this size to see."""
    return size > 1 and 1.0 / line.frequency < 6 * size


def _candidates(rest: Floats, axis: Axis, found: Structure) -> Iterator[float]:
    """Lines of the changes, and of the series about its steps or else about a straight line."""
    grid = rest if axis.even else axis.filled(_straight(rest, axis))
    about = axis.filled(rest - found.level.fitted) if found.level.steps else grid
    for part, calm, size in _parts(grid, about):
        # about a level with steps where there are some; never about a curve, whose removal leaves a hump of its own
        straight = calm if found.level.steps else _straight(calm, even_axis(calm.size))
        views = [(steady_changes(part), True), (straight, False)]
        if not axis.even and size == 1:  # a slow season may fall into holes: there, nothing is better than a guess
            views.append((axis.filled(_straight(rest, axis), bare=True)[: part.size], False))
        for signal, changes in views:
            frequency = find_line(signal, changes=changes)
            if frequency is not None and frequency * part.size >= FEWEST_CYCLES:
                yield _exactly(grid, frequency / size, part.size * size)


def _parts(grid: Floats, about: Floats) -> Iterator[tuple[Floats, Floats, int]]:
    """The whole series; of a long one its middle, for fast seasons, and its block means, for slow ones."""
    n = grid.size
    if n <= 2 * _MIDDLE:
        yield grid, about, 1
        return
    middle = slice((n - _MIDDLE) // 2, (n + _MIDDLE) // 2)
    yield grid[middle], about[middle], 1
    size = n // _SLOW
    yield block_means(grid, size), block_means(about, size), size


def _straight(values: Floats, axis: Axis) -> Floats:
    """What is left about the least-squares line."""
    t = axis.unit - axis.unit.mean()
    return np.asarray(values - values.mean() - t * (float(t @ values) / float(t @ t)))


def _exactly(grid: Floats, frequency: float, seen: int) -> float:
    """A frequency found on part of a long series, sharp enough for all of it."""
    if seen >= grid.size // 2:
        return frequency
    whole = 1.0 / max(round(1.0 / frequency), 2)
    if abs(whole - frequency) * seen < 0.25:
        return whole
    return refine(_straight(grid, even_axis(grid.size)), frequency, 1.0 / seen)


def _shape(rest: Floats, at: Floats, frequency: float) -> Line:
    """How many harmonics a season is worth (Bayesian criterion), and the frequency at which they fit best."""
    n = rest.size
    most = max(1, min(_MOST_WAVES, int(0.505 / frequency)))  # a rough frequency must not lose the wave of two points
    if most == 2 and n < _SHORT and abs(_folded(3.0 * frequency) - frequency) * n > _APART:
        most = 3  # faster than points show, it looks like a slower wave: a sharp season of few points has it
    best, chosen, worse = np.inf, 1, 0
    for count in range(1, most + 1):
        left = max(_left(rest, at, frequency, count), 1e-18 * float(rest @ rest), 1e-300)
        score = n * np.log(left) + 2.0 * count * np.log(n)
        if score < best:
            best, chosen, worse = score, count, 0
        elif (worse := worse + 1) >= 3:
            break
    chosen = min(_one_voice(rest, at, frequency, chosen), _one_beat(rest, at, frequency, chosen))
    return Line(_whole(rest, at, _settled(rest, at, frequency, chosen), chosen), chosen)


def _settled(rest: Floats, at: Floats, frequency: float, count: int) -> float:
    """The frequency near this one at which so many harmonics leave least."""
    width = 0.6 / (at[-1] - at[0] + 1.0)
    for _ in range(3):
        trial = np.clip(frequency + np.linspace(-width, width, 9), 0.0, 0.5)
        frequency = float(trial[int(np.argmin([_left(rest, at, f, count) for f in trial]))])
        width /= 5.0
    return frequency


def _whole(rest: Floats, at: Floats, frequency: float, count: int) -> float:
    """The frequency of the nearest whole period, if it fits as well (a season of 24 is likelier than 24.02)."""
    whole = 1.0 / max(round(1.0 / frequency), 2)
    floor = 1e-18 * float(rest @ rest)
    worse = (_left(rest, at, whole, count) + floor) / (_left(rest, at, frequency, count) + floor)
    return whole if rest.size * np.log(max(worse, 1e-300)) < 3.84 else frequency


def _one_voice(rest: Floats, at: Floats, frequency: float, count: int) -> int:
    """As many harmonics as belong to one shape: one that stands alone and loud is another season's."""
    if count < 2:
        return count
    columns = wave_columns((Line(frequency, count),), at)
    weights = np.linalg.lstsq(columns, rest - rest.mean(), rcond=None)[0]
    size = np.append(np.hypot(weights[0::2], np.append(weights[1::2], 0.0)[: weights[0::2].size]), 0.0)
    if 0.495 < frequency * count < 0.506:
        size[count - 1] *= 2.0  # a wave of two points has no sine to share its size with
    for index in range(1, count):
        before = size[index - 1] if index > 1 else 0.0
        if size[index] >= _OWN_VOICE * size[0] and max(before, size[index + 1]) < 0.35 * size[index]:
            return index
    return count


def _one_beat(rest: Floats, at: Floats, frequency: float, count: int) -> int:
    """As many harmonics as keep time: one that fits far better at a frequency of its own is another season's."""
    for index in range(2, min(count, 3) + 1):
        shared = _settled(rest, at, frequency, index)
        together = _left(rest, at, shared, index)
        own, other = frequency, _folded(index * shared)
        for _ in range(2):
            own = _settled(rest - _wave(rest, at, other), at, own, 1)
            other = _settled(rest - _wave(rest, at, own), at, other, 1)
        apart = rest - _wave(rest, at, own)
        apart = apart - _wave(apart, at, other)
        told = rest.size * np.log(together / max(float(apart @ apart), 1e-18 * together, 1e-300))
        if told > _OWN_BEAT * np.log(rest.size) and abs(other - _folded(index * own)) * (at[-1] + 1.0) > _OFF_BEAT:
            return index - 1
    return count


def _wave(rest: Floats, at: Floats, frequency: float) -> Floats:
    columns = wave_columns((Line(frequency, 1),), at)
    return np.asarray(columns @ np.linalg.lstsq(columns, rest, rcond=None)[0])


def _left(rest: Floats, at: Floats, frequency: float, count: int) -> float:
    """The sum of squares that a season of this frequency and so many harmonics leaves."""
    columns = np.column_stack([np.ones(rest.size), wave_columns((Line(frequency, count),), at)])
    basis, _ = np.linalg.qr(columns)
    return float(rest @ rest - np.sum((rest @ basis) ** 2))


def fitted(values: Floats, axis: Axis, lines: tuple[Line, ...]) -> Structure:
    """Level and given seasons fitted together, the fast seasons by folding, the slow ones as columns."""
    n = values.size
    size = block_size(n)
    fast = tuple(line for line in lines if _is_fast(line, size))
    slow = tuple(line for line in lines if line not in fast)
    columns = wave_columns(slow, axis.at if size == 1 else axis.centres(size))
    calm = values
    if fast:
        steady = block_means(values, size)[np.minimum(np.arange(n) // size, n // size - 1)]
        calm = values - np.sum(_fold_all(values - steady, axis, fast), axis=0)
    coarse, steps = level_of(calm, axis, columns)
    level = as_points(coarse, steps, axis)
    blocks = block_means(calm, size) - coarse.season
    waves = tuple(_fold_all(values - level.fitted, axis, lines)) if lines else ()
    return Structure(coarse, blocks, level, lines, waves)


def _fold_all(rest: Floats, axis: Axis, lines: tuple[Line, ...]) -> list[Floats]:
    """Each season over the points; two rounds, so that seasons do not take from each other."""
    if rest.size <= _LONG:
        columns = wave_columns(lines, axis.at)
        weights = np.linalg.lstsq(columns, rest - rest.mean(), rcond=None)[0] if lines else np.zeros(0)
        edges = np.cumsum([0] + [wave_columns((line,), axis.at[:1]).shape[1] for line in lines])
        return [columns[:, a:b] @ weights[a:b] for a, b in itertools.pairwise(edges)]
    waves = [np.broadcast_to(np.float64(0.0), (rest.size,)) for _ in lines]
    for _ in range(2 if len(lines) > 1 else 1):
        for index, line in enumerate(lines):
            others = [wave for i, wave in enumerate(waves) if i != index]
            waves[index] = _fold(rest - np.sum(others, axis=0) if others else rest, axis, line.frequency)
    return waves


def _fold(rest: Floats, axis: Axis, frequency: float) -> Floats:
    """The mean of each phase, joined by lines; phases are points when the period is a whole number."""
    period = 1.0 / frequency
    whole = round(period)
    if whole <= 512 and abs(period - whole) / period * axis.span < 0.5 and axis.is_whole:
        if axis.even:  # a row per cycle
            cycles, over = divmod(rest.size, whole)
            total = rest[: cycles * whole].reshape(cycles, whole).sum(axis=0)
            total[:over] += rest[cycles * whole :]
            profile = total / (cycles + (np.arange(whole) < over))
            return np.tile(profile - profile.mean(), cycles + 1)[: rest.size]
        phase = axis.at.astype(np.int64) % whole
        profile = _mean_of_each(phase, rest, whole)
        return np.asarray((profile - profile.mean())[phase])
    bins = int(min(_BINS, max(8, period)))
    turn = axis.at * (frequency * bins) % bins
    profile = _mean_of_each(np.minimum(turn.astype(np.int64), bins - 1), rest, bins)
    return np.asarray(np.interp(turn, np.arange(bins) + 0.5, profile - profile.mean(), period=bins))


def _mean_of_each(phase: NDArray[np.int64], rest: Floats, count: int) -> Floats:
    sums = np.bincount(phase, weights=rest, minlength=count)
    return np.asarray(sums / np.maximum(np.bincount(phase, minlength=count), 1))
