"""A provider on loopback for the tests of this folder, started once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from batchwork.simulator import Simulator, SimulatorConfig


@pytest.fixture(scope="module")
def _simulator() -> Iterator[Simulator]:
    with Simulator(SimulatorConfig(persona="reader", batch_time_s=0.1)) as simulator:
        yield simulator


@pytest.fixture
def provider(_simulator: Simulator) -> Simulator:
    _simulator.reset()
    return _simulator


@pytest.fixture
def at_provider(provider: Simulator) -> dict[str, Any]:
    """The options that lead to it."""
    return {
        "model": "claude-haiku-5-5",
        "base_url": provider.anthropic_url,
        "api_key": "none",
        "poll_interval": 0.05,
        "max_tokens": 200,
    }
