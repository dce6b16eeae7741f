"""Names of distributions."""

import numpy as np
import pytest

from batchwork.frame.shape import dip_of, l_ratios, shape_of, two_modes
from tests.frame.given import described, dice


def test_a_shape_is_named_when_its_rivals_are_excluded() -> None:
    dice = np.random.default_rng(1)
    kinds = {
        name: [shape_of(draw(), 1.0).kind for _ in range(40)]
        for name, draw in {
            "uniform": lambda: dice.uniform(size=60),
            "lognormal": lambda: dice.lognormal(0, 1, 60),
            "normal": lambda: dice.standard_normal(300),
        }.items()
    }
    assert kinds["uniform"].count("normal") <= 2
    assert kinds["lognormal"].count("exponential") <= 10
    assert kinds["normal"].count("normal") >= 34


def test_two_humps_are_bimodal_with_their_modes() -> None:
    side = dice(9).permutation(np.arange(300) < 150)
    d = described(10.0 + 5.0 * side + dice(10).standard_normal(300))
    assert d.distribution.kind == "bimodal"
    assert d.distribution.modes == pytest.approx((10.0, 15.0), abs=0.5)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        (dice(11).uniform(size=500), {"uniform"}),
        (dice(12).exponential(size=500), {"exponential", "right-skewed"}),
        (-dice(13).lognormal(size=500), {"left-skewed"}),
        (dice(14).standard_t(3, 500), {"heavy-tailed"}),
        (dice(15).poisson(1.5, 500), {"discrete"}),
    ],
)
def test_a_shape_has_its_name(values: np.ndarray, kinds: set[str]) -> None:
    assert described(values).distribution.kind in kinds


def test_the_dip_of_even_points_is_the_least_there_is() -> None:
    assert dip_of(np.arange(50.0)) == pytest.approx(1 / 100)


def test_the_dip_of_two_far_clumps_nears_a_quarter() -> None:
    clumps = np.concatenate([np.linspace(0, 0.01, 50), np.linspace(9, 9.01, 50)])
    assert dip_of(clumps) == pytest.approx(0.25, abs=0.02)


def test_rounded_values_have_no_modes_of_their_own() -> None:
    values = np.round(np.random.default_rng(0).standard_normal(400) * 2)
    assert two_modes(np.sort(values), 400.0) is None


def test_l_ratios_of_known_shapes() -> None:
    dice = np.random.default_rng(4)
    assert l_ratios(np.sort(dice.exponential(size=20_000))) == pytest.approx((1 / 3, 1 / 6), abs=0.02)
    assert l_ratios(np.sort(dice.uniform(size=20_000))) == pytest.approx((0.0, 0.0), abs=0.02)
