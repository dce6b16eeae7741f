"""Lines in a spectrum."""

import numpy as np
import pytest

from batchwork.frame.spectrum import find_line


def test_a_line_in_noise_is_found_at_its_frequency() -> None:
    at = np.arange(400)
    signal = np.sin(2 * np.pi * at / 17.3) + np.random.default_rng(7).standard_normal(400)
    assert find_line(signal, changes=False) == pytest.approx(1 / 17.3, rel=0.01)
    assert find_line(np.random.default_rng(8).standard_normal(400), changes=False) is None
