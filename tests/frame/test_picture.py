"""The door for pictures."""

from pathlib import Path

import numpy as np
import pytest

from batchwork.frame import FrameError, plot

NOISE = np.random.default_rng(0).standard_normal(300)


def test_a_plot_is_a_picture(tmp_path: Path) -> None:
    values = NOISE + 5.0 * (np.arange(300) > 150)
    values[20] = 30.0
    assert plot(values, tmp_path / "series.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FrameError, match=r"\.png or \.svg"):
        plot(values, tmp_path / "series.gif")
