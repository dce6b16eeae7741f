"""A manager's results as a table: one row per item, one column per field of the answer."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.journal.atomic import write_atomically
from batchwork.manager.results import BatchResult, BatchResults

_AS_THE_UMASK_SAYS = 0o666  # a table that the user asked for is for whoever the user lets read his files
_OURS = {
    "original_index": "int64",
    "source": "string",
    "status": "string",
    "error": "string",
    "cost": "double",
    "citations": "string",
}


SourceOf = Callable[[int], str | None]


class Tables:
    """The ways out of a manager for people who want a table."""

    def results(self) -> BatchResults:
        """What is known so far."""
        raise NotImplementedError

    def _sources(self) -> SourceOf | None:
        """The file behind an item; None where the input is no files."""
        raise NotImplementedError

    def to_jsonl(self, path: str | Path) -> Path:
        """One JSON object per item, in input order: index, source (of files), status, value, citations, cost, error.

        Raises:
            ConfigError: there is no folder for it.
        """
        target = _target(path)
        source_of = self._sources()
        body = b"".join(msgspec.json.encode(_record(result, source_of)) + b"\n" for result in self.results())
        write_atomically(target, body, mode=_AS_THE_UMASK_SAYS)
        return target

    def to_parquet(self, path: str | Path) -> Path:
        """One row per item; a field of the answer is a column, what is nested in it stays nested.

        Decimals stay exact (decimal128); a column whose values do not agree on a type is text.

        Raises:
            ConfigError: pyarrow is not installed, or there is no folder for it.
        """
        try:
            import pyarrow as pa  # noqa: PLC0415 - optional
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError:
            raise ConfigError("to_parquet needs pyarrow: pip install 'batchwork[parquet]'") from None
        target = _target(path)
        source_of = self._sources()
        rows = _rows(self.results(), source_of)
        empty = (name for name in _OURS if name != "source" or source_of is not None)
        names = list(rows[0]) if rows else list(empty)
        columns = {name: _column(pa, name, [row[name] for row in rows]) for name in names}
        body = BytesIO()
        pq.write_table(pa.table(columns), body)
        write_atomically(target, body.getvalue(), mode=_AS_THE_UMASK_SAYS)
        return target

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with one row per item.

        Raises:
            ConfigError: pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - optional
        except ImportError:
            raise ConfigError("to_dataframe needs pandas: pip install 'batchwork[dataframe]'") from None
        return pd.DataFrame(_rows(self.results(), self._sources()))


def _target(path: str | Path) -> Path:
    target = Path(path)
    if target.is_dir():
        raise ConfigError(f"{target} is a folder, not a file")
    if not target.parent.is_dir():
        raise ConfigError(f"there is no folder {target.parent} for {target.name}")
    return target


def _plain(result: BatchResult) -> Any:
    value = result.value
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def _record(result: BatchResult, source_of: SourceOf | None) -> dict[str, Any]:
    return {
        "original_index": result.original_index,
        **({} if source_of is None else {"source": source_of(result.original_index)}),
        "status": result.status.value,
        "value": _plain(result),
        "citations": result.citations,
        "cost": None if result.cost is None else float(result.cost),
        "error": result.error,
    }


def _column(pa: Any, name: str, values: list[Any]) -> Any:
    """One column; ours have their type also where all is empty."""
    if name in _OURS:
        return pa.array(values, pa.type_for_alias(_OURS[name]))
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | Decimal) else msgspec.json.encode(value).decode()


def _exact(plain: Any, value: Any) -> Any:
    """A value as JSON has it, but for decimals, for which a table has a type."""
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(plain, dict) and isinstance(value, dict):
        return {name: _exact(held, value.get(name)) for name, held in plain.items()}
    if isinstance(plain, list) and isinstance(value, list | tuple) and len(plain) == len(value):
        return [_exact(held, of) for held, of in zip(plain, value, strict=True)]
    return plain


def _rows(results: BatchResults, source_of: SourceOf | None) -> list[dict[str, Any]]:
    """Rows that all have the same columns."""
    rows = list(_flat(results, source_of))
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _flat(results: BatchResults, source_of: SourceOf | None) -> Iterator[dict[str, Any]]:
    for result in results:
        record = _record(result, source_of)
        plain, citations = record.pop("value"), record.pop("citations")
        value = _exact(plain, result.value.model_dump()) if hasattr(result.value, "model_dump") else plain
        fields = value if isinstance(value, dict) else {"value": value}
        named = {f"value.{name}" if name in _OURS else name: held for name, held in fields.items()}
        yield record | named | ({"citations": msgspec.json.encode(citations).decode()} if citations else {})
