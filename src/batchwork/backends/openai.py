"""OpenAI's models, and whatever speaks its chat completions: vLLM, Ollama, llama.cpp, OpenRouter, Groq and others.

With `base_url` the same wire goes elsewhere: the key may be that server's own, or none at all. What is known about a
server by its host stands in the table of providers.
"""

from dataclasses import replace

from batchwork.backends import Setup
from batchwork.backends._catalog import catalog, fact, near, owner_of
from batchwork.backends._chat import ChatBackend
from batchwork.backends._chat.request_body import ChatBody, ChatDialect
from batchwork.backends._content import WireSchemas
from batchwork.backends._http import endpoint
from batchwork.core.errors import ConfigError
from batchwork.core.ports import Traits
from batchwork.core.providers import provider_at, providers
from batchwork.core.words import or_list
from batchwork.schema import ANY_SERVER

_SAMPLING = frozenset({"temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias"})
_SAMPLING_ELSEWHERE = _SAMPLING | {"top_k", "min_p", "typical_p", "repeat_penalty", "repetition_penalty"}
_SAMPLING_THINKERS = frozenset({"seed"})
_HOME = "openai"


def describe(name: str, base_url: str | None) -> Traits:
    """What is known before it is opened."""
    where = _provider_of(base_url)
    provider = providers()[where or _HOME]
    sampling, image_tokens = _SAMPLING_ELSEWHERE, None
    if _is_own(name, where):
        sampling = _SAMPLING_THINKERS if fact(_HOME, name, "takes_sampling") is False else _SAMPLING
        image_tokens = fact(_HOME, name, "image_tokens")
    return Traits(
        name="openai",
        limited=True,
        batches=provider.batches,  # a server we do not know is believed to have them until it says no
        price_provider=provider.prices,
        sampling=sampling,
        image_tokens=image_tokens,
    )


def open_backend(name: str, setup: Setup) -> ChatBackend:
    """The backend for one model of OpenAI's, or of the server at `base_url`."""
    ids = catalog().ids[_HOME]
    if not name:
        raise ConfigError(f"openai: needs a model, for example openai:{ids[0]}")
    base_url = setup.base_url or setup.settings.openai_base_url or providers()[_HOME].base_url
    where = _provider_of(base_url)
    traits = replace(describe(name, base_url), schemas=None if where == _HOME else ANY_SERVER)
    if where == _HOME and fact(_HOME, name, "responses_only"):
        raise ConfigError(
            f"{name} is served by OpenAI's Responses API alone, which batchwork does not speak;"
            f" there is {or_list(near(name, ids))}"
        )
    own = _is_own(name, where)
    thinking_off = fact(_HOME, name, "thinking_off") if own else None
    assert traits.sampling is not None
    dialect = ChatDialect(
        schemas=WireSchemas.of("openai", or_as_is=where != _HOME),
        max_tokens_field="max_completion_tokens" if own else "max_tokens",
        sampling=traits.sampling,
        fixed={**(thinking_off or {}), **(providers()[where].body if where is not None else {})},
    )
    provider = providers()[where or _HOME]
    setup = replace(setup, base_url=base_url, api_key=_key(where, setup))
    return ChatBackend(name, ChatBody(name, dialect).build, traits, setup, provider.auth)


def _provider_of(base_url: str | None) -> str | None:
    address = base_url or providers()[_HOME].base_url
    return provider_at(endpoint(address, "").host or "", "chat")


def _is_own(name: str, where: str | None) -> bool:
    """Whether a model is OpenAI's, here or behind a proxy of somebody's."""
    return where == _HOME or owner_of(name) == _HOME


def _key(where: str | None, setup: Setup) -> str | None:
    """The key for a server; None for one that may need none."""
    keys = setup.settings.keys
    key = setup.api_key if setup.api_key is not None or where is None else keys.get(where)
    if key is None and (where is None or setup.base_url is None):
        key = keys.get(_HOME)  # never sent to a known stranger unless the environment pairs them
    if key is None and where is not None:
        provider = providers()[where]
        remedy = f"set {provider.keys[0]} in the environment or in .env (in Python also api_key=)"
        raise ConfigError(f"no API key for {provider.host}: {remedy}")
    return key
