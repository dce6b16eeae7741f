"""Python names for what a schema names: classes from titles, fields from properties."""

import keyword
from collections.abc import Collection

from pydantic import BaseModel

_LONGEST = 60


def class_name(wanted: str) -> str:
    """`unit price` as `UnitPrice`; `Model` when nothing of it can be kept."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in wanted).split()
    name = "".join(word[0].upper() + word[1:] for word in words)[:_LONGEST]
    return name if name[:1].isalpha() else f"Model{name}"


def field_name(wanted: str, taken: Collection[str]) -> str:
    """A name that a model's field can have and no other field has."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in wanted)[:_LONGEST].strip("_")
    if not name.isidentifier() or keyword.iskeyword(name) or hasattr(BaseModel, name):
        name = f"field_{name}"
    return free_name(name, taken)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, or the name with the first number that makes it free."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
