"""The description as plain data."""

import json

import numpy as np
import pytest

from batchwork.frame import describe_dataframe, describe_series

NOISE = np.random.default_rng(0).standard_normal(300)


def test_json_never_holds_a_number_that_json_has_no_word_for() -> None:
    import json

    wide = [-1.7e308, 1.7e308] * 5
    assert json.loads(json.dumps(describe_series(wide, output="json"), allow_nan=False))["statistics"]["range"] is None
    json.dumps(describe_dataframe({"a": wide, "b": list(range(10))}, output="json"), allow_nan=False)


def test_json_is_plain_and_complete() -> None:
    data = json.loads(json.dumps(describe_series(NOISE, output="json")))
    assert data["count"] == 300
    assert data["statistics"]["mean"] == pytest.approx(float(NOISE.mean()))
