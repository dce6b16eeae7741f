"""Which columns go in and out: what a template needs of a table, what the results are called, and their types.

Decides a Parquet column's type: from every value the column has, never from the first few.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.outcome import Outcome
from batchwork.tables.cells import clean_text
from batchwork.tables.table import Table
from batchwork.tables.template import Template

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
_OURS = frozenset((*RESULT_NAMES, TOOL_CALLS, TRUNCATED))
_MOST_SHOWN = 30
_NUMBERS = frozenset({int, float, Decimal})
_MOST_EXACT = 2**53  # whole numbers up to here are exact as floats
_MOST_INT64 = 2**63 - 1


def check_columns(template: Template, table: Table) -> None:
    """Refuse, before anything is sent, a table that lacks what the template asks for; says what may have been meant."""
    exact = set(table.lacking(field.name for field in template.fields))
    heads = {field.name: str(field.path[0]) for field in template.fields if field.name in exact}
    headless = set(table.lacking(heads.values()))
    missing = [name for name, head in heads.items() if head in headless]
    if not missing:
        return
    there = table.columns
    near = dict.fromkeys(match for name in missing for match in _near(name, there))
    meant = f" Did you mean {_quoted(near)}?" if near else ""
    raise ConfigError(
        f"the prompt template asks for {_quoted(missing)}, which {table.name} does not have.{meant} "
        f"Columns there are: {_list(there)}."
    )


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _near(name: str, there: tuple[str, ...]) -> list[str]:
    by_folded = {column.casefold(): column for column in reversed(there)}
    return [by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=1)]


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST_SHOWN]) or "none"
    return shown if len(names) <= _MOST_SHOWN else f"{shown} and {len(names) - _MOST_SHOWN} more"


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """The columns of an output row: the input's, under names that are free, then ours."""

    names: tuple[str, ...]
    renamed: Mapping[str, str]  # input columns that had to give way to one of ours, and what they are called instead

    def row(self, columns: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
        """One output row."""
        if _OURS.isdisjoint(columns) and not self.renamed:
            return {**columns, **ours}
        # A column that was not met in the sample of the input may have one of our names, too.
        names = (self.renamed.get(name) or (f"input_{name}" if name in _OURS else name) for name in columns)
        return dict(zip(names, columns.values(), strict=True)) | dict(ours)


def result_values(outcome: Outcome) -> dict[str, Any]:
    """Our columns of one row."""
    values = {name: value(outcome) for name, (_, value) in _RESULTS.items()}
    if outcome.tool_calls:
        values[TOOL_CALLS] = list(msgspec.to_builtins(outcome.tool_calls))
    if outcome.truncated:
        values[TRUNCATED] = True
    return values


def result_columns(input_columns: Iterable[str]) -> ResultColumns:
    """What the columns of the results are called; an input column `status` is kept as `input_status`."""
    inputs = tuple(dict.fromkeys(input_columns))
    taken = set(inputs) | _OURS
    renamed: dict[str, str] = {}
    for name in inputs:
        if name in _OURS:
            free = f"input_{name}"
            while free in taken:
                free = f"input_{free}"
            taken.add(free)
            renamed[name] = free
    return ResultColumns((*(renamed.get(name, name) for name in inputs), *RESULT_NAMES), renamed)


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
