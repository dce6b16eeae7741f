"""The options of a manager: a wrong one is an error before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from batchwork import BatchManager, ConfigError


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"items_per_job": 0}, "items_per_job"),
        ({"max_parallel_jobs": 1.5}, "max_parallel_jobs"),
        ({"items_per_jobs": 5}, "did you mean 'items_per_job'"),
        ({"temperature": 0.5}, r"goes into sampling=\{'temperature': ...\}"),
        ({"temprature": 0.5}, r"goes into sampling=\{'temperature': ...\}"),
        ({"items_per_batches": 5}, "did you mean 'items_per_job'"),
        ({"state_path": "no/such/folder/state.json"}, "no folder"),
        ({"journal": "x"}, "state_path"),
        ({"mode": "fast"}, "mode"),
        ({"max_cost": -1}, "at least 0"),
    ],
)
def test_a_wrong_argument_is_an_error_before_anything_is_sent(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        BatchManager(messages=["a"], model="mock:echo", **given)
