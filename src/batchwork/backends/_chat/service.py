"""Opens a service that speaks OpenAI's chat completions: OpenAI itself, and every row of the table of providers.

`openai:NAME` with a `base_url` goes to any server on this wire: what is known about it by its host stands in the table;
the key may be that server's own, or none at all. `groq:NAME` and its like keep the facts of their row wherever the
`base_url` leads: to a proxy, or to a resource of the user's.
"""

from dataclasses import replace

import msgspec
from yarl import URL

from batchwork.backends import Setup
from batchwork.backends._catalog import catalog, fact, near, owner_of
from batchwork.backends._chat import ChatBackend
from batchwork.backends._chat.files import FileChatBackend
from batchwork.backends._chat.inline import InlineChatBackend
from batchwork.backends._chat.request_body import ChatBody, ChatDialect
from batchwork.backends._content import WireSchemas
from batchwork.backends._http import endpoint
from batchwork.backends._wire import no_key
from batchwork.core.errors import ConfigError
from batchwork.core.ports import Traits
from batchwork.core.providers import RESOURCE, Provider, provider_at, providers
from batchwork.core.words import or_list
from batchwork.schema import ANY_SERVER

_SAMPLING = frozenset({"temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias"})
_SAMPLING_ELSEWHERE = _SAMPLING | {"top_k", "min_p", "typical_p", "repeat_penalty", "repetition_penalty"}
_SAMPLING_THINKERS = frozenset({"seed"})
_HOME = "openai"


def describe(service: str, name: str, base_url: str | None) -> Traits:
    """What is known before it is opened."""
    where = place_of(service, base_url)
    row = row_at(where)
    sampling, image_tokens = _SAMPLING_ELSEWHERE, None
    if _is_own(name, where):
        sampling = _SAMPLING_THINKERS if fact(_HOME, name, "takes_sampling") is False else _SAMPLING
        image_tokens = fact(_HOME, name, "image_tokens")
    return Traits(
        name=service,
        limited=not row.local,
        free=row.local,
        batches=row.batch is not None and "chat" in row.batch.serves,
        price_provider=row.prices,
        sampling=sampling,
        image_tokens=image_tokens,
        batch_notice=row.batch.notice if row.batch is not None else None,
    )


def open_backend(service: str, name: str, setup: Setup, *, kind: type[ChatBackend] | None = None) -> ChatBackend:
    """The backend for one model of a service, or of the server at `base_url`; `kind` where a service has its own."""
    ids = catalog().ids.get(service, ())
    if not name:
        example = f", for example {service}:{ids[0]}" if ids else f"; `batchwork models {service}` lists known ones"
        raise ConfigError(f"{service}: needs a model{example}")
    base_url = address_of(service, setup)
    where = place_of(service, base_url)
    row = row_at(where)
    if not row.chat:
        raise ConfigError(f"{service} serves embeddings alone: batchwork.embed (`batchwork embed`) asks it for them")
    traits = replace(describe(service, name, base_url), schemas=None if where == _HOME else ANY_SERVER)
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
        max_tokens_field="max_completion_tokens" if own else row.max_tokens,
        sampling=traits.sampling,
        sampling_names=row.sampling,
        fixed={**(thinking_off or {}), **row.body},
    )
    setup = replace(setup, base_url=base_url, api_key=key_of(service, where, setup, base_url))
    if kind is None:
        kind = InlineChatBackend if row.batch is not None and row.batch.inline else FileChatBackend
    return kind(name, ChatBody(name, dialect).build, traits, setup, row)


def address_of(service: str, setup: Setup) -> str:
    """Where the calls of a service go: what the user says, the environment, or the table, with the row's parameters."""
    row = providers()[service]
    stated = setup.base_url or setup.settings.addresses.get(service)
    if stated is None and RESOURCE in row.base_url:
        variable = f"set {row.address} to it, or " if row.address else ""
        raise ConfigError(f"{service} needs the address of your resource: {variable}state base_url {row.base_url}")
    address = stated or row.base_url
    url = endpoint(address, "")
    missing = {name: value for name, value in row.query.items() if name not in url.query}
    if RESOURCE in row.base_url and not url.path.strip("/"):
        url = url.with_path(URL(row.base_url).path).with_query(url.query)
    elif not missing:
        return address
    return str(url.update_query(missing))


def key_of(service: str, where: str | None, setup: Setup, base_url: str) -> str | None:
    """The key for a server; None for one that may need none."""
    keys = setup.settings.keys
    key = setup.api_key if setup.api_key is not None or where is None else keys.get(where)
    if key is None and (where is None or setup.base_url is None):
        key = keys.get(service)  # never sent to a known stranger unless the environment pairs them
    row = row_at(where)
    host = endpoint(base_url, "").host
    at_home = RESOURCE in row.base_url or host == row.host
    if key is None and where is not None and not row.local and at_home:
        raise no_key(str(host), row)
    return key


def place_of(service: str, base_url: str | None) -> str | None:
    """Whose row holds: the service's own; for `openai` at another address, that of whoever is there, if known."""
    if service != _HOME:
        return service
    url = endpoint(base_url or providers()[_HOME].base_url, "")
    where = provider_at(url.host or "", "chat")
    if where is None or RESOURCE not in (own := providers()[where]).base_url:
        return where
    if not url.path.startswith(URL(own.base_url).path):
        others = or_list([f"{name}:NAME" for name, row in providers().items() if row.host == own.host])
        raise ConfigError(f"openai:NAME does not know the addresses of {url.host}: use {others} with {url.origin()}")
    return where


def row_at(where: str | None) -> Provider:
    """The row of a service; a server that is not known is believed to have what OpenAI has, until it says no."""
    return providers()[where] if where is not None else msgspec.structs.replace(providers()[_HOME], body={})


def _is_own(name: str, where: str | None) -> bool:
    """Whether a model is OpenAI's, here or behind a proxy of somebody's."""
    return where == _HOME or owner_of(name) == _HOME
