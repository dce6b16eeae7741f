"""Which backend a model name means: the one table.

A model is `backend:name`, for example `mock:echo`. Each backend is a module with a function
`open_backend(name, setup)`, imported only when it is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType

from batchwork.core.errors import ConfigError
from batchwork.core.ports import Backend, Clock, Traits
from batchwork.settings import Settings

_MODULES = {"mock": "batchwork.backends.mock"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a backend may need to open itself."""

    clock: Clock
    max_in_flight: int
    settings: Settings = field(default_factory=Settings)
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


def open_backend(model: str, setup: Setup) -> tuple[Backend, str]:
    """The backend for a model, and the model's name there.

    Raises:
        ConfigError: no such backend or model; the message lists what comes near.
    """
    module, name = _find(model)
    backend: Backend = module.open_backend(name, setup)
    return backend, name


def traits_of(model: str) -> tuple[Traits, str]:
    """What is known about a model's backend without opening it, and the model's name there.

    Raises:
        ConfigError: no such backend; the message lists what comes near.
    """
    module, name = _find(model)
    traits: Traits = module.TRAITS
    return traits, name


def _find(model: str) -> tuple[ModuleType, str]:
    prefix, colon, name = model.partition(":")
    module = _MODULES.get(prefix) if colon else None
    if module is None:
        near = get_close_matches(prefix, _MODULES, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(f'{n}:{name or prefix}' for n in near)}?" if near else ""
        known = ", ".join(f"{n}:..." for n in sorted(_MODULES))
        raise ConfigError(f"unknown model {model!r}: a model is BACKEND:NAME with one of {known}. {hint}".rstrip())
    return import_module(module), name
