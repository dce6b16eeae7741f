"""Draw the numbers a benchmark asks about: every kind of series as a pure function of the dice and a size.

A kind is a recipe: a noise, and what is laid over it. Values are rounded once, here, to six significant digits, so
that the raw text, the truth and every description speak of exactly the same numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType

import numpy as np

from batchwork.benchmarks.trial import Series

Dice = np.random.Generator
Noise = Callable[[Dice, int], Series]

DIGITS = 6
_SPREADS_FROM_ZERO = (3.0, 6.0)  # a relative tolerance is strict only where the level is a few spreads
_MAGNITUDES = (-3.0, 6.0)  # powers of ten
_POSITIVE = 0.8  # the share of series above zero
_CLEAR = 0.3  # of the line that chance draws into flat noise, what is left
_EXPLAINED = (0.4, 0.97)  # R squared of a planted line, before the noise has its say
_BESIDE = 2  # values on either side that make the pattern at a place
_FAR = (12.0, 18.0)  # anomalies, in scatters around that pattern; 8 and more is one, by the questions' definition
_SLOT = 8  # points that hold one anomaly at most, in their first half, so that neighbours are not one


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A planted value: where it stands, and +1 above or -1 below the rest."""

    at: int
    side: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A series and what was planted in it."""

    values: Series
    anomalies: tuple[Anomaly, ...] = ()


# -- noises: any centre, any spread ---------------------------------------------------------------


def normal(dice: Dice, n: int) -> Series:
    """The bell."""
    return dice.standard_normal(n)


def uniform(dice: Dice, n: int) -> Series:
    """All values alike between two ends."""
    return dice.uniform(-1.0, 1.0, n)


def skewed(dice: Dice, n: int) -> Series:
    """A long tail upwards."""
    return dice.gamma(2.0, 1.0, n)


def two_modes(dice: Dice, n: int) -> Series:
    """Two bells apart."""
    return dice.standard_normal(n) + np.where(dice.random(n) < 0.5, -2.5, 2.5)


def walk(dice: Dice, n: int) -> Series:
    """A random walk."""
    return np.cumsum(dice.standard_normal(n))


# -- recipes --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a kind of series is made; amplitudes are in standard deviations of the noise."""

    noise: Noise = normal
    season: float = 0.0  # amplitude
    trend: int | None = 0  # +1, -1, 0: none, and chance's own line is thinned; None: whatever comes
    power: float = 1.0  # of the time in the trend: 1 a line, 2 a curve
    anomalies: tuple[int, int] = (0, 0)  # fewest and most
    sides: tuple[int, ...] = (1, -1)


def draw(recipe: Recipe, dice: Dice, n: int) -> Drawn:
    """One fresh series of a kind, at a random level and scale."""
    body, anomalies = _body(recipe, dice, n)
    level = dice.uniform(*_SPREADS_FROM_ZERO) * _sign(dice)
    scale = 10.0 ** dice.uniform(*_MAGNITUDES) / abs(level)
    return Drawn(rounded((body + level) * scale), anomalies)


def draw_pair(recipe: Recipe, dice: Dice, n: int) -> tuple[Drawn, Drawn]:
    """Two fresh series of a kind on one scale, each with its own level, spread and direction."""
    sign, scale = _sign(dice), 10.0 ** dice.uniform(*_MAGNITUDES) / _SPREADS_FROM_ZERO[0]

    def one() -> Drawn:
        body, anomalies = _body(replace(recipe, trend=recipe.trend and int(dice.choice((1, -1)))), dice, n)
        level, spread = sign * dice.uniform(*_SPREADS_FROM_ZERO), dice.uniform(0.5, 1.5)
        return Drawn(rounded((body * spread + level) * scale), anomalies)

    return one(), one()


def _sign(dice: Dice) -> float:
    return 1.0 if dice.random() < _POSITIVE else -1.0


def _body(recipe: Recipe, dice: Dice, n: int) -> tuple[Series, tuple[Anomaly, ...]]:
    """The series about 0 with spread 1, its anomalies not counted in either."""
    body = recipe.noise(dice, n)
    body = (body - body.mean()) / body.std()
    if recipe.season:
        period = dice.uniform(8.0, max(n / 8.0, 8.0))
        body = body + recipe.season * np.sin(2 * np.pi * (np.arange(n) / period + dice.random()))
    body = _tilted(body, recipe, dice)
    centre, spread = body.mean(), body.std()
    anomalies = _planted(body, recipe, dice)
    return (body - centre) / spread, anomalies


def _tilted(body: Series, recipe: Recipe, dice: Dice) -> Series:
    """The body with its trend, or with less of the line that chance has drawn into it."""
    if recipe.trend is None:
        return body
    time = np.linspace(0.0, 1.0, body.size)
    if recipe.trend == 0:
        line = time - time.mean()
        return np.asarray(body - (1.0 - _CLEAR) * (line @ body) / (line @ line) * line)
    path = time**recipe.power
    explained = dice.uniform(*_EXPLAINED)
    return np.asarray(body + recipe.trend * path / path.std() * body.std() * np.sqrt(explained / (1.0 - explained)))


def _planted(body: Series, recipe: Recipe, dice: Dice) -> tuple[Anomaly, ...]:
    """Put the anomalies into the body, as far from its pattern as the definition asks, and say where they are."""
    fewest, most = recipe.anomalies
    count = int(dice.integers(fewest, most + 1))
    if count == 0:
        return ()
    slots = np.arange(_SLOT, body.size - _SLOT, _SLOT)
    places = np.sort(dice.choice(slots, count, replace=False)) + dice.integers(0, _SLOT // 2, count)
    sides = [recipe.sides[number % len(recipe.sides)] for number in range(count)]
    found = tuple(map(Anomaly, places.tolist(), dice.permutation(sides).tolist()))
    at, side = np.array([(one.at, one.side) for one in found]).T
    body[at] += side * 1e3  # out of the way: how far does not matter to the medians, so the scatter is already the last
    pattern = _pattern(body)
    scatter = 1.4826 * np.median(np.abs(body - pattern))
    body[at] = pattern[at] + side * dice.uniform(*_FAR, count) * scatter
    return found


def _pattern(values: Series) -> Series:
    """At every place the median of its neighbours: it follows trend and season, and no single value moves it."""
    edge = np.full(_BESIDE, np.nan)
    around = np.lib.stride_tricks.sliding_window_view(np.concatenate((edge, values, edge)), 2 * _BESIDE + 1)
    return np.asarray(np.nanmedian(np.delete(around, _BESIDE, axis=1), axis=1))


def rounded(values: Series) -> Series:
    """Six significant digits: each value the double nearest to its decimal, as if it had been read from a text."""
    values = np.asarray(values, dtype=np.float64)
    size = np.floor(np.log10(np.abs(values), out=np.full(values.shape, -inf), where=values != 0))
    decimals = np.where(np.isfinite(size), DIGITS - 1 - size, 0.0)
    up, down = 10.0 ** np.maximum(decimals, 0.0), 10.0 ** np.maximum(-decimals, 0.0)
    return np.asarray(np.rint(values * up / down) / up * down)


LINE = MappingProxyType({"rising": Recipe(trend=1), "falling": Recipe(trend=-1), "flat": Recipe()})
SHAPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "normal": Recipe(),
        "uniform": Recipe(noise=uniform),
        "skewed": Recipe(noise=skewed),
        "two modes": Recipe(noise=two_modes),
        "season": Recipe(season=2.0),
        "walk": Recipe(noise=walk, trend=None),
    }
)
