"""Fresh series by the dice: rounded once, with what was planted where it was planted."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress

from benchmarks.datasets import LINE, SHAPES, Recipe, draw, draw_pair, rounded, uniform

SPIKY = Recipe(anomalies=(1, 4), sides=(1, -1))


def dice(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.lists(st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-15), min_size=1, max_size=20))
def test_a_rounded_value_is_the_nearest_one_with_six_digits(values):
    for value, near in zip(values, rounded(np.array(values)).tolist(), strict=True):
        assert near == float(f"{near:.6g}")
        assert abs(near - value) <= 1.000001 * abs(float(f"{value:.6g}") - value)  # a tie may go either way


@pytest.mark.parametrize("recipe", [*SHAPES.values(), *LINE.values()], ids=[*SHAPES, *LINE])
@pytest.mark.parametrize("size", [50, 500])
def test_every_kind_gives_as_many_values_as_asked_with_six_digits(recipe, size):
    values = draw(recipe, dice(), size).values
    assert values.shape == (size,)
    assert np.isfinite(values).all()
    assert values.tolist() == [float(f"{value:.6g}") for value in values]
    assert len(set(values.tolist())) > size / 2


def test_the_same_dice_draw_the_same_series_and_others_another():
    first, again, other = (draw(SPIKY, dice(seed), 100) for seed in (1, 1, 2))
    assert first.values.tolist() == again.values.tolist()
    assert first.anomalies == again.anomalies
    assert first.values.tolist() != other.values.tolist()


def test_levels_reach_from_a_thousandth_to_a_million_on_both_sides_of_zero():
    means = [draw(Recipe(), dice(seed), 50).values.mean() for seed in range(300)]
    sizes = [abs(mean) for mean in means]
    assert 1e-3 <= min(sizes) < 1e-2
    assert 1e5 < max(sizes) <= 1.01e6
    assert 0.1 < sum(mean < 0 for mean in means) / 300 < 0.3


@pytest.mark.parametrize("seed", range(20))
def test_planted_anomalies_stand_out_and_nothing_else_does(seed):
    drawn = draw(SPIKY, dice(seed), 100)
    centre = median(drawn.values)
    scatter = 1.4826 * median(abs(value - centre) for value in drawn.values)
    far = {at: (value - centre) / scatter for at, value in enumerate(drawn.values)}
    planted = {anomaly.at: anomaly.side for anomaly in drawn.anomalies}
    assert 1 <= len(planted) <= 4
    assert all(far[at] * side > 8 for at, side in planted.items())
    assert all(abs(distance) < 6 for at, distance in far.items() if at not in planted)
    assert all(b - a > 3 for a, b in zip(sorted(planted), sorted(planted)[1:], strict=False))


@pytest.mark.parametrize("seed", range(20))
def test_a_planted_line_is_clear_and_flat_noise_has_none(seed):
    for name, recipe in LINE.items():
        values = draw(recipe, dice(seed), 100).values
        fitted = linregress(np.arange(100), values)
        if name == "flat":
            assert fitted.rvalue**2 < 0.03
        else:
            assert fitted.rvalue**2 > 0.2
            assert (fitted.slope > 0) == (name == "rising")


def test_two_series_of_a_pair_share_a_scale_and_differ_in_all_else():
    for seed in range(50):
        a, b = (one.values for one in draw_pair(Recipe(noise=uniform, trend=1), dice(seed), 100))
        assert 1 / 3 < abs(a.mean() / b.mean()) < 3
        assert a.mean() * b.mean() > 0
        assert not np.isclose(a.std(), b.std(), rtol=1e-6)
    slopes = [np.sign(linregress(np.arange(60), one.values).slope) for seed in range(20)
              for one in draw_pair(Recipe(trend=1), dice(seed), 60)]  # fmt: skip
    assert set(slopes) == {1.0, -1.0}
