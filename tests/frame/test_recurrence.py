"""Series that foretell themselves, by a recurrence or by a cycle of any period."""

import numpy as np
import pytest

from batchwork.frame.axis import even_axis
from batchwork.frame.recurrence import period_of, recurrence_of
from tests.frame.given import described, dice

AT = np.arange(120.0)
SHAPES = {
    "square": lambda turn: np.where(turn % 1.0 < 0.5, 1.0, -1.0),
    "saw": lambda turn: turn % 1.0,
    "triangle": lambda turn: np.abs(turn % 1.0 - 0.5),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("period", [7.3, 11.0, 13.618])
def test_a_cycle_of_straight_pieces_is_certain_at_any_period(shape: str, period: float) -> None:
    values = SHAPES[shape](AT / period + 0.1)
    found = period_of(values, even_axis(AT.size))
    assert found == pytest.approx(period, rel=0.01)
    d = described(values)
    assert [season.period for season in d.seasons] == [found]
    assert d.volatility is not None
    assert (d.volatility.noise, d.change_points, d.anomaly_count) == (0.0, (), 0)


def test_a_little_noise_upon_a_cycle_is_noise() -> None:
    values = SHAPES["triangle"](AT / 7.3) + 1e-3 * dice(2).standard_normal(AT.size)
    assert period_of(values, even_axis(AT.size)) is None
    volatility = described(values).volatility
    assert volatility is not None
    assert volatility.noise > 0


def test_coin_flips_are_no_cycle() -> None:
    flips = [period_of((dice(seed).random(40) < 0.5).astype(float), even_axis(40)) for seed in range(200)]
    assert flips.count(None) == 200


def test_a_sum_of_sines_obeys_a_recurrence_and_noise_obeys_none() -> None:
    sines = np.sin(AT / 3) + np.sin(AT / 7)
    assert recurrence_of(sines, even_axis(AT.size), 1e-9) is not None
    assert recurrence_of(sines + 0.1 * dice(3).standard_normal(AT.size), even_axis(AT.size), 1e-9) is None
