"""Labelled series: what each one holds, and by omission what it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

Floats = NDArray[np.float64]
Dice = np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What stands in a series; whatever is left out here must not be claimed."""

    trend: int = 0
    periods: tuple[float, ...] = ()
    steps: tuple[int, ...] = ()
    odd: frozenset[int] = frozenset()
    bimodal: bool = False
    spread: bool = False
    shapes: tuple[str, ...] = ()
    noiseless: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    values: Floats
    truth: Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A way of making series, the sizes it is tried at, and the bars for what it holds."""

    name: str
    make: Callable[[Dice, int], Case]
    sizes: tuple[int, ...] = (60, 300, 2000)
    bars: Mapping[str, float | Mapping[int, float]] = field(default_factory=dict)  # claim -> least share found
    kept_out: bool = False
    ignore: frozenset[str] = frozenset()  # claims that are neither right nor wrong here

    def bar(self, claim: str, size: int) -> float:
        """The least share found at a length."""
        stated = self.bars[claim]
        return stated if isinstance(stated, float) else stated[size]


def white(dice: Dice, n: int) -> Floats:
    return dice.standard_normal(n)


def student(freedom: float) -> Callable[[Dice, int], Floats]:
    return lambda dice, n: dice.standard_t(freedom, n)


def filtered(numerator: list[float], denominator: list[float]) -> Callable[[Dice, int], Floats]:
    return lambda dice, n: lfilter(numerator, denominator, dice.standard_normal(n + 500))[500:]


def walk(dice: Dice, n: int) -> Floats:
    return np.cumsum(dice.standard_normal(n))


def null(name: str, noise: Callable[[Dice, int], Floats], *, kept_out: bool = False) -> list[Family]:
    """A null at the three sizes, and at short ones."""

    def make(dice: Dice, n: int) -> Case:
        return Case(noise(dice, n or int(dice.integers(10, 31))), Truth())

    return [Family(name=name, make=make, sizes=(60, 300, 2000, 0), kept_out=kept_out)]


def by_size(n: int, small: float, middle: float, large: float) -> float:
    """The strength that a bar names for n = 60 / 300 / 2000."""
    return small if n < 150 else middle if n < 1000 else large


def rise(shape: Callable[[Floats], Floats], strength: tuple[float, float, float]) -> Callable[[Dice, int], Case]:
    def make(dice: Dice, n: int) -> Case:
        sign = int(dice.choice([-1, 1]))
        path = shape(np.linspace(0.0, 1.0, n))
        path = (path - path[0]) / (path[-1] - path[0])
        return Case(sign * by_size(n, *strength) * path + white(dice, n), Truth(trend=sign))

    return make


def cycle(
    shape: Callable[[Floats], Floats], strength: tuple[float, float, float], count: int = 1
) -> Callable[[Dice, int], Case]:
    """Seasons of 5 or more cycles and at least 4 points; two differ by a quarter or more."""

    def make(dice: Dice, n: int) -> Case:
        while True:
            periods = np.exp(dice.uniform(np.log(4.0), np.log(n / 5.0), count))
            apart = abs(np.log(periods[0] / periods[-1])) if count == 2 else 1.0
            if apart > 0.25:
                break
        values = white(dice, n)
        for period in periods:
            values = values + by_size(n, *strength) * shape(np.arange(n) / period + dice.uniform())
        return Case(values, Truth(periods=tuple(float(p) for p in periods)))

    return make


def sine(turn: Floats) -> Floats:
    return np.sin(2 * np.pi * turn)


def saw(turn: Floats) -> Floats:
    return 2.0 * (turn % 1.0) - 1.0


def square(turn: Floats) -> Floats:
    return np.where(turn % 1.0 < 0.5, 1.0, -1.0)


def triangle(turn: Floats) -> Floats:
    return 4.0 * np.abs(turn % 1.0 - 0.5) - 1.0


def hump(turn: Floats) -> Floats:
    """One bell per cycle: half of the cycle quiet."""
    bell = np.exp(-0.5 * ((turn % 1.0 - 0.5) / 0.12) ** 2)
    return 2.0 * bell - 0.6


def half_wave(turn: Floats) -> Floats:
    """The upper half of a sine, as wide in range as a whole one."""
    return 2.0 * np.maximum(np.sin(2 * np.pi * turn), 0.0) - 0.6


def one_step(
    strength: tuple[float, float, float], noise: Callable[[Dice, int], Floats] = white
) -> Callable[[Dice, int], Case]:
    def make(dice: Dice, n: int) -> Case:
        place = int(np.ceil(n * dice.uniform(0.1, 0.9)))
        height = by_size(n, *strength) * dice.choice([-1, 1])
        return Case(noise(dice, n) + height * (np.arange(n) >= place), Truth(steps=(place,)))

    return make


def several_steps(dice: Dice, n: int) -> Case:
    count = int(dice.integers(2, 5))
    while True:
        places = np.sort(dice.integers(n // 10, n - n // 10, count))
        if np.diff(places).min() >= n // 10:
            break
    signs = dice.choice([-1, 1], count)
    if abs(signs.sum()) == count and count > 2:  # a staircase is a trend to anybody
        signs[1] = -signs[1]
    level = np.zeros(n)
    for place, sign in zip(places, signs, strict=True):
        level[place:] += 3.0 * sign
    return Case(level + white(dice, n), Truth(steps=tuple(int(p) for p in places)))


def spikes(
    strength: tuple[float, float, float],
    *,
    group: bool = False,
    structure: bool = False,
    noise: Callable[[Dice, int], Floats] = white,
) -> Callable[[Dice, int], Case]:
    def make(dice: Dice, n: int) -> Case:
        values = noise(dice, n)
        truth = {}
        if structure:
            period = float(dice.uniform(6, max(n / 12, 7.5)))
            values = values + 4.0 * np.linspace(0, 1, n) + 2.0 * sine(np.arange(n) / period)
            truth = {"trend": 1, "periods": (period,)}
        if group:  # a run of neighbours, all out on one side: they would hide each other from a plain z-score
            size = int(dice.integers(4, 7))
            start = int(dice.integers(5, n - size - 5))
            places = np.arange(start, start + size)
            heights = np.full(size, by_size(n, *strength) * dice.choice([-1, 1]))
        else:
            size = int(dice.integers(1, 3 if n < 150 else 6))
            places = dice.choice(n, size, replace=False)
            heights = by_size(n, *strength) * dice.choice([-1, 1], size)
        values[places] += heights
        return Case(values, Truth(odd=frozenset(int(p) for p in places), **truth))

    return make


def two_humps(apart: tuple[float, float, float], share: float = 0.5) -> Callable[[Dice, int], Case]:
    def make(dice: Dice, n: int) -> Case:
        side = dice.permutation(np.arange(n) < round(n * share))
        return Case(by_size(n, *apart) * side + white(dice, n), Truth(bimodal=True))

    return make


def shaped(draw: Callable[[Dice, int], Floats], shapes: tuple[str, ...]) -> Callable[[Dice, int], Case]:
    return lambda dice, n: Case(draw(dice, n), Truth(shapes=shapes))


def louder(factor: float, low: float, high: float) -> Callable[[Dice, int], Case]:
    def make(dice: Dice, n: int) -> Case:
        place = n * dice.uniform(low, high)
        scale = np.where(np.arange(n) >= place, factor, 1.0)
        if dice.random() < 0.5:
            scale = scale[::-1]
        return Case(scale * white(dice, n), Truth(spread=True))

    return make


def mixed(dice: Dice, n: int) -> Case:
    """Trend, season, step, odd points and missing values at once."""
    at = np.arange(n)
    period = float(dice.uniform(6, n / 10))
    place = int(n * dice.uniform(0.25, 0.75))
    sign, up = (int(s) for s in dice.choice([-1, 1], 2))
    values = sign * 6.0 * at / n + 2.0 * sine(at / period + dice.uniform()) + 5.0 * up * (at >= place) + white(dice, n)
    odd = dice.choice(n, 3, replace=False)
    values[odd] += 12.0 * dice.choice([-1, 1], 3)
    absent = dice.choice(np.setdiff1d(at, odd), n // 20, replace=False)
    values[absent] = np.nan
    truth = Truth(trend=sign, periods=(period,), steps=(place,), odd=frozenset(int(p) for p in odd))
    return Case(values, truth)
