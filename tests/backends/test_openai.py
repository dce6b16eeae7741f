import json

import pytest

from batchwork import settings as settings_module
from batchwork.backends import Setup, open_backend
from batchwork.backends import openai as openai_module
from batchwork.backends.openai import describe
from batchwork.clock import SystemClock
from batchwork.core import providers as providers_module
from batchwork.core.providers import Provider, providers
from batchwork.core.request import Request
from batchwork.settings import Settings

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
    assert describe(model, base_url).image_tokens == tokens


def test_a_new_row_of_the_table_is_all_that_a_new_provider_needs(monkeypatch):
    row = Provider(
        wire="chat",
        base_url="https://api.example.org/v1",
        keys=("EXAMPLE_API_KEY",),
        prices="example",
        auth="api-key",
        batches=False,
        body={"store": False},
    )
    known = {**providers(), "example": row}
    for module in (providers_module, openai_module, settings_module):
        monkeypatch.setattr(module, "providers", lambda: known)
    settings = Settings.from_environment({"EXAMPLE_API_KEY": "sk-example", "OPENAI_API_KEY": "sk-openai"})
    setup = Setup(clock=SystemClock(), max_in_flight=1, settings=settings, base_url=row.base_url)
    backend, name = open_backend("openai:any-model", setup)
    assert (backend.traits.price_provider, backend.traits.batches) == ("example", False)
    assert backend._http._session._headers["api-key"] == "sk-example"
    assert "authorization" not in backend._http._session._headers
    assert backend._build(Request.ask("Is it?"))["store"] is False
    assert name == "any-model"
