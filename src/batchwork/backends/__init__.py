"""Which backend a model name means: the one table.

A model is `backend:name`, for example `mock:echo`, or a bare id that belongs to one provider alone. A backend is a row
of `core/providers.toml` that speaks OpenAI's wire, or a module with two functions, `open_backend(name, setup)` and
`describe(name, base_url)`; either is imported when it is chosen.
What cannot be opened is a `ConfigError`; what cannot be sent is a `BackendError` of the kind `bad_input`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

from batchwork.backends._catalog import catalog, is_known, near, owner_of
from batchwork.core.errors import ConfigError
from batchwork.core.ports import Backend, Clock, EmbedBackend, Traits
from batchwork.core.price_tables import provider_of
from batchwork.core.providers import providers, service_of
from batchwork.core.words import or_list
from batchwork.settings import Settings

_SERVICES = "batchwork.backends._chat.service"
_EMBEDDINGS = "batchwork.backends._chat.embeddings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a backend may need to open itself."""

    clock: Clock
    max_in_flight: int
    settings: Settings = field(default_factory=Settings)
    base_url: str | None = field(default=None, repr=False)  # there may be a key in it
    api_key: str | None = field(default=None, repr=False)


def open_backend(model: str, setup: Setup) -> tuple[Backend, str]:
    """The backend for a model, and the model's name there."""
    chosen, name = choose(model)
    if setup.base_url is not None and not setup.base_url.strip():
        raise ConfigError("base_url is empty: leave it out for the provider's own address")
    backend: Backend = _function(chosen, "open_backend")(name, setup)
    return backend, name


def open_embedder(model: str, setup: Setup) -> tuple[EmbedBackend, str]:
    """The backend that makes embeddings with a model, and the model's name there."""
    chosen, name = choose(model)
    makers = sorted(name for name, row in providers().items() if row.embeddings is not None)
    if chosen not in makers:
        raise ConfigError(f"{chosen} makes no embeddings that batchwork knows of; there are {', '.join(makers)}")
    if not name:
        raise ConfigError(f"{chosen}: needs a model; `batchwork models {chosen}` lists those that are known")
    backend: EmbedBackend = _function(chosen, "open_embedder", _EMBEDDINGS)(name, setup)
    return backend, name


def traits_of(model: str, base_url: str | None = None) -> tuple[Traits, str]:
    """What is known about a model's backend without opening it, and the model's name in the price table."""
    chosen, name = choose(model)
    traits: Traits = _function(chosen, "describe")(name, base_url)
    return traits, traits.price_model or name


def choose(model: str) -> tuple[str, str]:
    """The backend and the name that a model means; where there is none, a `ConfigError` lists what comes near."""
    if not isinstance(model, str):
        raise ConfigError(f"model must be a text such as 'anthropic:claude-haiku-5-5', got {model!r}")
    prefix, colon, name = model.partition(":")
    ids = {**{name: () for name, row in providers().items() if row.wire == "chat"}, **catalog().ids}
    if colon and (prefix in ids or service_of(prefix) is not None):
        return service_of(prefix) or prefix, name
    owner = owner_of(model)
    if owner is not None and is_known(model):
        return owner, model
    if not colon:
        prefix, _, name = model.partition("/")  # as other libraries write it
    backend = service_of(prefix.lower()) or prefix.lower()
    if backend in ids:
        meant = name or next(iter(ids[backend]), "NAME")
        raise ConfigError(f"unknown model {model!r}: did you mean {backend}:{meant}?")
    close = [_example(backend, name) for backend in get_close_matches(prefix, ids, n=2, cutoff=0.5)] if colon else []
    close = close or _near(model)
    hint = f" Did you mean {or_list(close)}?" if close else ""
    if owner is not None:
        hint += f" If there is such a model by now, it is {owner}:{model}."
    elif not colon and not close and (provider := provider_of(model)) is not None:
        rows = providers().items()
        service = next((name for name, row in rows if row.prices == provider and row.wire == "chat"), None)
        reached = "openai:NAME with the base_url that it states for OpenAI's wire"
        hint = f" It is a model of {provider}: {reached if service is None else f'{service}:{model}'} reaches it."
    known = ", ".join(f"{backend}:..." for backend in sorted(ids))
    raise ConfigError(
        f"unknown model {model!r}: a model is BACKEND:NAME with one of {known}, or the bare id of a known Claude,"
        f" Gemini or GPT model; openai:NAME with a base_url reaches any server that speaks its wire.{hint}"
    )


def _example(backend: str, name: str) -> str:
    return f"{backend}:{name or next(iter(catalog().ids.get(backend, ())), 'NAME')}"


def known_prefixes() -> list[str]:
    """Every word that may stand before a model's name."""
    return sorted({*catalog().ids, *providers()})


def known_ids(backend: str) -> tuple[str, ...]:
    """The current ids of a backend's models, as far as we list them."""
    return catalog().ids.get(backend, ())


def near_models(model: str) -> list[str]:
    """What a name behind a backend's prefix may have meant, where the backend knows no model of this name."""
    backend, _, name = model.partition(":")
    known = catalog().ids.get(backend, ())
    return [] if name in known else [f"{backend}:{one}" for one in near(name, known)[:2]]


def _function(backend: str, name: str, rows: str = _SERVICES) -> Callable[..., Any]:
    """A function of a backend's own module; of the one for `rows`, where everything about it stands in its row."""
    if service_of(backend) is not None and not providers()[backend].module:
        return partial(getattr(import_module(rows), name), backend)
    function: Callable[..., Any] = getattr(import_module(f"batchwork.backends.{backend.replace('-', '_')}"), name)
    return function


def _near(model: str) -> list[str]:
    """What a bare word may have meant, over all backends: those that have exactly this name first."""
    names_by_backend = catalog().ids.items()
    exact = [f"{backend}:{model}" for backend, names in names_by_backend if model in names]
    close = [f"{backend}:{name}" for backend, names in names_by_backend for name in near(model, names)[:2]]
    return list(dict.fromkeys([*exact, *close]))[:4]


def options_in(name: str, known: Mapping[str, Callable[[str], Any]], backend: str) -> tuple[str, dict[str, Any]]:
    """A model's name before its `?`, and the options behind it, each read by its type."""
    model, _, query = name.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(options.keys() - known.keys()):
        raise ConfigError(f"unknown {backend} option {unknown[0]!r}; there are {', '.join(known)}")
    try:
        return model, {option: known[option](value) for option, value in options.items()}
    except ValueError as error:
        raise ConfigError(f"{backend} option in {name!r}: {error}") from error
