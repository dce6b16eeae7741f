"""What is booked is what the provider bills, in every lane, with a cold and a warm prompt cache, and under a ceiling.

The provider is the simulator: it prices with the price library itself, and shares no code with ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import batchwork
from batchwork.simulator import Simulator, SimulatorConfig

LONG = "word " * 1200  # from 1,024 tokens on some models write their prompts into the cache
_MARK = {"type": "ephemeral", "ttl": "1h"}


@pytest.fixture(scope="module")
def _simulator() -> Iterator[Simulator]:
    # A project whose calls are fast when they name no tier.
    with Simulator(SimulatorConfig(persona="echo", batch_time_s=0.05, default_tier="fast")) as simulator:
        yield simulator


@pytest.fixture
def provider(_simulator: Simulator) -> Simulator:
    _simulator.reset()
    return _simulator


def _billed(provider: Simulator) -> Decimal:
    return sum((Decimal(row["nano_dollars"]) for row in provider.log()["requests"]), Decimal(0)) / 10**9


def _run(provider: Simulator, model: str, prompts: list[Any], **more: Any) -> batchwork.Results:
    url = provider.anthropic_url if model.startswith("claude") else provider.openai_url
    given = {"model": model, "base_url": url, "api_key": "none", "max_tokens": 40, "poll_interval": 0.02}
    return batchwork.run(prompts, **{**given, **more})


_ANTHROPIC: list[dict[str, Any] | None] = [None, {"speed": "fast"}, {"service_tier": "auto"}, {"cache_control": _MARK}]
_OPENAI: list[dict[str, Any] | None] = [
    None,
    *({"service_tier": tier} for tier in ("default", "flex", "fast", "priority", "ultrafast", "auto", None)),
    {"prompt_cache_options": {"mode": "explicit"}},
]
_CASES = [
    *(("claude-opus-5", "live", extra) for extra in _ANTHROPIC),
    *(("claude-opus-5", "batch", extra) for extra in (_ANTHROPIC[0], _ANTHROPIC[3])),
    *(("gpt-6-luna", "live", extra) for extra in _OPENAI),
    *(("gpt-6-luna", "batch", extra) for extra in _OPENAI),
    ("gpt-5.5", "live", {"service_tier": "fast"}),
    ("gpt-4.1", "live", {"service_tier": "priority"}),
]


@pytest.mark.parametrize(("model", "mode", "extra"), _CASES)
def test_what_is_booked_is_what_the_provider_bills(
    provider: Simulator, model: str, mode: str, extra: dict[str, Any] | None
) -> None:
    prompts = ["short", "shorter", LONG, LONG + "once more", LONG]
    results = _run(provider, model, prompts, mode=mode, extra_body=extra, max_in_flight=1)
    assert results.accounting.succeeded == 5
    assert results.total_cost == _billed(provider) > 0


@pytest.mark.parametrize(("model", "mode", "extra"), _CASES)
def test_the_bill_never_passes_the_ceiling_whatever_lane_the_calls_land_in(
    provider: Simulator, model: str, mode: str, extra: dict[str, Any] | None
) -> None:
    prompts = [f"{LONG} {number}" for number in range(6)]
    free = _run(provider, model, prompts, mode=mode, extra_body=extra, max_in_flight=3)
    assert free.total_cost is not None
    provider.reset()
    ceiling = free.total_cost * Decimal("1.7")
    results = _run(provider, model, prompts, mode=mode, extra_body=extra, max_in_flight=3, max_cost=ceiling)
    # Without a tier, a server that is not OpenAI's own is taken to serve in the default one.
    if not (model.startswith("gpt") and mode == "live" and "service_tier" not in (extra or {})):
        assert _billed(provider) <= ceiling
    assert results.total_cost == _billed(provider)


@pytest.mark.parametrize("mode", ["live", "batch"])
@pytest.mark.parametrize(
    ("model", "prompt", "extra", "named"),
    [
        ("claude-opus-5", [{"type": "document", "url": "https://example.org/a.pdf"}], None, "a document by URL"),
        ("claude-opus-5", "x", {"mcp_servers": [{"type": "url", "url": "https://x.org"}]}, "'mcp_servers'"),
        ("gpt-6-luna", [{"type": "video_url", "video_url": {"url": "https://x.org/a"}}], None, "'video_url'"),
        ("gpt-6-luna", "x", {"service_tier": "scale"}, "'scale'"),
    ],
)
def test_what_has_no_bound_is_refused_by_name_under_a_ceiling_and_sent_without_one(
    provider: Simulator, mode: str, model: str, prompt: Any, extra: dict[str, Any] | None, named: str
) -> None:
    asked = [{"messages": [{"role": "user", "content": prompt}]}, "an ordinary one"]
    results = _run(provider, model, asked, mode=mode, extra_body=extra, max_cost=100)
    assert results[0].status == "failed"
    assert "cannot be bounded under max_cost" in str(results[0].error)
    assert named in str(results[0].error)
    assert len(provider.log()["requests"]) == (1 if extra is None else 0)
    for outcome in _run(provider, model, asked, mode=mode, extra_body=extra, retries=0):  # the provider may refuse it
        assert "cannot be bounded" not in str(outcome.error)
