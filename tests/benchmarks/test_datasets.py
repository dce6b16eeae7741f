"""Fresh series by the dice: rounded once, with what was planted where it was planted."""

from itertools import pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress

from batchwork.benchmarks.datasets import LINE, SHAPES, Recipe, draw, draw_pair, rounded, uniform
from batchwork.benchmarks.tasks import TASKS

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


def distances(values: list[float]) -> list[float]:
    """In scatters, by the wording of the anomaly questions and nothing else."""
    beside = [[*values[max(at - 2, 0) : at], *values[at + 1 : at + 3]] for at in range(len(values))]
    off = [value - median(near) for value, near in zip(values, beside, strict=True)]
    scatter = 1.4826 * median(map(abs, off))
    return [one / scatter for one in off]


KINDS = {**TASKS["anomaly"].kinds, **TASKS["comparative"].kinds, "spiky": SPIKY}


@pytest.mark.parametrize("recipe", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("size", [50, 100, 200, 300, 500])
def test_what_is_planted_is_an_anomaly_by_the_definition_and_nothing_else_is(recipe, size):
    for seed in range(6 if size > 100 else 20):
        for drawn in (draw(recipe, dice(seed), size), *draw_pair(recipe, dice(seed), size)):
            far = distances(drawn.values.tolist())
            planted = {anomaly.at: anomaly.side for anomaly in drawn.anomalies}
            assert recipe.anomalies[0] <= len(planted) <= recipe.anomalies[1]
            assert all(far[at] * side > 11 for at, side in planted.items())
            assert all(abs(distance) < 7 for at, distance in enumerate(far) if at not in planted)
            assert all(b - a > 3 for a, b in pairwise(sorted(planted)))


@pytest.mark.parametrize("task", ["anomaly", "comparative"])
def test_the_truth_of_every_question_about_anomalies_follows_from_its_wording(task):
    for trial in TASKS[task].plan(60, 11):
        far = {label: distances(values.tolist()) for label, values in trial.dataset.series.items()}
        found = {label: [at for at, one in enumerate(by) if abs(one) > 8] for label, by in far.items()}
        if trial.question.name == "anomalies":
            assert trial.truth == ("A" if len(found["A"]) > len(found["B"]) else "B")
        elif task == "anomaly":
            places = found["series"]
            sides = {"above" if far["series"][at] > 0 else "below" for at in places}
            assert trial.truth == {
                "presence": bool(places),
                "count": len(places),
                "positions": places,
                "type": "both" if len(sides) == 2 else next(iter(sides), "none"),
            }[trial.question.name]  # fmt: skip


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
