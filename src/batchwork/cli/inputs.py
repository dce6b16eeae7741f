"""Input rows and a template become requests; outcomes become output rows."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.intake import Intake
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry
from batchwork.core.prompt import Defaults, intake
from batchwork.journal import JournalReader
from batchwork.tables import (
    MissingColumn,
    Table,
    TableRow,
    Template,
    check_columns,
    result_columns,
    result_values,
    write_table,
)

_SETTLED = frozenset(Status) - {Status.PENDING}


def template_of(prompt: str | None, prompt_file: Path | None, table: Table) -> Template | None:
    """The template the user gave, checked against the table; None when the rows hold whole prompts."""
    if prompt is not None and prompt_file is not None:
        raise ConfigError("--prompt and --prompt-file exclude each other")
    if prompt_file is not None:
        try:
            prompt = prompt_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the prompt file {prompt_file}: {error}") from error
    if prompt is not None:
        template = Template(prompt)
        check_columns(template, table)
        return template
    if not {"prompt", "messages"} & set(table.columns):
        raise ConfigError(
            f"{table.name} has no column 'prompt' or 'messages'; say how a row becomes a prompt, for example"
            f" --prompt 'Summarise: {{{next(iter(table.columns), 'text')}}}'. Columns there are:"
            f" {', '.join(table.columns) or 'none'}."
        )
    return None


def row_intakes(table: Table, template: Template | None, defaults: Defaults, limit: int | None) -> Iterator[Intake]:
    """One intake per row, lazily; a row that cannot be used fails by itself."""
    rows = table.rows() if limit is None else islice(table.rows(), limit)
    for row in rows:
        if row.problem is not None:
            yield Intake.bad(row.problem, {"raw": row.raw} if row.raw else row.columns)
            continue
        try:
            prompt = _own_prompt(row) if template is None else template.render(row.columns)
        except MissingColumn as error:
            yield Intake.bad(f"line {row.number}: {error}", row.columns)
            continue
        taken = intake(prompt, defaults, row.columns)
        yield taken if taken.problem is None else Intake.bad(f"line {row.number}: {taken.problem}", row.columns)


def _own_prompt(row: TableRow) -> Any:
    if (messages := row.columns.get("messages")) is not None:
        return {"messages": messages}
    if "prompt" not in row.columns:
        raise MissingColumn("prompt", tuple(row.columns))
    return {"prompt": row.columns["prompt"]}


def load_schema(path: Path | None) -> Any:
    """The JSON in a schema file. Raises ConfigError where it cannot be read or is not JSON."""
    if path is None:
        return None
    try:
        return msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(f"cannot read the schema {path}: {error}") from error


def write_results(journal: JournalReader, out: Path, *, csv_safe: bool = False) -> int:
    """Write every settled row, in input order; how many there were."""
    first = next(journal.entries(0, 1), None)
    columns = result_columns((first.columns or {}) if first is not None else ())
    with write_table(out, columns.names, csv_safe=csv_safe) as table:
        for entry in journal.entries(statuses=_SETTLED):
            assert entry.outcome is not None, "only settled rows are written"
            table.write(columns.row(_inputs(entry), result_values(entry.outcome)))
        return table.rows


def _inputs(entry: Entry) -> dict[str, Any]:
    if entry.columns is None and entry.request is not None:
        return {"prompt": entry.request.messages[-1].content}
    return entry.columns or {}
