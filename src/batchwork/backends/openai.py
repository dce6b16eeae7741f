"""OpenAI's models, and whatever speaks its chat completions: vLLM, Ollama, llama.cpp, OpenRouter, Groq and others.

With `base_url` the same wire goes elsewhere: the key may be that server's own, or none at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from yarl import URL

from batchwork.backends import Setup
from batchwork.backends._catalog import (
    GPT,
    near,
    needs_responses,
    openai_image_tokens,
    openai_thinking_off,
    or_list,
    owner_of,
    takes_no_sampling,
)
from batchwork.backends._chat import ChatBackend, Dialect
from batchwork.backends._http import endpoint
from batchwork.backends._schema import wire_schema
from batchwork.core.errors import ConfigError
from batchwork.core.ports import Traits

BASE_URL = "https://api.openai.com/v1"
_HOME = "api.openai.com"
# Without a tier the project's settings choose one, and with it the price.
_TIER = {"service_tier": "default"}
_SAMPLING = frozenset({"temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias"})
_SAMPLING_ELSEWHERE = _SAMPLING | {"top_k", "min_p", "typical_p", "repeat_penalty", "repetition_penalty"}
_SAMPLING_THINKERS = frozenset({"seed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Host:
    """What is known about a server by its name."""

    prices: str  # under which provider the price table lists its models
    key: str  # the variable that holds its key
    batches: bool = False  # files and batches on this same wire


_HOSTS = {
    "api.cerebras.ai": _Host(prices="cerebras", key="CEREBRAS_API_KEY"),
    "api.deepseek.com": _Host(prices="deepseek", key="DEEPSEEK_API_KEY"),
    "api.fireworks.ai": _Host(prices="fireworks", key="FIREWORKS_API_KEY"),
    "api.groq.com": _Host(prices="groq", key="GROQ_API_KEY", batches=True),
    "api.mistral.ai": _Host(prices="mistral", key="MISTRAL_API_KEY"),
    "api.together.xyz": _Host(prices="together", key="TOGETHER_API_KEY"),
    "api.x.ai": _Host(prices="x-ai", key="XAI_API_KEY"),
    "openrouter.ai": _Host(prices="openrouter", key="OPENROUTER_API_KEY"),
}


def describe(name: str, base_url: str | None) -> Traits:
    """What is known before it is opened.

    Raises:
        ConfigError: the base URL is none.
    """
    host = endpoint(base_url or BASE_URL, "").host or ""
    elsewhere = _HOSTS.get(host)
    sampling = _SAMPLING if _is_own(name, host) else _SAMPLING_ELSEWHERE
    if _is_own(name, host) and takes_no_sampling(name):
        sampling = _SAMPLING_THINKERS
    prices = elsewhere.prices if elsewhere is not None else "openai"
    # A server we do not know is believed to have batches until it says no; of those we know, few have this kind.
    batches = elsewhere is None or elsewhere.batches
    return Traits(
        name="openai",
        limited=True,
        batches=batches,
        price_provider=prices,
        sampling=sampling,
        image_tokens=openai_image_tokens(name) if _is_own(name, host) else None,
    )


def open_backend(name: str, setup: Setup) -> ChatBackend:
    """The backend for one model of OpenAI's, or of the server at `base_url`.

    Raises:
        ConfigError: no model, one that this wire does not reach, no key, or a base URL that is none.
    """
    if not name:
        raise ConfigError(f"openai: needs a model, for example openai:{GPT[0]}")
    base_url = setup.base_url or setup.settings.openai_base_url or BASE_URL
    traits = describe(name, base_url)
    host = URL(base_url).host or ""
    if host == _HOME and needs_responses(name):
        raise ConfigError(
            f"{name} is served by OpenAI's Responses API alone, which batchwork does not speak;"
            f" there is {or_list(near(name, GPT))}"
        )
    own = _is_own(name, host)
    assert traits.sampling is not None
    return ChatBackend(
        name,
        clock=setup.clock,
        base_url=base_url,
        api_key=_key(host, setup),
        dialect=Dialect(
            compile_schema=lambda body: wire_schema("openai", body),
            max_tokens_field="max_completion_tokens" if own else "max_tokens",
            sampling=traits.sampling,
            fixed={**(openai_thinking_off(name) if own else {}), **(_TIER if host == _HOME else {})},
        ),
        traits=traits,
        max_in_flight=setup.max_in_flight,
        trust_env=setup.settings.trust_env,
    )


def _is_own(name: str, host: str) -> bool:
    """Whether a model is OpenAI's, here or behind a proxy of somebody's."""
    return host == _HOME or owner_of(name) == "openai"


def _key(host: str, setup: Setup) -> str | None:
    """The key for a server; None for one that may need none."""
    elsewhere = _HOSTS.get(host)
    key = setup.api_key
    if key is None and elsewhere is not None:
        key = setup.settings.other_keys.get(elsewhere.key)
    if key is None and (elsewhere is None or setup.base_url is None):
        key = setup.settings.openai_api_key  # never sent to a known stranger unless the environment pairs them
    if key is None and (host == _HOME or elsewhere is not None):
        variable = elsewhere.key if elsewhere is not None else "OPENAI_API_KEY"
        raise ConfigError(f"no API key for {host}: set {variable} in the environment or in .env, or pass api_key")
    return key
