"""Decide which periods stand out of a series' own noise.

In the periodogram of first differences a trend is a constant, a step one short pulse and a random walk white. A season
is a line far above the background, the best red-noise shape times a running median of what it leaves.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len, rfft
from scipy.ndimage import maximum_filter1d, median_filter
from scipy.special import gammainccinv

from batchwork.frame.noise import Floats, median, robust_sigma, thinned

FEWEST_CYCLES = 4.6  # below five whole cycles a wave is not told from wandering; the rest is rounding
_FALSE_ALARM = 0.012
_CAUTION = 0.85  # below 1: what stands out is only a candidate, which level and swinging noise may tell cheaper
_HARMONICS = 4
_LONG = 1 << 13  # beyond this no bins between the bins, and no second look: power is plenty
_MEDIANS = 5000  # bins up to which medians run
_OWN_POWER = 0.3  # a fundamental has at least this share of its strongest harmonic's power
# shapes of red noise: persistence, and how much of a wandering level lies under it
_PHI = np.repeat([0.0, -0.5, 0.3, 0.6, 0.8, 0.9, 0.95], 7)
_FLOORS = np.tile([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0], 7)
_FADED_CHANGES = 0.4  # share of the series faded in and out: the ends of differences make power of their own
_FADED_LEVELS = 0.1


def steady_changes(values: Floats) -> Floats:
    """First differences, held to five robust standard deviations and centred."""
    changes = np.diff(values)
    changes -= median(thinned(changes))
    limit = 5.0 * robust_sigma(changes)
    if limit > 0:
        np.clip(changes, -limit, limit, out=changes)
    changes -= changes.mean()
    return changes


def periodogram(signal: Floats, faded: float) -> tuple[Floats, Floats]:
    """Frequencies in cycles per point and the power there, with a share of the series faded in and out."""
    n = signal.size
    length = next_fast_len(2 * n if n <= _LONG else n, real=True)
    waves = rfft(signal * fade(n, faded), n=length)
    power = waves.real**2
    power += waves.imag**2
    return np.arange(power.size) / length, power / n


def fade(n: int, share: float) -> Floats:
    """A weight per point: 1 in the middle, falling to 0 at both ends, of mean square 1."""
    ramp = max(int(n * share / 2), 1)
    edge = 0.5 - 0.5 * np.cos(np.pi * (np.arange(ramp) + 0.5) / ramp)
    weights = np.ones(n)
    weights[:ramp] = edge
    weights[-ramp:] = edge[::-1]
    return np.asarray(weights / np.sqrt(np.mean(weights**2)), dtype=np.float64)


def background(frequency: Floats, power: Floats, spacing: float, *, changes: bool) -> Floats:
    """The noise floor at every frequency; `spacing` is the number of bins per independent frequency."""
    slope = 4.0 * np.sin(np.pi * frequency) ** 2
    bands = _bands(power.size, int(2 * spacing), int(8 * spacing))
    middle = np.array([slope[(a + b) // 2] for a, b in bands])
    logs = np.log(np.maximum([median(thinned(power[a:b], 4000)) for a, b in bands], 1e-300))
    rest = logs - np.log(_red(middle[None, :], _PHI[:, None], _FLOORS[:, None], changes=changes))
    spread = np.abs(rest - np.median(rest, axis=1, keepdims=True)).mean(axis=1)
    best = int(np.argmin(spread))
    shape = _red(slope, _PHI[best], _FLOORS[best], changes=changes)
    return shape * _running_floor(power / shape, spacing)


def _bands(size: int, first: int, least: int) -> list[tuple[int, int]]:
    """Bands of bins, wider at higher frequencies; in a band of this many, lines do not move the median."""
    edges = [first]
    while edges[-1] < size:
        edges.append(max(edges[-1] + least, int(edges[-1] * 1.3)))
    edges[-1] = size
    if len(edges) > 2 and edges[-1] - edges[-2] < least:
        del edges[-2]
    return list(itertools.pairwise(edges))


def _red(slope: Floats, phi: Floats, floor: Floats, *, changes: bool) -> Floats:
    """Power of first-order noise upon a wandering level (`floor`: how much of it), or of its changes."""
    shape = (slope + floor) / ((1.0 - phi) ** 2 + phi * slope + floor)
    return shape if changes else shape / (slope + 1e-9)


def _running_floor(flat: Floats, spacing: float) -> Floats:
    """Running median over neighbouring frequencies (never below that of all) as the mean of an exponential."""
    m = flat.size
    floor = np.full(m, max(median(thinned(flat[int(2 * spacing) :])), 1e-300))
    for reach in (24, 120):
        width = int(min(reach, m / spacing / 3) * spacing) | 1
        if m > _MEDIANS:  # medians of blocks, joined by lines
            whole = m // width
            medians = np.sort(flat[: whole * width].reshape(whole, width), axis=1)[:, width // 2]
            local = np.interp(np.arange(m), (np.arange(whole) + 0.5) * width, medians)
        else:
            local = median_filter(flat, size=max(width, 3), mode="reflect")
        np.maximum(floor, local, out=floor)
    return np.asarray(floor / np.log(2.0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Power over background at each frequency; about exponential with mean 1 where there is only noise."""

    frequency: Floats
    ratio: Floats
    points: int

    @property
    def spacing(self) -> float:
        """Bins per independent frequency."""
        return self.frequency.size / (self.points / 2.0)


def spectrum_of(signal: Floats, *, changes: bool, without: float | None = None) -> Spectrum:
    """The spectrum of the changes of a series (`changes`) or of what its level leaves.

    Its background is that `without` a line of that frequency, which would raise the floor it has to stand out of.
    """
    n = signal.size
    faded = _FADED_CHANGES if changes else _FADED_LEVELS
    frequency, power = periodogram(signal, faded)
    rest = power
    if without is not None:
        turns = [2.0 * np.pi * np.arange(n) * count * without for count in range(1, _HARMONICS + 1)]
        turns = [turn for turn in turns if turn[1] < np.pi or turn is turns[0]]
        columns = np.column_stack([wave(turn) for turn in turns for wave in (np.cos, np.sin)])
        rest = periodogram(signal - columns @ np.linalg.lstsq(columns, signal, rcond=None)[0], faded)[1]
    rest = np.maximum(rest, 1e-12 * float(power.max()))  # below this it is rounding
    return Spectrum(frequency, power / background(frequency, rest, frequency.size / (n / 2.0), changes=changes), n)


def find_line(signal: Floats, *, changes: bool) -> float | None:
    """Frequency of the line that stands out most, refined, or None if none does enough."""
    if signal.size < 16 or float(np.ptp(signal)) == 0:
        return None
    spectrum = spectrum_of(signal, changes=changes)
    place, prominence = strongest_line(spectrum)
    if place and signal.size <= _LONG // 2 - 1:
        frequency = refine(signal, float(spectrum.frequency[place]), 0.7 / signal.size)
        spectrum = spectrum_of(signal, changes=changes, without=frequency)
        place, prominence = strongest_line(spectrum)
    if prominence < 1.0:
        return None
    return refine(signal, float(spectrum.frequency[place]), 0.7 / signal.size)


def strongest_line(spectrum: Spectrum) -> tuple[int, float]:
    """Bin and prominence (1 is just enough) of the strongest line, counted together with its first harmonics."""
    ratio, n = spectrum.ratio, spectrum.points
    first = int(np.ceil((FEWEST_CYCLES - 0.5) * spectrum.spacing))
    best, peak = 0.0, 0
    total, strongest = np.zeros(ratio.size), np.zeros(ratio.size)
    for count in range(1, _HARMONICS + 1):
        reach = (ratio.size - 1) // count + 1
        if reach <= first:
            break
        multiple = maximum_filter1d(ratio, 2 * (count // 2) + 1, mode="nearest")[::count]  # the bins it may fall in
        total, strongest = total[:reach] + multiple, np.maximum(strongest[:reach], multiple)
        own = ratio[:reach] >= _OWN_POWER * strongest  # else two other lines pass for harmonics of nothing
        place = first + int(np.argmax((total * own)[first:]))
        prominence = float(total[place]) / _needed(n, count)
        if prominence > best:
            best, peak = prominence, place
    return peak, best


def _needed(n: int, count: int) -> float:
    """What the sum of `count` lines must reach over an estimated background: a gamma's tail over all frequencies."""
    tail = _FALSE_ALARM / (n / 2.0) / _HARMONICS
    return float(gammainccinv(count, tail)) * _CAUTION * float(1.1 + 2.0 / np.sqrt(n))


def refine(signal: Floats, frequency: float, reach: float) -> float:
    """The frequency of greatest power within `reach`, far finer than the bins."""
    n = signal.size
    slow = signal * np.exp(-2j * np.pi * frequency * np.arange(n))
    size = max(1, n // 512)
    whole = n // size
    sums = slow[: whole * size].reshape(whole, size).sum(axis=1)
    centres = (np.arange(whole) + 0.5) * size - 0.5
    best, width = 0.0, reach
    for _ in range(4):
        trial = best + np.linspace(-width, width, 15)
        power: NDArray[np.float64] = np.abs(np.exp(-2j * np.pi * np.outer(trial, centres)) @ sums)
        best = float(trial[int(np.argmax(power))])
        width /= 5.0
    return min(max(frequency + best, 0.5 / n), 0.5)
