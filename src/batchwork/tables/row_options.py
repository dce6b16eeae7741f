"""Options that rows state themselves, in columns that the caller names: `{"max_tokens": "limit", "system": "role"}`.

A cell that is empty leaves the option as the run has it. One that cannot be used is that row's problem.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables.cells import cell_text

_OF_REQUESTS = ("system", "max_tokens")  # everything else is a sampling parameter


class RowOptions:
    """Which option stands in which column."""

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        """Take option and column names; a ConfigError where they are not names."""
        columns = {} if columns is None else columns
        if not isinstance(columns, Mapping) or not all(isinstance(name, str) for name in columns.values()):
            raise ConfigError(
                f"per_row says which column holds an option, for example {{'system': 'role'}}: {columns!r}"
            )
        self.columns = dict(columns)

    def __bool__(self) -> bool:
        return bool(self.columns)

    @property
    def sampling(self) -> tuple[str, ...]:
        """The sampling parameters among the options."""
        return tuple(name for name in self.columns if name not in _OF_REQUESTS)

    def of(self, row: Mapping[str, Any], sampling: Mapping[str, Any] | None) -> dict[str, Any]:
        """What a row says of its request, beside the `sampling` of the run; an InputError where a cell is wrong."""
        own: dict[str, Any] = {}
        parameters: dict[str, Any] = {}
        for option, column in self.columns.items():
            cell = row.get(column)
            if cell is None or (isinstance(cell, str) and not cell.strip()):
                continue
            if option == "system":
                own[option] = cell_text(cell)
            elif option == "max_tokens":
                own[option] = _whole(option, column, cell)
            else:
                parameters[option] = _parameter(option, column, cell)
        if parameters:
            own["sampling"] = {**(sampling or {}), **parameters}
        return own


def _whole(option: str, column: str, cell: Any) -> int:
    value = _read(cell)
    if type(value) is float and value.is_integer():  # how pandas has whole numbers beside missing ones
        value = int(value)
    if type(value) is not int or value < 1:
        raise _unusable(option, column, cell, "a whole number of at least 1")
    return value


def _parameter(option: str, column: str, cell: Any) -> Any:
    value = _read(cell)
    if option == "temperature" and type(value) not in (int, float):
        raise _unusable(option, column, cell, "a number")
    return value


def _read(cell: Any) -> Any:
    """A cell as JSON has it; text that is JSON, as everything in a CSV file, is what it says."""
    if isinstance(cell, str):
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(cell)
    return cell


def _unusable(option: str, column: str, cell: Any, wanted: str) -> InputError:
    shown = repr(cell) if len(repr(cell)) <= 60 else f"{repr(cell)[:60]}..."
    return InputError(f"column {column!r} is {shown}, and {option} must be {wanted}")
