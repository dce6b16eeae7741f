"""What a command line says of requests and rows; outcomes become output rows."""

import json
import sys
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import Any, cast

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry
from batchwork.journal import JournalReader
from batchwork.results import input_columns
from batchwork.tables import result_columns, result_values, write_table
from batchwork.tables.cells import json_line

STDOUT = Path("-")
_SAMPLE_ROWS = 100
_SETTLED = frozenset(Status) - {Status.PENDING}
_NO_SAMPLING = (
    "{0!r} is no sampling parameter: --temperature takes a number (0.2), --sampling a name and a JSON value"
    " (--sampling top_p=0.9 --sampling 'stop=[\"END\"]')"
)


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


def per_row_of(pairs: list[str] | None) -> dict[str, str] | None:
    """Which column holds which option, by `--per-row`. Raises ConfigError where one is given twice or not at all."""
    columns: dict[str, str] = {}
    for pair in pairs or ():
        option, equals, column = pair.partition("=")
        if not option or not equals or not column or option in columns:
            raise ConfigError(
                f"--per-row is an option and a column, each once: --per-row max_tokens=limit, not {pair!r}"
            )
        columns[option] = column
    return columns or None


def json_object(text: str | None, option: str, example: dict[str, Any]) -> dict[str, Any] | None:
    """The object that an option states. Raises ConfigError where it is none."""
    if text is None:
        return None
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(text, type=dict[str, Any])
    raise ConfigError(f"{option} is a JSON object, for example {option} '{json.dumps(example)}'")


def print_json(value: Any) -> None:
    """Print a value for programs, laid out for people."""
    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


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
    known = sources or {}

    def inputs(entry: Entry) -> Mapping[str, Any]:
        return input_columns(entry, known.get(entry.index))

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
