"""Read a table that ships with the package: TOML beside the module that needs it, checked against its type."""

from __future__ import annotations

import pkgutil
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def read_data_file(package: str, name: str, type_: type[T]) -> T:
    """The table in a data file; a `re.Pattern` in its type is compiled.

    Raises:
        msgspec.ValidationError: the file does not have this type, which is a defect of the package.
    """
    return msgspec.toml.decode(pkgutil.get_data(package, name) or b"", type=type_, dec_hook=_pattern)


def _pattern(type_: type[Any], value: Any) -> Any:
    del type_
    return re.compile(value)
