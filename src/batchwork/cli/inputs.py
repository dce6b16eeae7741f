"""Input rows and a template become requests; outcomes become output rows."""

import logging
import sys
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.intake import Intake
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry
from batchwork.core.prompt import Defaults, intake
from batchwork.core.words import counted
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
from batchwork.tables.cells import json_line

_log = logging.getLogger(__name__)
STDOUT = Path("-")
_SAMPLE_ROWS = 100
_SETTLED = frozenset(Status) - {Status.PENDING}
_NO_SAMPLING = (
    "{0!r} is no sampling parameter: --temperature takes a number (0.2), --sampling a name and a JSON value"
    " (--sampling top_p=0.9 --sampling 'stop=[\"END\"]')"
)


def template_of(prompt: str | None, prompt_file: Path | None, table: Table) -> Template | None:
    """The template the user gave, checked against the table; None when the rows hold whole prompts."""
    if prompt is not None and prompt_file is not None:
        raise ConfigError("--prompt and --prompt-file exclude each other")
    if prompt_file is not None:
        try:
            prompt = prompt_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the prompt file {prompt_file}: {error}") from error
    is_empty = not table.columns and table.first() is None  # there is nothing that a column could be missing in
    if prompt is not None:
        if not prompt.strip():
            raise ConfigError(
                "the prompt is empty: --prompt says what is asked, for example --prompt 'Summarise: {text}'"
            )
        template = Template(prompt)
        if not is_empty:
            check_columns(template, table)
        return template
    if not is_empty and not {"prompt", "messages"} & set(table.columns):
        raise ConfigError(
            f"{table.name} has no column 'prompt' or 'messages'; say how a row becomes a prompt, for example"
            f" --prompt 'Summarise: {{{next(iter(table.columns), 'text')}}}'. Columns there are:"
            f" {', '.join(table.columns) or 'none'}."
        )
    return None


def row_intakes(table: Table, template: Template | None, defaults: Defaults, limit: int | None) -> Iterator[Intake]:
    """One intake per row, lazily; a row that cannot be used fails by itself, one with an empty cell is told of."""
    rows = table.rows() if limit is None else islice(table.rows(), limit)
    blank, first = 0, ""
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
        if template is not None and (name := template.blank_in(row.columns)) is not None:
            blank, first = blank + 1, first or f"line {row.number}, column {name}"
        yield taken if taken.problem is None else Intake.bad(f"line {row.number}: {taken.problem}", row.columns)
    if blank:
        _log.warning(
            "%s asked with nothing in the place of a column (the first: %s)",
            counted(blank, "row is", "rows are"),
            first,
        )


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


def sampling_of(temperature: str | None, pairs: list[str] | None) -> dict[str, Any] | None:
    """The sampling parameters of a command line. Raises ConfigError where one is not JSON or is given twice."""
    sampling: dict[str, Any] = {}
    for pair in [*(pairs or ()), *([] if temperature is None else [f"temperature={temperature}"])]:
        name, equals, text = pair.partition("=")
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            raise ConfigError(_NO_SAMPLING.format(pair)) from None
        if not name or not equals or (name == "temperature" and type(value) not in (int, float)):
            raise ConfigError(_NO_SAMPLING.format(pair))
        if name in sampling:
            raise ConfigError(f"the sampling parameter {name!r} is given twice, by --temperature or --sampling")
        sampling[name] = value
    return sampling or None


def extra_body_of(text: str | None) -> dict[str, Any] | None:
    """The object that `--extra-body` states. Raises ConfigError where it is none."""
    if text is None:
        return None
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(text, type=dict[str, Any])
    raise ConfigError('--extra-body is a JSON object, for example --extra-body \'{"service_tier": "flex"}\'')


def write_results(
    journal: JournalReader,
    out: Path,
    *,
    columns: Collection[str] = (),
    csv_safe: bool = False,
    sources: Mapping[int, str] | None = None,
) -> int:
    """Write every settled row, in input order, to a file or to standard output; how many there were.

    `columns` are those of the input, where they are known; else they are those of its first rows. `sources` are the
    files that the rows are about.
    """
    inputs = partial(_inputs, sources=sources or {})
    named = result_columns(columns or dict.fromkeys(chain(*map(inputs, journal.entries(0, _SAMPLE_ROWS)))))
    with closing(cast("Generator[Entry]", journal.entries(statuses=_SETTLED))) as entries:
        rows = (named.row(inputs(entry), result_values(entry.outcome)) for entry in entries if entry.outcome)
        if out == STDOUT:
            return _print_rows(rows)
        with write_table(out, named.names, csv_safe=csv_safe) as table:
            for row in rows:
                table.write(row)
            return table.rows


def _print_rows(rows: Iterable[dict[str, Any]]) -> int:
    count = 0
    for row in rows:
        sys.stdout.buffer.write(json_line(row))
        count += 1
    sys.stdout.flush()
    return count


def _inputs(entry: Entry, sources: Mapping[int, str]) -> dict[str, Any]:
    """What a row was made of: its columns; or its prompt, and the file that it is about."""
    if entry.columns is not None:
        return entry.columns
    documents = () if entry.request is None else entry.request.documents
    source = sources.get(entry.index) or next((document.title for document in documents), None)
    prompt = {} if entry.request is None else {"prompt": entry.request.messages[-1].content}
    return prompt if source is None and not documents else {"source": source, **prompt}
