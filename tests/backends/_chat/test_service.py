import json
from pathlib import Path

import msgspec
import pytest

import batchwork
from batchwork.backends import Setup, open_backend
from batchwork.backends._chat.service import describe
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.core.providers import Batches, Embeddings, Provider, providers
from batchwork.core.request import Request
from batchwork.settings import Settings
from batchwork.simulator import Simulator

MODEL = "openai:gpt-6-luna"


def test_another_servers_model_gets_max_tokens_and_no_word_about_reasoning(exchange):
    assert exchange("openai:qwen2.5:7b", request=Request.ask("Is it?", max_tokens=50)).body == {
        "model": "qwen2.5:7b",
        "messages": [{"role": "user", "content": "Is it?"}],
        "max_tokens": 50,
    }


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-6.1-sol", "none"),
        ("gpt-5.4-mini", "none"),
        ("gpt-5-mini", "minimal"),
        ("o3", "low"),
        ("gpt-5.2-pro", None),
        ("gpt-4o-mini", None),
    ],
)
def test_reasoning_is_as_low_as_the_model_allows(exchange, model, effort):
    assert exchange(f"openai:{model}").body.get("reasoning_effort") == effort


def test_asking_for_reasoning_gives_it(exchange):
    request = Request.ask("?", extra_body={"reasoning_effort": "high"})
    assert exchange(MODEL, request=request).body["reasoning_effort"] == "high"


@pytest.mark.parametrize(
    ("base_url", "extra", "tier"),
    [
        (None, None, "default"),
        ("https://api.openai.com/v1", {"service_tier": "fast"}, "fast"),
        (None, {"service_tier": None}, None),
        ("http://127.0.0.1:9/v1", None, None),
    ],
)
def test_openais_own_host_is_told_the_tier_that_a_request_does_not_name(base_url, extra, tier):
    setup = Setup(clock=SystemClock(), max_in_flight=1, settings=Settings(), base_url=base_url, api_key="sk-1")
    backend, _ = open_backend(MODEL, setup)
    line = backend.batch_line("a", Request.ask("?", extra_body=extra))
    assert json.loads(line)["body"].get("service_tier") == tier


@pytest.mark.parametrize(
    ("model", "name"),
    [("x-ai:grok-4.5", "max_completion_tokens"), ("azure:d", "max_completion_tokens"), ("groq:m", "max_tokens")],
)
def test_an_answer_is_bounded_by_the_field_that_bounds_its_thinking_too(exchange, model, name):
    body = exchange(model, request=Request.ask("?", max_tokens=9)).body
    assert {field: body[field] for field in body if field.startswith("max_")} == {name: 9}


@pytest.mark.parametrize(("model", "name"), [("mistral:m", "random_seed"), ("groq:m", "seed"), ("openai:m", "seed")])
def test_a_seed_goes_out_under_the_name_that_the_service_has_for_it(exchange, model, name):
    body = exchange(model, request=Request.ask("?", sampling={"seed": 7, "top_p": 0.5})).body
    assert {field: body[field] for field in body if "seed" in field} == {name: 7}
    assert body["top_p"] == 0.5


@pytest.mark.parametrize(
    ("model", "base_url", "tokens"),
    [
        ("gpt-6-luna", None, None),
        ("gpt-5.4", None, None),
        ("gpt-4o-mini", None, 50_000),
        ("gpt-4.1-mini", None, 6_000),
        ("gpt-5", None, 6_000),
        ("o3", None, 6_000),
        ("qwen2.5-vl", "http://127.0.0.1:9/v1", None),
    ],
)
def test_images_have_a_most_where_the_model_scales_them_down(model, base_url, tokens):
    assert describe("openai", model, base_url).image_tokens == tokens


def test_openai_at_a_resource_of_azures_has_azures_facts_or_names_the_prefix_that_does():
    def opened(base_url, **keys):
        setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=base_url, settings=Settings(keys=keys))
        return open_backend("openai:gpt-4o", setup)[0]

    home = "https://mine.openai.azure.com"
    assert opened(f"{home}/openai/v1", azure="k").traits.price_provider == "azure"
    with pytest.raises(ConfigError, match=r"no API key for mine\.openai\.azure\.com: set AZURE_OPENAI_API_KEY"):
        opened(f"{home}/openai/v1", openai="k")
    with pytest.raises(ConfigError, match=f"use azure:NAME or azure-classic:NAME with {home}"):
        opened(f"{home}/openai/deployments/d", azure="k")


EXAMPLE = Provider(
    wire="chat",
    base_url="https://api.example.org/v1",
    keys=("EXAMPLE_API_KEY",),
    prices="example",
    auth="api-key",
    max_tokens="max_output",
    body={"store": False},
    batch=Batches(max_requests=7, window="48h", line="body", metadata=False),
    embeddings=Embeddings(max_texts=5),
)


@pytest.mark.parametrize(("model", "base_url"), [("example:any-model", None), ("openai:any-model", EXAMPLE.base_url)])
def test_a_new_row_of_the_table_is_all_that_a_new_provider_needs(monkeypatch, model, base_url):
    monkeypatch.setitem(providers(), "example", EXAMPLE)
    settings = Settings.from_environment({"EXAMPLE_API_KEY": "sk-example", "OPENAI_API_KEY": "sk-openai"})
    setup = Setup(clock=SystemClock(), max_in_flight=1, settings=settings, base_url=base_url)
    backend, name = open_backend(model, setup)
    assert (backend.traits.price_provider, backend.traits.batches) == ("example", True)
    assert backend._http._session._headers["api-key"] == "sk-example"
    assert "authorization" not in backend._http._session._headers
    assert backend.batch_limits.max_requests == 7
    line = json.loads(backend.batch_line("a", Request.ask("Is it?", max_tokens=9)))
    assert line == {
        "custom_id": "a",
        "body": {"model": name, "messages": [{"role": "user", "content": "Is it?"}], "max_output": 9, "store": False},
    }


def opened(model, **fields):
    settings = Settings.from_environment(fields.pop("environment", {}))
    backend, _ = open_backend(model, Setup(clock=SystemClock(), max_in_flight=1, settings=settings, **fields))
    return backend


@pytest.mark.parametrize(
    ("environment", "base_url", "url"),
    [
        ({"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com"}, None, "https://mine.openai.azure.com/openai/v1"),
        ({"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"}, None, "https://mine.openai.azure.com/openai/v1"),
        ({}, "https://mine.openai.azure.com/openai/v1", "https://mine.openai.azure.com/openai/v1"),
        ({}, "http://127.0.0.1:9/proxy/v1", "http://127.0.0.1:9/proxy/v1"),
    ],
)
def test_azure_is_at_the_address_of_ones_own_resource(environment, base_url, url):
    backend = opened("azure:mine", environment=environment, base_url=base_url, api_key="k")
    assert str(backend._url) == f"{url}/chat/completions"
    assert backend.traits.price_provider == "azure"


def test_the_classic_addresses_of_azure_name_the_deployment_and_a_version():
    backend = opened("azure-classic:my dep", base_url="https://mine.openai.azure.com", api_key="k")
    query = "?api-version=2024-10-21"
    deployment = "https://mine.openai.azure.com/openai/deployments/my%20dep"
    assert str(backend._url) == f"{deployment}/chat/completions{query}"
    assert str(backend._batches_url("b")) == f"https://mine.openai.azure.com/openai/batches/b{query}"
    assert backend._http._session._headers["api-key"] == "k"
    other = opened("azure-classic:dep", base_url="https://mine.openai.azure.com?api-version=2025-01-01", api_key="k")
    assert other._url.query_string == "api-version=2025-01-01"
    assert json.loads(backend.batch_line("a", Request.ask("?")))["url"] == "/chat/completions"


@pytest.mark.parametrize(
    ("model", "fields", "words"),
    [
        ("azure:mine", {"api_key": "k"}, "AZURE_OPENAI_ENDPOINT"),
        ("azure:mine", {"base_url": "https://mine.openai.azure.com"}, "AZURE_OPENAI_API_KEY"),
        ("groq:llama", {}, "GROQ_API_KEY"),
        ("groq:", {"api_key": "k"}, "groq: needs a model"),
        ("voyage:voyage-4", {"api_key": "k"}, "embeddings alone"),
    ],
)
def test_what_a_service_lacks_is_said_before_anything_is_sent(model, fields, words):
    with pytest.raises(ConfigError, match=words):
        opened(model, **fields)


def test_a_server_of_ones_own_is_free_and_needs_no_key():
    backend = opened("ollama:llama3.2:3b", environment={"OPENAI_API_KEY": "sk-openai"})
    assert str(backend._url) == "http://localhost:11434/v1/chat/completions"
    assert backend.traits.free
    assert "authorization" not in backend._http._session._headers


def test_a_limit_of_requests_per_day_is_not_taken_for_one_per_minute(exchange):
    headers = {"x_ratelimit_limit_requests": "14400", "x_ratelimit_limit_tokens": "18000"}
    limits = exchange("groq:llama", base="/openai/v1", **headers).reply.limits
    assert limits.requests is None
    assert limits.tokens.per_minute == 18000
    assert exchange(MODEL, **headers).reply.limits.requests.per_minute == 14400


def test_the_row_of_the_page_about_adding_a_provider_is_all_it_says(monkeypatch):
    page = (Path(__file__).parents[3] / "docs" / "add-a-provider.md").read_text()
    row = msgspec.toml.decode(page.split("```toml\n")[1].split("```")[0], type=dict[str, Provider])["example"]
    monkeypatch.setitem(providers(), "example", row)
    with Simulator(persona="echo", batch_time_s=0.05, validation_time_s=0.01) as sim:
        told = {"base_url": sim.service_url("azure"), "api_key": "k", "price": (1, 1), "max_cost": 1}
        for mode in ("live", "batch"):
            results = batchwork.run(["Is it?"], model="example:gpt-6-luna", mode=mode, poll_interval=0.05, **told)
            assert results[0].text == "Is it?"
        order = [one for one in sim.log()["requests"] if one["custom_id"]]
        assert len(order) == 1
        with batchwork.embed([f"text {i}" for i in range(100)], model="example:m", dimensions=4, **told) as made:
            assert made.accounting.succeeded == 100
        assert [one["path"] for one in sim.log()["requests"]].count("/v1/embeddings") == 2, "64 texts in a call"
