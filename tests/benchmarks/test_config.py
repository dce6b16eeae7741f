"""Settings that cannot be run are refused in words, whoever gives them, before anything is drawn or sent."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from batchwork.benchmarks.claude_client import BackendType, MockClient
from batchwork.benchmarks.config import BenchmarkConfig, ConfigurationError
from batchwork.benchmarks.runner import BenchmarkRunner
from batchwork.benchmarks.tasks import TASKS


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"trials": "5"}, "trials must be a whole number of at least 1, got '5'"),
        ({"trials": 2.5}, "trials must be a whole number of at least 1, got 2.5"),
        ({"trials": True}, "trials must be a whole number of at least 1, got True"),
        ({"trials": None}, "trials must be a whole number of at least 1, got None"),
        ({"seed": 1.5}, "seed must be a whole number of at least 0, got 1.5"),
        ({"retries": -1}, "retries must be a whole number of at least 0, got -1"),
        ({"max_in_flight": 0}, "max_in_flight must be a whole number of at least 1, got 0"),
        ({"skip_baseline_above": "many"}, "skip_baseline_above must be a whole number of at least 0, got 'many'"),
        ({"base_timeout": "1"}, "base_timeout must be a number of at least 0, got '1'"),
        ({"base_timeout": 0}, r"base_timeout \(--timeout\) must be above 0"),
        ({"max_wait_s": float("nan")}, "max_wait_s must be a number of at least 0, got nan"),
        ({"max_cost": "5"}, "max_cost must be a number above 0, got '5'"),
        ({"max_cost": Decimal("NaN")}, "max_cost must be a number above 0"),
        ({"treatments": (len,)}, r"treatments must be a tuple of names, got .*'MODULE:FUNC'"),
        ({"baseline": len}, r"baseline must be a name, got .*'MODULE:FUNC'"),
        ({"treatments": "frame"}, "treatments must be a tuple of names, got 'frame'"),
        ({"tasks": "trend"}, "tasks must be a tuple of names, got 'trend'"),
        ({"tasks": ("trend", "trend")}, "the task 'trend' is named twice: name each once"),
        ({"treatments": ("frame", "csv", "frame")}, "the treatment 'frame' is named twice"),
        ({"baseline": "frame"}, "'frame' is the baseline and a treatment too: name another"),
        ({"plan": "max"}, "unknown plan 'max'; there are max5x, max20x"),
    ],
)
def test_a_setting_that_cannot_be_run_is_refused_in_words(fields: dict[str, Any], said: str) -> None:
    config = BenchmarkConfig(**fields)
    for refuses in (
        config.check,
        BenchmarkRunner(config, BackendType.MOCK).lay_out,
        lambda: TASKS["trend"].run(MockClient(config)),
    ):
        with pytest.raises(ConfigurationError, match=said):
            refuses()


def test_what_can_be_run_is_not_refused() -> None:
    config = BenchmarkConfig(
        tasks=("trend",),
        treatments=("summary-stats", "csv"),
        max_cost=Decimal("0.5"),
        base_timeout=1,
        skip_baseline_above=0,
    )
    laid_out = BenchmarkRunner(config, BackendType.MOCK).lay_out()
    assert len(laid_out) == config.trials * len(config.conditions)


@pytest.mark.parametrize("number", [-1, 1.5, "first"])
def test_a_trial_that_there_is_not_is_refused_in_words(number: Any) -> None:
    with pytest.raises(ConfigurationError, match="a trial's number is a whole number of at least 0, got"):
        TASKS["trend"].run_single_trial(MockClient(), number)
