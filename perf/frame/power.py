"""Weak signals: how surely each is found at 60, 300 and 2000 points, and what it must reach."""

from __future__ import annotations

import numpy as np

from perf.frame.cases import (
    Case,
    Dice,
    Family,
    Truth,
    cycle,
    filtered,
    louder,
    one_step,
    rise,
    several_steps,
    sine,
    spikes,
    square,
    two_humps,
    white,
)

SIZES = (60, 300, 2000)


def _bars(claim: str, *percent: float) -> dict[str, dict[int, float]]:
    return {claim: {size: share / 100 for size, share in zip(SIZES, percent, strict=True)}}


def _season_with_trend(dice: Dice, n: int) -> Case:
    period = float(np.exp(dice.uniform(np.log(4.0), np.log(n / 5.0))))
    at = np.arange(n)
    sign = int(dice.choice([-1, 1]))
    values = sine(at / period + dice.uniform()) + sign * 4.0 * at / n + white(dice, n)
    return Case(values, Truth(trend=sign, periods=(period,)))


def _in_context(dice: Dice, n: int) -> Case:
    """Points that are six standard deviations off their season, and inside the range of the series."""
    period = float(dice.uniform(6, n / 8))
    at = np.arange(n)
    season = 4.0 * sine(at / period + dice.uniform())
    places = dice.choice(n, int(dice.integers(1, 3 if n < 150 else 6)), replace=False)
    values = season + white(dice, n)
    values[places] -= 6.0 * np.where(season[places] > 0, 1.0, -1.0)
    return Case(values, Truth(periods=(period,), odd=frozenset(int(p) for p in places)))


def _same(strength: float) -> tuple[float, float, float]:
    return (strength, strength, strength)


_A_RISE = frozenset({"trend"})  # a step that is not found may be seen as a rise, which it is

WEAK = [
    Family(name="weak: sine of 1", make=cycle(sine, _same(1)), bars=_bars("season", 60, 100, 100)),
    Family(name="weak: square of 1", make=cycle(square, _same(1)), bars=_bars("season", 95, 100, 100)),
    Family(name="weak: two seasons of 2", make=cycle(sine, _same(2), 2), bars=_bars("season", 95, 100, 100)),
    Family(name="weak: season of 1 in a trend", make=_season_with_trend, bars=_bars("season", 60, 100, 100)),
    Family(name="weak: step of 2", ignore=_A_RISE, make=one_step(_same(2)), bars=_bars("step", 60, 98, 100)),
    Family(name="weak: step of 3", ignore=_A_RISE, make=one_step(_same(3)), bars=_bars("step", 90, 100, 100)),
    Family(name="weak: several steps of 3", ignore=_A_RISE, make=several_steps, bars=_bars("step", 85, 95, 95)),
    Family(
        name="weak: step of 3 in AR 0.5",
        ignore=_A_RISE,
        make=one_step(_same(3), filtered([1], [1, -0.5])),
        bars=_bars("step", 60, 95, 92),
    ),
    Family(name="weak: trend of 2", make=rise(lambda t: t, _same(2)), bars=_bars("trend", 70, 100, 100)),
    Family(name="weak: spread doubled", make=louder(2.0, 0.35, 0.65), bars=_bars("spread", 40, 100, 100)),
    Family(name="weak: bimodal 4 apart", make=two_humps(_same(4)), bars=_bars("bimodal", 25, 95, 95)),
    Family(name="weak: bimodal 3 apart", make=two_humps(_same(3)), sizes=(2000,), bars={"bimodal": 0.9}),
    Family(name="weak: odd of 6 in a season", make=_in_context, bars=_bars("odd", 55, 90, 84)),
    Family(
        name="weak: odd of 8 in trend and season",
        make=spikes(_same(8), structure=True),
        bars=_bars("odd", 75, 98, 98),
    ),
]
