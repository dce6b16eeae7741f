"""Which columns go in and out: what a template needs of a table, what the results are called, and their types.

Decides a Parquet column's type: from every value the column has, never from the first few.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.outcome import Outcome
from batchwork.tables.cells import clean_text
from batchwork.tables.table import Table
from batchwork.tables.template import Field

# Our columns in the order they are written: their type where a format wants one, and what an outcome says of them.
_RESULTS: Mapping[str, tuple[type, Callable[[Outcome], Any]]] = {
    "response": (str, lambda outcome: outcome.text),
    "status": (str, lambda outcome: outcome.status.value),
    "error": (str, lambda outcome: outcome.error),
    "cost_usd": (float, lambda outcome: None if outcome.cost is None else float(outcome.cost)),
    "input_tokens": (int, lambda outcome: None if outcome.usage is None else outcome.usage.input_tokens),
    "output_tokens": (int, lambda outcome: None if outcome.usage is None else outcome.usage.output_tokens),
    "attempts": (int, lambda outcome: outcome.attempts),
    "latency_s": (float, lambda outcome: round(outcome.latency_s, 4)),
}
RESULT_TYPES: Mapping[str, type] = {name: kind for name, (kind, _) in _RESULTS.items()}
RESULT_NAMES = tuple(RESULT_TYPES)
TOOL_CALLS = "tool_calls"  # a column of those rows alone that have any
TRUNCATED = "truncated"  # a column of those rows alone whose answer was cut off by max_tokens
_MOST_SHOWN = 30
_NUMBERS = frozenset({int, float, Decimal})
_MOST_EXACT = 2**53  # whole numbers up to here are exact as floats
_MOST_INT64 = 2**63 - 1


def check_columns(fields: Sequence[Field], table: Table) -> None:
    """Refuse, before anything is sent, a table that lacks what a template asks for; says what may have been meant."""
    headless = set(table.lacking(str(field.path[0]) for field in fields))
    missing = table.lacking(field.name for field in fields if str(field.path[0]) in headless)
    if not missing:
        return
    there = table.columns
    near = dict.fromkeys(match for name in missing for match in _near(name, there))
    meant = f" Did you mean {quoted(near)}?" if near else ""
    if index := [name for name in missing if name in table.index]:
        meant = f" {quoted(index)} is its index: reset_index() makes that a column."
    raise ConfigError(
        f"the prompt template asks for {quoted(missing)}, which {table.name} does not have.{meant} "
        f"Columns there are: {_list(there)}."
    )


def quoted(names: Iterable[str]) -> str:
    """Names in a message."""
    return ", ".join(repr(name) for name in names)


def _near(name: str, there: tuple[str, ...]) -> list[str]:
    by_folded = {column.casefold(): column for column in reversed(there)}
    return [by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=1)]


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST_SHOWN]) or "none"
    return shown if len(names) <= _MOST_SHOWN else f"{shown} and {len(names) - _MOST_SHOWN} more"


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """The columns of an output row: the input's, under names that are free, then ours, then the fields of an answer."""

    names: tuple[str, ...]
    renamed: Mapping[str, str]  # input columns that had to give way to one of ours, and what they are called instead
    ours: frozenset[str]

    def row(
        self, columns: Mapping[str, Any], ours: Mapping[str, Any], fields: Mapping[str, Any] | None = None, of: str = ""
    ) -> dict[str, Any]:
        """One output row; a field of the answer whose name is taken is called `of.name`."""
        if self.ours.isdisjoint(columns) and not self.renamed:
            row = {**columns, **ours}
        else:
            # A column that was not met in the sample of the input may have one of our names, too.
            names = (self.renamed.get(name) or (f"input_{name}" if name in self.ours else name) for name in columns)
            row = dict(zip(names, columns.values(), strict=True)) | dict(ours)
        for name, value in (fields or {}).items():
            free = name
            while free in row or (free != of and (free in self.ours or free in self.names)):
                free = f"{of}.{free}"
            row[free] = value
        return row


def result_values(outcome: Outcome) -> dict[str, Any]:
    """Our columns of one row."""
    values = {name: value(outcome) for name, (_, value) in _RESULTS.items()}
    if outcome.tool_calls:
        values[TOOL_CALLS] = list(msgspec.to_builtins(outcome.tool_calls))
    if outcome.truncated:
        values[TRUNCATED] = True
    return values


def plain_answer(value: Any) -> Any:
    """An answer as JSON: a model with all its fields."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def answer_fields(value: Any, name: str) -> dict[str, Any]:
    """The columns of an answer: its fields where it is an object, else one of this name; decimals stay decimals."""
    plain = plain_answer(value)
    exact = _exact(plain, value.model_dump()) if hasattr(value, "model_dump") else plain
    return exact if isinstance(exact, dict) else {name: exact}


def _exact(plain: Any, value: Any) -> Any:
    """A value as JSON has it, but for decimals, for which a table has a type."""
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(plain, dict) and isinstance(value, dict):
        return {name: _exact(held, value.get(name)) for name, held in plain.items()}
    if isinstance(plain, list) and isinstance(value, list | tuple) and len(plain) == len(value):
        return [_exact(held, of) for held, of in zip(plain, value, strict=True)]
    return plain


def result_columns(input_columns: Iterable[str], ours: Iterable[str] = RESULT_NAMES) -> ResultColumns:
    """What the columns of the results are called; an input column `status` is kept as `input_status`."""
    inputs, ours = tuple(dict.fromkeys(input_columns)), tuple(ours)
    reserved = frozenset((*ours, TOOL_CALLS, TRUNCATED))
    taken = set(inputs) | reserved
    renamed: dict[str, str] = {}
    for name in inputs:
        if name in reserved:
            free = f"input_{name}"
            while free in taken:
                free = f"input_{free}"
            taken.add(free)
            renamed[name] = free
    return ResultColumns((*(renamed.get(name, name) for name in inputs), *ours), renamed, reserved)


class Shape:
    """The columns that rows had, in order, and the kinds of values in each."""

    def __init__(self, columns: Iterable[str] = ()) -> None:
        self._kinds: dict[str, set[type]] = {clean_text(name): set() for name in columns}
        self._largest: dict[str, int] = {}

    def see(self, row: dict[str, Any]) -> None:
        """Take note of one more row."""
        kinds = self._kinds
        for name, value in row.items():
            kind = type(value)
            try:
                kinds[name].add(kind)
            except KeyError:
                name = clean_text(name)  # noqa: PLW2901 - the name as it will be read back
                kinds.setdefault(name, set()).add(kind)
            if kind is int and abs(value) > _MOST_EXACT:
                self._largest[name] = max(abs(value), self._largest.get(name, 0))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns: the announced ones first, then as they were met."""
        return tuple(self._kinds)

    def type_of(self, name: str) -> type:
        """The type that holds every value of the column: bool, int, float, or str for everything else."""
        kinds = self._kinds[name] - {type(None)}
        ours = RESULT_TYPES.get(name, str)
        if not kinds:
            return ours
        largest = self._largest.get(name, 0)
        if kinds == {bool}:
            return bool
        if kinds == {int} and ours is not float:
            return int if largest <= _MOST_INT64 else str
        if kinds <= _NUMBERS:
            return float if largest <= _MOST_EXACT else str
        return str
