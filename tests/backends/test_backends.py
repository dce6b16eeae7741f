import pytest

from batchwork.backends import Setup, choose, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.settings import Settings


def opened(model, **fields):
    settings = fields.pop("settings", Settings())
    return open_backend(model, Setup(clock=SystemClock(), max_in_flight=4, settings=settings, **fields))


@pytest.mark.parametrize(
    ("model", "chosen"),
    [
        ("anthropic:claude-haiku-5-5", ("anthropic", "claude-haiku-5-5")),
        ("openai:gpt-6-luna", ("openai", "gpt-6-luna")),
        ("openai:qwen2.5:7b", ("openai", "qwen2.5:7b")),
        ("claude-code:sonnet", ("claude-code", "sonnet")),
        ("local:smollm2", ("local", "smollm2")),
        ("local:/models/a.gguf", ("local", "/models/a.gguf")),
        ("mock:echo", ("mock", "echo")),
        ("claude-haiku-5-5", ("anthropic", "claude-haiku-5-5")),
        ("claude-3-haiku-20240307", ("anthropic", "claude-3-haiku-20240307")),
        ("gpt-6-luna", ("openai", "gpt-6-luna")),
        ("o3", ("openai", "o3")),
        ("gpt-6-luna-2026-08-01", ("openai", "gpt-6-luna-2026-08-01")),
        ("anthropic:claude-haiku", ("anthropic", "claude-haiku")),
        ("anthropic:claude-newer-9", ("anthropic", "claude-newer-9")),
        ("openai:gpt-9", ("openai", "gpt-9")),
        ("groq:llama", ("groq", "llama")),
        ("together:meta/llama", ("together", "meta/llama")),
        ("xai:grok-4", ("x-ai", "grok-4")),
        ("ollama:llama3.2:3b", ("ollama", "llama3.2:3b")),
    ],
)
def test_a_name_means_one_backend(model, chosen):
    assert choose(model) == chosen


@pytest.mark.parametrize(
    ("model", "near"),
    [
        ("sonnet", ["claude-code:sonnet", "anthropic:claude-sonnet-5-5"]),
        ("antropic:claude-haiku-5-5", ["anthropic:claude-haiku-5-5"]),
        ("claude_code:opus", ["claude-code:opus"]),
        ("smollm2", ["local:smollm2"]),
        ("echo", ["mock:echo"]),
        ("cloude-haiku-5-5", ["anthropic:claude-haiku-5-5"]),
        ("llama-3.3-70b", ["openai:NAME with a base_url"]),
        ("", ["BACKEND:NAME"]),
        ("claude-haiku", ["anthropic:claude-haiku-5-5", "claude-code:haiku", "it is anthropic:claude-haiku."]),
        ("claude-sonet-5-5", ["anthropic:claude-sonnet-5-5"]),
        ("claude-hiaku-5-5-20260101", ["anthropic:claude-haiku-"]),
        ("claude-newer-9", ["it is anthropic:claude-newer-9."]),
        ("gpt-6", ["openai:gpt-6-luna", "it is openai:gpt-6."]),
        ("gpt-9-luna", ["openai:gpt-6-luna"]),
        ("Groq/llama", ["did you mean groq:llama?"]),
        ("azure", ["did you mean azure:NAME?"]),
        ("llama.cpp/qwen", ["did you mean llamacpp:qwen?"]),
        ("gorq:llama", ["Did you mean groq:llama"]),
        ("openai/gpt-5", ["did you mean openai:gpt-5?"]),
        ("OpenAI:gpt-5", ["did you mean openai:gpt-5?"]),
        ("openai", ["did you mean openai:gpt-6-luna?"]),
        ("anthropic/claude-haiku-5-5", ["did you mean anthropic:claude-haiku-5-5?"]),
        (
            "mistral-small-latest",
            ["It is a model of mistral: mistral:mistral-small-latest reaches it."],
        ),
        (None, ["model must be a text such as"]),
    ],
)
def test_an_unknown_or_ambiguous_name_is_told_what_comes_near(model, near):
    with pytest.raises(ConfigError) as caught:
        choose(model)
    for name in near:
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("anthropic:claude-haiku-5-5", "ANTHROPIC_API_KEY"),
        ("openai:gpt-6-luna", "OPENAI_API_KEY"),
        ("anthropic:", "needs a model"),
        ("openai:", "needs a model"),
        ("anthropic:sonnet", "claude-sonnet-5-5"),
        ("openai:gpt-5.5-pro", "Responses"),
    ],
)
def test_what_cannot_work_fails_before_anything_is_sent(model, words):
    with pytest.raises(ConfigError, match=words):
        opened(model)


def test_a_server_of_ones_own_needs_no_key():
    for model, url in (("openai:qwen", "http://127.0.0.1:1/v1"), ("anthropic:claude-haiku-5-5", "http://127.0.0.1:1")):
        backend, name = opened(model, base_url=url)
        assert f"{backend.traits.name}:{name}" == model


def test_a_known_server_gets_its_own_key_and_never_openais():
    settings = Settings(keys={"openai": "sk-openai"})
    with pytest.raises(ConfigError, match="GROQ_API_KEY"):
        opened("openai:llama", base_url="https://api.groq.com/openai/v1", settings=settings)
    backend, _ = opened(
        "openai:llama",
        base_url="https://api.groq.com/openai/v1",
        settings=Settings(keys={"groq": "gsk"}),
    )
    assert backend.traits.price_provider == "groq"


def test_traits_say_whose_prices_and_which_sampling():
    backend, name = opened("claude-haiku-5-5", api_key="k")
    assert (name, backend.traits.price_provider, backend.traits.sampling) == (
        "claude-haiku-5-5",
        "anthropic",
        frozenset(),
    )
    chat, _ = opened("gpt-6-luna", api_key="k")
    assert chat.traits.price_provider == "openai"
    assert chat.traits.sampling is not None
    assert "temperature" in chat.traits.sampling
    assert chat.traits.limited


def test_no_key_shows_in_a_repr():
    setup = Setup(
        clock=SystemClock(),
        max_in_flight=1,
        api_key="sk-1",
        settings=Settings(keys={"anthropic": "sk-2", "openai": "sk-3"}),
    )
    assert "sk-" not in repr(setup)
    backend, _ = open_backend("claude-haiku-5-5", setup)
    assert "sk-" not in repr(backend) + repr(backend.traits)


@pytest.mark.parametrize("base_url", ["", "  "])
def test_an_empty_address_is_not_taken_for_the_providers_own(base_url):
    with pytest.raises(ConfigError, match="base_url is empty"):
        opened("openai:m", base_url=base_url)
