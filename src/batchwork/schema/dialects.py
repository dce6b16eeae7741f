"""What each provider takes of JSON Schema, as tables. Facts of their documentation; nothing is decided here."""

from collections.abc import Mapping
from dataclasses import dataclass

WRAP_KEY = "value"
"""The one property of the object that a root which is no object is sent in, where a provider wants an object."""

_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One provider's subset."""

    name: str
    keeps: frozenset[str]
    """Keywords with a plain value that may stay; the others are told in the description."""
    formats: frozenset[str]
    all_required: bool
    """Every property must be required; an optional one may be null instead."""
    object_root: bool
    """The root must be an object and no union."""
    recursion: bool
    most_min_items: int | None = None
    look_around: bool = True
    """Whether patterns may look around, refer back or ask for word boundaries."""
    most_optional: int | None = None
    most_unions: int | None = None
    most_properties: int | None = None
    most_levels: int | None = None
    most_enum_values: int | None = None


ANTHROPIC = Dialect(
    name="anthropic",
    keeps=frozenset({"default", "pattern", "format", "minItems"}),
    formats=_FORMATS | {"uri"},
    all_required=False,
    object_root=False,
    recursion=False,
    most_min_items=1,
    look_around=False,
    most_optional=24,
    most_unions=16,
)

OPENAI = Dialect(
    name="openai",
    keeps=frozenset(
        {
            "pattern",
            "format",
            "minItems",
            "maxItems",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        }
    ),
    formats=_FORMATS,
    all_required=True,
    object_root=True,
    recursion=True,
    look_around=False,
    most_properties=5_000,
    most_levels=10,
    most_enum_values=1_000,
)

DIALECTS: Mapping[str, Dialect] = {"anthropic": ANTHROPIC, "openai": OPENAI}
