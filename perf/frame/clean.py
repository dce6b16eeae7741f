"""Series without noise: what is there is certain, and nothing else may be said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perf.frame.cases import Case, Dice, Family, Floats, Truth, saw, sine, square, triangle

SIZES = (60, 200, 1000)
Path = Callable[[Dice, int], Floats]


def _case(values: Floats, **truth: object) -> Case:
    return Case(np.asarray(values, dtype=np.float64), Truth(noiseless=True, **truth))  # type: ignore[arg-type]


def _periodic(shape: Callable[[Floats], Floats], *, whole: bool, trend: bool = False, offset: float = 0.0):
    """Whole or broken periods of at least six points, six or more of them."""

    def make(dice: Dice, n: int) -> Case:
        period = float(np.exp(dice.uniform(np.log(6.0), np.log(n / 6.0))))
        period = float(round(period)) if whole else period
        at = np.arange(n)
        size = 10.0 ** dice.integers(-3, 4) if not offset else 10.0 ** dice.integers(-3, 1)
        values = size * shape((at + 0.25) / period if whole else at / period + dice.uniform())
        if trend:
            return _case(values + 3.0 * size * at / n, trend=1, periods=(period,))
        return _case(values + offset, periods=(period,))

    return make


def _line(dice: Dice, n: int) -> Case:
    slope = dice.normal() * 10.0 ** dice.integers(-4, 5)
    return _case(dice.normal() * 100 + slope * np.arange(n), trend=int(np.sign(slope)))


def _levels(dice: Dice, n: int) -> Case:
    places = np.sort(dice.choice(np.arange(1, 10), int(dice.integers(1, 4)), replace=False)) * n // 10
    heights = dice.permutation(np.arange(-3, 4))[: places.size + 1]
    return _case(np.repeat(heights, np.diff([0, *places, n])), steps=tuple(int(p) for p in places))


def _power(dice: Dice, n: int) -> Case:
    return _case((np.arange(n) / n) ** float(dice.choice([2, 3, 4, 0.5, 1.5])) * 10.0 ** dice.integers(-2, 5), trend=1)


def _polynomial(dice: Dice, n: int) -> Case:
    """Any cubic or quartic: it may turn, but there is nothing else in it."""
    t = np.linspace(-1, 1, n)
    return _case(np.polynomial.Polynomial(dice.normal(size=int(dice.integers(4, 6))))(t))


def _growth(dice: Dice, n: int) -> Case:
    return _case(np.exp(np.arange(n) * dice.uniform(1, 10) / n), trend=1)


def _one_period(dice: Dice, n: int) -> Case:
    return _case(np.sin(2 * np.pi * (np.arange(n) / n + dice.uniform())))


def _counted(dice: Dice, n: int) -> Case:
    period = int(dice.integers(2, 7))
    return _case(np.arange(n) % period, periods=(float(period),))


def _stairs(dice: Dice, n: int) -> Case:
    return _case(np.arange(n) // int(dice.integers(2, 5)), trend=1)


def _spike(path: Path, **truth: object) -> Callable[[Dice, int], Case]:
    def make(dice: Dice, n: int) -> Case:
        values = np.array(path(dice, n), dtype=np.float64)
        place = int(dice.integers(5, n - 5))
        values[place] += 3.0 * max(float(np.ptp(values)), 1.0)
        return _case(values, odd=frozenset({place}), **truth)

    return make


def _damped(dice: Dice, n: int) -> Case:
    t = np.arange(n) / n
    return _case(np.exp(-3 * t) * np.sin(2 * np.pi * 3 * t + dice.uniform(0, 6)))


def _logistic(dice: Dice, n: int) -> Case:
    return _case(1 / (1 + np.exp(-dice.uniform(6, 12) * (np.arange(n) / n - 0.5))), trend=1)


def _two_sines(dice: Dice, n: int) -> Case:
    slow, fast = n / 6.3, float(dice.uniform(4.5, n / 12 + 1))
    at = np.arange(n)
    return _case(np.sin(2 * np.pi * at / slow) + np.sin(2 * np.pi * at / fast), periods=(slow, fast))


def _holed_sine(dice: Dice, n: int) -> Case:
    period = float(dice.uniform(8, n / 6))
    values = np.sin(2 * np.pi * np.arange(n) / period)
    start = int(dice.integers(n // 10, n // 2))
    values[start : start + n // 5] = np.nan
    return _case(values, periods=(period,))


_SEASON = {"season": 1.0}
_MAY_TURN = frozenset({"trend"})

CLEAN = [
    Family(sizes=SIZES, name="clean line", make=_line, bars={"trend": 1.0}),
    Family(sizes=SIZES, name="clean sine, whole", make=_periodic(sine, whole=True), bars=_SEASON, ignore=_MAY_TURN),
    Family(sizes=SIZES, name="clean sine, broken", make=_periodic(sine, whole=False), bars=_SEASON, ignore=_MAY_TURN),
    Family(
        sizes=SIZES,
        name="clean sine in a trend",
        make=_periodic(sine, whole=False, trend=True),
        bars={"season": 1.0, "trend": 1.0},
    ),
    Family(sizes=SIZES, name="clean square, whole", make=_periodic(square, whole=True), bars=_SEASON, ignore=_MAY_TURN),
    Family(sizes=SIZES, name="clean saw, whole", make=_periodic(saw, whole=True), bars=_SEASON, ignore=_MAY_TURN),
    Family(
        sizes=SIZES, name="clean saw, broken", make=_periodic(saw, whole=False), bars={"season": 0.95}, ignore=_MAY_TURN
    ),
    Family(sizes=SIZES, name="clean levels", make=_levels, bars={"step": 1.0}),
    Family(sizes=SIZES, name="clean power", make=_power, bars={"trend": 1.0}),
    Family(sizes=SIZES, name="clean exponential", make=_growth, bars={"trend": 1.0}),
    Family(sizes=SIZES, name="clean, one period", make=_one_period, ignore=_MAY_TURN),
    Family(
        sizes=SIZES,
        name="clean sine on 1e9",
        make=_periodic(sine, whole=False, offset=1e9),
        bars=_SEASON,
        ignore=_MAY_TURN,
    ),
    Family(sizes=SIZES, name="clean counting", make=_counted, bars=_SEASON, ignore=_MAY_TURN),
    Family(sizes=SIZES, name="clean stairs", make=_stairs, bars={"trend": 1.0}, ignore=frozenset({"season", "step"})),
    Family(sizes=SIZES, name="zeros with a spike", make=_spike(lambda _, n: np.zeros(n)), bars={"odd": 1.0}),
    Family(
        sizes=SIZES, name="clean line with a spike", make=_spike(lambda _, n: np.arange(n), trend=1), bars={"odd": 1.0}
    ),
    Family(sizes=SIZES, name="clean polynomial", make=_polynomial, ignore=_MAY_TURN, kept_out=True),
    Family(
        sizes=SIZES,
        name="clean square, broken",
        make=_periodic(square, whole=False),
        bars={"season": 0.95},
        ignore=_MAY_TURN,
        kept_out=True,
    ),
    Family(
        sizes=SIZES,
        name="clean triangle",
        make=_periodic(triangle, whole=False),
        bars={"season": 0.95},
        ignore=_MAY_TURN,
        kept_out=True,
    ),
    Family(sizes=SIZES, name="clean logistic", make=_logistic, bars={"trend": 1.0}, kept_out=True),
    Family(sizes=SIZES, name="clean damped sine", make=_damped, ignore=frozenset({"trend", "season"}), kept_out=True),
    Family(
        sizes=SIZES, name="clean, two sines", make=_two_sines, bars={"season": 0.95}, ignore=_MAY_TURN, kept_out=True
    ),
    Family(sizes=SIZES, name="clean sine with a hole", make=_holed_sine, bars=_SEASON, ignore=_MAY_TURN, kept_out=True),
    Family(
        sizes=SIZES,
        name="clean sine with a spike",
        make=_spike(lambda d, n: np.sin(np.arange(n) / d.uniform(1, n / 40))),
        bars={"odd": 1.0},
        ignore=frozenset({"trend", "season"}),
        kept_out=True,
    ),
]
