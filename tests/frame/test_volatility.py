"""Changes of the spread."""

import numpy as np
import pytest

from batchwork.frame.volatility import change_of_spread
from tests.frame.given import described, dice


def test_a_doubled_spread_is_placed() -> None:
    values = dice(16).standard_normal(400) * np.where(np.arange(400) < 200, 1.0, 2.0)
    volatility = described(values).volatility
    assert volatility is not None
    assert volatility.index == pytest.approx(200, abs=40)
    assert volatility.before is not None
    assert volatility.after is not None
    assert volatility.after > 1.5 * volatility.before


def test_an_even_spread_does_not_change() -> None:
    assert change_of_spread(np.random.default_rng(9).standard_t(3, 500)) is None
