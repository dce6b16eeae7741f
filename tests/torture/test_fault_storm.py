"""One in five calls goes wrong in every way that a provider knows: nothing is lost, and the books match the bill."""

from __future__ import annotations

from pathlib import Path

import pytest

import batchwork
from batchwork.simulator import Simulator, SimulatorConfig

# Every retryable kind, every item-level kind, every cut connection: 20% in all.
STORM = {
    "429": 0.02,
    "529": 0.02,
    "500": 0.02,
    "503": 0.01,
    "504": 0.01,
    "reset": 0.02,
    "reset_after": 0.02,
    "truncated": 0.01,
    "refusal": 0.02,
    "max_tokens": 0.01,
    "thinking": 0.01,
    "empty": 0.01,
    "context_window": 0.01,
    "413": 0.005,
    "400": 0.005,
}
WIRES = [("anthropic:claude-haiku-5-5", "anthropic_url"), ("openai:gpt-6-luna", "openai_url")]


@pytest.mark.parametrize(("model", "door"), WIRES)
@pytest.mark.parametrize("requests", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_every_item_ends_once_and_the_cost_is_the_providers_bill(
    model: str, door: str, requests: int, tmp_path: Path
) -> None:
    config = SimulatorConfig(persona="echo", seed=11, retry_after_s=0.0)
    with Simulator(config) as provider:
        provider.set_faults(STORM)
        prompts = [f"What is the capital of country number {i}?" for i in range(requests)]
        results = batchwork.run(
            prompts,
            model=model,
            base_url=getattr(provider, door),
            api_key="none",
            max_in_flight=50,
            max_tokens=50,
            max_cost=100,
            retries=20,
            timeout=20,
            max_consecutive_failures=1000,
            journal=tmp_path / "storm.db",
        )
        log = provider.log()
    assert results.accounting.inputs == requests == results.accounting.succeeded + results.accounting.failed
    assert [r.index for r in results] == list(range(requests))
    assert results.accounting.succeeded > 0.85 * requests
    billed = log["total"]["nano_dollars"]
    spent, unconfirmed = (int(amount * 10**9) for amount in (results.total_cost or 0, results.unconfirmed_cost))
    cut_off = [r for r in log["requests"] if r["billed"] and r["fault"] in ("reset_after", "truncated")]
    confirmed_bill = billed - sum(r["nano_dollars"] for r in cut_off)
    assert spent - unconfirmed == confirmed_bill, (
        "every answered call costs what the provider billed, to the nano-dollar"
    )
    assert spent >= billed, "a call cut off after it was sent is booked at its worst case"
    assert cut_off
