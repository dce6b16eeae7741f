"""Settings that are refused."""

from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError
from batchwork.server.config import ConnectionLimits, ServerConfig, WorkLimits, is_loopback
from batchwork.server.keys import KeyRing, key_ring

KEY = "bw-a-key-for-these-tests"


def test_keys_show_in_no_repr() -> None:
    config = ServerConfig(model="mock:echo", keys=key_ring([KEY]))
    assert KEY not in repr(config)
    assert repr(KeyRing()) == "<KeyRing of 0>"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org"])
def test_without_a_key_it_listens_on_loopback_only(host: str) -> None:
    with pytest.raises(ConfigError, match="loopback only"):
        ServerConfig(model="mock:echo", host=host)
    assert ServerConfig(model="mock:echo", host=host, keys=key_ring([KEY]))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_loopback_has_many_names(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "wrong", [{"max_connections": 0}, {"head_s": 0.0}, {"slow_s": float("inf")}, {"least_bytes_per_s": 1.5}]
)
def test_limits_that_limit_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        ConnectionLimits(**wrong)  # type: ignore[arg-type]


def test_work_needs_a_process_some_memory_and_some_time() -> None:
    for wrong in ({"processes": 0}, {"memory_bytes": 1}, {"job_s": 0.0}):
        with pytest.raises(ConfigError):
            WorkLimits(**wrong)  # type: ignore[arg-type]


def test_a_budget_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="max_cost_per_day must be above 0"):
        ServerConfig(model="mock:echo", max_cost_per_day=0, budget_file=tmp_path / "book")
