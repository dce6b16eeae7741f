"""Rows become requests: what is asked about each row of a table, and what of it cannot be asked.

The one place, whatever the table is and whichever door it came through. A row that cannot be used fails by itself.
"""

import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from batchwork.core.errors import ConfigError, InputError
from batchwork.core.intake import Intake
from batchwork.core.prompt import Defaults, intake
from batchwork.core.text_pack import BadText
from batchwork.core.words import Door, counted
from batchwork.tables.columns import check_columns, quoted
from batchwork.tables.jinja import JinjaTemplate
from batchwork.tables.row_options import RowOptions
from batchwork.tables.table import Table, TableRow
from batchwork.tables.template import MissingColumn, Template

_log = logging.getLogger(__name__)
_JINJA_SUFFIXES = (".j2", ".jinja", ".jinja2")
_ASKING = {"prompt", "messages"}  # columns that make a row a request
AnyTemplate = Template | JinjaTemplate


def template_from(
    door: Door, *, prompt: object = None, prompt_file: Path | None = None, template: str | Path | None = None
) -> AnyTemplate | None:
    """The template that a user gave in one of three ways; None for none. Raises ConfigError where it is wrong."""
    ways = {"prompt": prompt, "prompt_file": prompt_file, "template": template}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ConfigError(f"{door[given[0]]} and {door[given[1]]} exclude each other")
    if template is not None:
        return JinjaTemplate(_read(Path(template), "template"), str(template))
    if prompt_file is not None:
        if prompt_file.suffix in _JINJA_SUFFIXES:  # its doubled braces would be sent as they are
            raise ConfigError(f"{prompt_file} is a Jinja template by its name: give it as {door['template']}")
        prompt = _read(prompt_file, "prompt file")
    if prompt is None:
        return None
    if not isinstance(prompt, str):
        raise ConfigError(f"{door['prompt']} must be a text, got {type(prompt).__name__}")
    if not prompt.strip():
        example = f"{door['prompt']} 'Summarise: {{text}}'" if door.is_command else 'prompt="Summarise: {text}"'
        raise ConfigError(f"the prompt is empty: {door['prompt']} says what is asked, for example {example}")
    return Template(prompt)


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the {what} {path}: {error}") from error


def row_texts(table: Table, template: AnyTemplate, limit: int | None = None) -> Iterator[str | BadText]:
    """The text that each row of a table makes, lazily; a row that cannot be used stands for itself."""
    for row in islice(table.rows(), limit):
        if row.problem is not None:
            yield BadText(row.problem)
            continue
        try:
            yield template.render(row.columns)
        except InputError as error:
            yield BadText(str(error) if table.unit is None else f"{table.unit} {row.number}: {error}")


class RowRequests:
    """What is asked about each row: a template, or the prompt that it holds itself, and the options that it states."""

    def __init__(self, template: AnyTemplate | None, defaults: Defaults, options: RowOptions | None = None) -> None:
        self._template = template
        self._defaults = defaults
        self._options = options or RowOptions()

    @property
    def columns(self) -> frozenset[str]:
        """Those that a template and the options name."""
        fields = () if self._template is None else self._template.fields
        named = (name for field in fields for name in (field.name, str(field.path[0])))
        return frozenset((*named, *self._options.columns.values()))

    @property
    def has_schema(self) -> bool:
        """Whether every answer is JSON."""
        return self._defaults.schema is not None

    def check(self, table: Table, *, door: Door) -> None:
        """Refuse, by a ConfigError and before anything is sent, a table that lacks what is needed of it."""
        first = table.first()
        if first is None and not table.columns:
            return  # there is nothing that a column could be missing in
        if self._template is not None:
            check_columns(self._template.fields, table)
        elif (first is None or not _ASKING & first.columns.keys()) and not _ASKING & set(table.columns):
            raise ConfigError(
                f"{table.name} has no column 'prompt' or 'messages'; say how a row becomes a prompt, for example"
                f" {door['prompt']} 'Summarise: {{{next(iter(table.columns), 'text')}}}'. Columns there are:"
                f" {', '.join(table.columns) or 'none'}."
            )
        if missing := table.lacking(self._options.columns.values()):
            raise ConfigError(
                f"{door['per_row']} names {quoted(missing)}, which {table.name} does not have. Columns there are:"
                f" {', '.join(table.columns)}."
            )

    def intakes(self, table: Table, limit: int | None = None) -> Iterator[Intake]:
        """One intake per row, lazily; at the end a word on those whose prompt lacks what an empty cell should say."""
        template = self._template if isinstance(self._template, Template) else None
        blank, first = 0, ""
        for row in table.rows() if limit is None else islice(table.rows(), limit):
            if template is not None and row.problem is None and (name := template.blank_in(row.columns)) is not None:
                blank, first = blank + 1, first or f"{table.unit or 'row'} {row.number}, column {name}"
            yield self.intake(row, table.unit)
        if blank:
            rows = counted(blank, "row is", "rows are")
            _log.warning("%s asked with nothing in the place of a column (the first: %s)", rows, first)

    def intake(self, row: TableRow, unit: str | None) -> Intake:
        """One row as a request, or the reason why it is none; `unit` is what its number counts."""
        if row.problem is not None:
            return Intake.bad(row.problem, {"raw": row.raw} if row.raw else row.columns)
        try:
            prompt = _own_prompt(row) if self._template is None else self._template.render(row.columns)
            if self._options:
                own = self._options.of(row.columns, self._defaults.sampling)
                prompt = {**(prompt if isinstance(prompt, dict) else {"prompt": prompt}), **own}
            taken = intake(prompt, self._defaults, row.columns)
            if taken.problem is None:
                return taken
            problem = taken.problem
        except InputError as error:
            problem = str(error)
        return Intake.bad(problem if unit is None else f"{unit} {row.number}: {problem}", row.columns)


def _own_prompt(row: TableRow) -> Any:
    if (messages := row.columns.get("messages")) is not None:
        return {"messages": messages}
    if "prompt" not in row.columns:
        raise MissingColumn("prompt", tuple(row.columns))
    return {"prompt": row.columns["prompt"]}
