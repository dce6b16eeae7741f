"""Read a table that ships with the package: TOML beside the module that needs it, checked against its type."""

import re
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")


def read_data_file(module: str, name: str, type_: type[T]) -> T:
    """The table in a file beside a module (its `__file__`); a `re.Pattern` in the type is compiled."""
    return msgspec.toml.decode(
        Path(module).with_name(name).read_bytes(), type=type_, dec_hook=lambda _, text: re.compile(text)
    )
