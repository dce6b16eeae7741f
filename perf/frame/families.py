"""The suite: every row of the bars, and families that no threshold was chosen on."""

from __future__ import annotations

import numpy as np

from perf.frame.cases import (
    Case,
    Dice,
    Family,
    Floats,
    Truth,
    cycle,
    filtered,
    half_wave,
    hump,
    louder,
    mixed,
    null,
    one_step,
    rise,
    saw,
    several_steps,
    shaped,
    sine,
    spikes,
    square,
    student,
    triangle,
    two_humps,
    walk,
    white,
)

LONG = (300, 2000)


def _constant(dice: Dice, n: int) -> Floats:
    return np.full(n, dice.normal() * 10.0 ** dice.integers(-6, 9))


def _laplace(dice: Dice, n: int) -> Floats:
    return dice.laplace(size=n)


def _bent(t: Floats) -> Floats:
    """Slow first, three times as fast after two fifths."""
    return t + 2.0 * np.maximum(t - 0.4, 0.0)


def _curve_then_noise(dice: Dice, n: int) -> Case:
    """A curve that rises and falls again: neither a trend nor a step nor a season."""
    path = 4.0 * np.sin(np.pi * np.linspace(0, 1, n)) ** 2
    return Case(path + white(dice, n), Truth())


NULLS = [
    *null("white", white),
    *null("student 3", student(3)),
    *null("student 5", student(5)),
    *null("student 10", student(10)),
    *null("AR 0.5", filtered([1], [1, -0.5])),
    *null("AR 0.9", filtered([1], [1, -0.9])),
    *null("random walk", walk),
    *null("constant", _constant),
    *null("laplace", _laplace, kept_out=True),
    *null("AR 0.7", filtered([1], [1, -0.7]), kept_out=True),
    *null("AR(2) swinging", filtered([1], [1, -1.0, 0.5])),
    *null("moving average", filtered([1, 0.7, 0.4], [1])),
    *null("walk of student 4", lambda dice, n: np.cumsum(dice.standard_t(4, n)), kept_out=True),
    *null("uniform noise", lambda dice, n: dice.uniform(size=n), kept_out=True),
    *null("ARMA 0.8, -0.4", filtered([1, -0.4], [1, -0.8]), kept_out=True),
    *null("gamma 3", lambda dice, n: dice.gamma(3.0, size=n), kept_out=True),
]

SIGNALS = [
    Family(name="linear trend", make=rise(lambda t: t, (4, 1.5, 0.6)), bars={"trend": 0.99}),
    Family(name="trend, exponential", make=rise(lambda t: np.exp(3 * t), (4, 2, 2)), bars={"trend": 0.95}),
    Family(name="trend, logarithm", make=rise(lambda t: np.log1p(15 * t), (4, 2, 2)), bars={"trend": 0.95}),
    Family(name="trend, square", make=rise(lambda t: t**2, (4, 2, 2)), bars={"trend": 0.95}),
    Family(name="trend, broken line", make=rise(_bent, (4, 2, 2)), bars={"trend": 0.95}, kept_out=True),
    Family(name="trend, root", make=rise(np.sqrt, (4, 2, 2)), bars={"trend": 0.95}, kept_out=True),
    Family(
        name="trend, logistic",
        make=rise(lambda t: 1 / (1 + np.exp(-6 * (t - 0.5))), (4, 2, 2)),
        bars={"trend": 0.95},
    ),
    Family(name="up and down curve", make=_curve_then_noise, kept_out=True),
    Family(name="season, sine", make=cycle(sine, (2.5, 1, 1)), bars={"season": 0.98}),
    Family(name="season, sawtooth", make=cycle(saw, (4, 1, 1)), bars={"season": 0.98}),
    Family(name="season, square", make=cycle(square, (2.5, 1, 1)), bars={"season": 0.98}),
    Family(name="season, triangle", make=cycle(triangle, (2.5, 1, 1)), bars={"season": 0.98}),
    Family(name="season, bells", make=cycle(hump, (2.5, 1, 1)), bars={"season": 0.98}, kept_out=True),
    Family(name="season, half waves", make=cycle(half_wave, (2.5, 1, 1)), bars={"season": 0.98}, kept_out=True),
    Family(name="two seasons", make=cycle(sine, (2.5, 2, 1), 2), bars={"season": 0.90}),
    Family(name="one step", make=one_step((4, 3, 3)), bars={"step": 0.97}),
    Family(name="one step, laplace", make=one_step((5.7, 4.2, 4.2), _laplace), bars={"step": 0.97}, kept_out=True),
    Family(name="several steps", make=several_steps, sizes=LONG, bars={"step": 0.95}),
    Family(name="odd points", make=spikes((12, 8, 8)), bars={"odd": 0.95}),
    Family(
        name="odd points, uniform noise",
        make=spikes((12, 8, 8), noise=lambda d, n: d.uniform(-1.73, 1.73, n)),
        bars={"odd": 0.95},
        kept_out=True,
    ),
    Family(name="odd group", make=spikes((8, 8, 8), group=True), sizes=LONG, bars={"odd": 0.90}),
    Family(name="odd in trend and season", make=spikes((8, 8, 8), structure=True), sizes=LONG, bars={"odd": 0.90}),
    Family(name="bimodal", make=two_humps((6, 4, 4)), bars={"bimodal": 0.90}),
    Family(name="bimodal 40:60", make=two_humps((6, 5, 4), 0.4), sizes=LONG, bars={"bimodal": 0.90}),
    Family(name="uniform", make=shaped(lambda d, n: d.uniform(size=n), ("uniform",)), sizes=LONG, bars={"shape": 0.95}),
    Family(
        name="exponential",
        make=shaped(lambda d, n: d.exponential(size=n), ("exponential", "right-skewed")),
        sizes=LONG,
        bars={"shape": 0.90},
    ),
    Family(
        name="lognormal",
        make=shaped(lambda d, n: d.lognormal(0, 0.8, n), ("exponential", "right-skewed")),
        sizes=LONG,
        bars={"shape": 0.90},
    ),
    Family(name="spread doubled", make=louder(2.0, 0.35, 0.65), sizes=LONG, bars={"spread": 0.95}),
    Family(name="spread tripled", make=louder(3.0, 0.2, 0.8), sizes=LONG, bars={"spread": 0.95}, kept_out=True),
    Family(
        name="mixed",
        make=mixed,
        sizes=LONG,
        bars={"trend": 0.85, "season": 0.85, "step": 0.85, "odd": 0.85},
    ),
]
