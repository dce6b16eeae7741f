"""Which columns go in and out: what a template needs of a table, and what the results are called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from batchwork.core.errors import ConfigError
from batchwork.tables.table import Table
from batchwork.tables.template import Template

RESULT_TYPES: Mapping[str, type] = {
    "response": str,
    "status": str,
    "error": str,
    "cost_usd": float,
    "input_tokens": int,
    "output_tokens": int,
    "attempts": int,
    "latency_s": float,
}
"""Our columns in the order they are written, with the type they have where a format wants one."""

RESULT_NAMES = tuple(RESULT_TYPES)
_OURS = frozenset(RESULT_NAMES)
_MOST_SHOWN = 30


def check_columns(template: Template, table: Table) -> None:
    """Make sure, before anything is sent, that the table has what the template asks for.

    Raises:
        ConfigError: it has not; names what is missing, what there is, and what may have been meant.
    """
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
    renamed: Mapping[str, str]
    """Input columns that had to give way to one of ours, and what they are called instead."""

    def row(self, columns: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
        """One output row."""
        if _OURS.isdisjoint(columns) and not self.renamed:
            return {**columns, **ours}
        return {self.renamed.get(name) or _kept_as(name): value for name, value in columns.items()} | dict(ours)


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


def _kept_as(name: str) -> str:
    """The name of a column that was not met in the sample of the input."""
    return f"input_{name}" if name in _OURS else name
