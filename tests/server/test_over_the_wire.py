"""The whole way: HTTP in, the engine, a provider's wire format out, and back."""

from collections.abc import Iterator

import pytest

from batchwork.simulator import Latency, Simulator, SimulatorConfig
from tests.server.house import House, serving

MODEL = "anthropic:claude-haiku-4-5"
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "invoice",
        "schema": {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/item"},
                    "minItems": 2,
                },
                "status": {"enum": ["paid", "open", 7]},
            },
            "required": ["items", "status"],
            "additionalProperties": False,
            "$defs": {
                "item": {
                    "type": "object",
                    "properties": {
                        "total": {"type": "number", "minimum": 1},
                        "day": {"type": "string", "format": "date"},
                    },
                    "required": ["total", "day"],
                }
            },
        },
    },
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Simulator]:
    config = SimulatorConfig(persona="schema", latency=Latency(median_s=0.01), api_keys=None)
    with Simulator(config) as simulator:
        yield simulator


@pytest.fixture
def house(provider: Simulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "nobody-checks-it-here")
    with serving(None, model=MODEL, base_url=provider.anthropic_url, price="1,5") as house:
        yield house


def test_a_whole_schema_comes_back_valid_and_a_path_goes_over_its_list(house: House) -> None:
    answer = house.prompt(prompt="the invoice", response_format=SCHEMA).json()
    assert answer["status"] == "success", answer
    assert len(answer["response"]["items"]) >= 2
    assert answer["response"]["status"] in ("paid", "open", 7)
    assert answer["cost_usd"] > 0
    totals = house.prompt(prompt="the invoice", response_format=SCHEMA, extract_field_path="items[*].total").json()
    assert all(total >= 1 for total in totals["response"])


def test_hundreds_of_prompts_come_back_in_order_through_faults(provider: Simulator, house: House) -> None:
    results = house.prompts([{"prompt": f"number {i}", "id": str(i)} for i in range(300)], batch_size=50).json()
    assert results["summary"]["completed"] == 300
    assert [answer["id"] for answer in results["results"]] == [str(i) for i in range(300)]


def test_a_recursive_schema_is_refused_before_it_is_sent(provider: Simulator, house: House) -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    before = len(provider.log()["requests"]) if "requests" in provider.log() else None
    answered = house.prompt(prompt="?", response_format={"type": "json_schema", "json_schema": {"schema": tree}})
    assert (answered.status, answered.code) == (422, "invalid_schema")
    assert "recursive" in answered.json()["error"]
    if before is not None:
        assert len(provider.log()["requests"]) == before
