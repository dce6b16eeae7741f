"""What is known about models by their names, from `models.toml`: the ids, whose they are, what each must be told.

Nothing here forbids a name behind its backend's prefix: an id that is not listed is sent as it is. A bare id is another
matter: one that is not known may be a slip of the pen, and is refused with what comes near.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

import msgspec

from batchwork.core.data_file import read_data_file
from batchwork.core.providers import providers

_DATED = re.compile(r"(.+)-(?:\d{8}|\d{4}-\d{2}-\d{2})")


class ModelRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts about the models whose whole name matches. They are explained in the data file."""

    models: re.Pattern[str]
    thinking_off: dict[str, Any] | None = None
    image_tokens: int | None = None
    takes_sampling: bool | None = None
    responses_only: bool | None = None


class LocalModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model file with a name: the package that contains it, and the file."""

    package: str
    module: str
    file: str
    about: str


class _Catalog(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ids: dict[str, tuple[str, ...]]
    priced_as: dict[str, str]
    local: dict[str, LocalModel]
    rules: dict[str, list[ModelRule]]


@cache
def catalog() -> _Catalog:
    """The table itself."""
    return read_data_file(__file__, "models.toml", _Catalog)


def fact(owner: str, model: str, name: str) -> Any:
    """What the first rule that states a fact says of a model; None when no rule does."""
    stated = (getattr(rule, name) for rule in catalog().rules[owner] if rule.models.fullmatch(model))
    return next((value for value in stated if value is not None), None)


def owner_of(model: str) -> str | None:
    """The backend a bare model id belongs to; None when that cannot be told from the id."""
    rows = providers().items()
    return next((name for name, row in rows if row.bare_ids is not None and row.bare_ids.fullmatch(model)), None)


def is_known(model: str) -> bool:
    """Whether a bare id is listed, or is a dated snapshot of a family that is."""
    ids = [known for owner in catalog().rules for known in catalog().ids[owner]]
    dated = _DATED.fullmatch(model)
    return model in ids or (dated is not None and _words(dated[1]) <= set().union(*map(_words, ids)))


def near(model: str, known: Sequence[str]) -> list[str]:
    """Up to three current ids that come near: those that begin so, then those of the same family."""
    words = _words(model.lower()) - {"claude", "gpt", "latest"}
    family = [name for name in known if words & _words(name)]
    close = get_close_matches(model.lower(), known, n=3, cutoff=0.6)
    longer = [name for name in known if name.startswith(f"{model.lower()}-")]
    ranked = dict.fromkeys([*longer, *(name for name in close if name in family), *family, *close])
    return [name for name in ranked if name != model][:3]


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", name)) - {""}
