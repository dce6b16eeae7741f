"""Prompt templates: `Summarise: {text}` with a row's columns in the braces.

A name in braces is a column (`{first name}` works too). When no column has exactly that name, it is read as a path:
`{author.name}`, `{items[0].price}`. `{{` and `}}` are literal braces. There are no format codes and nothing is
evaluated. Values read as in a CSV file: None is nothing, objects and lists are JSON (see `cells`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables.cells import cell_text

_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]")
_PATH = re.compile(r"[^.\[]+(\[[0-9]+\])*(\.[^.\[]+(\[[0-9]+\])*)*")
_STEP = re.compile(r"\[([0-9]+)\]|([^.\[]+)")
_LITERAL_HINT = "write {{ and }} for braces that are meant as they are"


class MissingColumn(InputError):
    """A row does not have what the template asks for."""

    def __init__(self, name: str, there: tuple[str, ...] = ()) -> None:
        has = f"; it has {', '.join(there)}" if there else ""
        super().__init__(f"the row has no column {name!r}{has}")
        self.name = name


@dataclass(frozen=True, slots=True)
class Field:
    """One pair of braces: the name in it, and the same name read as a path."""

    name: str
    path: tuple[str | int, ...]

    def value_in(self, columns: Mapping[str, Any]) -> Any:
        """What the row has for this field; MissingColumn when that is nothing."""
        if self.name in columns:
            return columns[self.name]
        value: Any = columns
        for step in self.path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                raise MissingColumn(self.name, tuple(columns)) from None
        return value


class Template:
    """A prompt with places for columns, parsed once and filled for every row."""

    def __init__(self, text: str) -> None:
        """Parse the template; a ConfigError shows the place of a brace that is wrong."""
        self.text = text
        literals, self.fields = _parse(text)
        # The top-level columns the template uses, each once
        self.columns = tuple(dict.fromkeys(str(field.path[0]) for field in self.fields))
        self._names = tuple(field.name for field in self.fields)
        self._only = self._names[0] if len(self._names) == 1 else None
        self._before, self._after = literals[0], literals[-1]
        self._pattern = "%s".join(literal.replace("%", "%%") for literal in literals)

    def render(self, columns: Mapping[str, Any]) -> str:
        """The prompt for one row; MissingColumn when the row lacks a column of the template."""
        try:
            if self._only is not None:  # the usual template, and the fast one
                value = columns[self._only]
                return self._before + (value if type(value) is str else cell_text(value)) + self._after
            values = [columns[name] for name in self._names]
        except KeyError:
            values = [field.value_in(columns) for field in self.fields]
        return self._pattern % tuple([value if type(value) is str else cell_text(value) for value in values])

    def blank_in(self, columns: Mapping[str, Any]) -> str | None:
        """The first column of the template whose cell is empty in this row; None where there is none."""
        return next((name for name in self._names if name in columns and columns[name] in (None, "")), None)

    def __repr__(self) -> str:
        return f"Template({self.text!r})"


def _parse(text: str) -> tuple[list[str], tuple[Field, ...]]:
    """The literal pieces (one more than there are fields) and the fields between them."""
    literals: list[str] = [""]
    fields: list[Field] = []
    end = 0
    for brace in _BRACES.finditer(text):
        literals[-1] += text[end : brace.start()]
        end, at, found = brace.end(), brace.start(), brace.group()
        if found == "}":
            raise _error(text, at, f"a '}}' that closes nothing; {_LITERAL_HINT}")
        if found == "{":
            raise _error(text, at, f"a '{{' that is never closed; {_LITERAL_HINT}")
        if found in ("{{", "}}"):
            literals[-1] += found[0]
        else:
            fields.append(_field(text, at, found[1:-1]))
            literals.append("")
    literals[-1] += text[end:]
    return literals, tuple(fields)


def _field(text: str, at: int, inside: str) -> Field:
    name = inside.strip()
    if not name:
        raise _error(text, at, f"no column name between '{{' and '}}'; {_LITERAL_HINT}")
    if "\n" in name or name[0] in "\"'":
        shown = name if len(name) <= 30 else name[:30] + "..."
        raise _error(text, at, f"{shown!r} is no column name; {_LITERAL_HINT}")
    return Field(name, _path(name))


def _path(name: str) -> tuple[str | int, ...]:
    """`items[0].price` as steps; a name that is no path stays one step."""
    if not _PATH.fullmatch(name):
        return (name,)
    return tuple(int(index) if index else key for index, key in _STEP.findall(name))


def _error(text: str, at: int, problem: str) -> ConfigError:
    line = text.count("\n", 0, at) + 1
    start = text.rfind("\n", 0, at) + 1
    column = at - start
    shown_from = max(0, column - 40)
    shown = text[start:].split("\n", 1)[0][shown_from : column + 20]
    pointer = " " * (column - shown_from) + "^"
    return ConfigError(f"prompt template, line {line}, column {column + 1}: {problem}\n  {shown}\n  {pointer}")
