"""Tables of other libraries, read as rows: data frames, Arrow, Hugging Face datasets, and plain lists of dicts.

The one place that recognises them. It imports none of these libraries: what is handed in has been imported by
whoever made it. A lazy source (a dataset, a reader, a lazy frame, an iterable data set, a generator) is read a batch
at a time, as far as the run has got; a data frame that is all there is read where it is.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import islice
from typing import Any

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables.arrow import BATCH_ROWS, batch_rows, pyarrow
from batchwork.tables.table import SAMPLE_ROWS, RowStream, Table, TableRow, bad_row, keys_of, named_twice
from batchwork.tables.values import plain_row

_A_ROW = "a row of a table is a dict of its columns"


def table_of(given: object) -> Table:
    """The table that somebody has handed over; a ConfigError says why it is none, or cannot be read row by row."""
    room = type(given).__module__.partition(".")[0]
    if room == "datasets":
        return _hugging_face(given)
    if room == "pyarrow":
        return _arrow(given)
    if room == "polars" and hasattr(given, "collect_schema") and not hasattr(given, "iter_rows"):
        return _polars_lazy(given)
    if not callable(getattr(type(given), "columns", len)):
        return _frame(given)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ConfigError(f"{_A_ROW}, and a table many of them, not one {type(given).__name__}; wrap it in a list")
    return _dicts(given)


class FrameTable(Table):
    """A foreign table: its columns, and something that reads its rows."""

    unit = None

    def __init__(
        self,
        given: object,
        columns: Iterable[object],
        read: Callable[[tuple[str, ...]], Iterator[TableRow]],
        *,
        count: int | None = None,
        may_block: bool = False,
        index: Iterable[object] = (),
    ) -> None:
        self.name = f"the {type(given).__name__}"
        self.columns = _names(self.name, columns)
        self.may_block = may_block
        self.index = tuple(str(level) for level in index if level is not None)
        self._read = read
        self._count = count

    def rows(self) -> Iterator[TableRow]:
        """All rows in order, lazily."""
        return self._read(self.columns)

    def count(self) -> int | None:
        """How many rows there are, where the source says."""
        return self._count


def _names(name: str, columns: Iterable[object]) -> tuple[str, ...]:
    """The names of columns as text, each once."""
    given = tuple(columns)
    levels = [column for column in given if isinstance(column, tuple)]
    if levels:
        raise ConfigError(f"{name} has columns of several levels, such as {levels[0]!r}; give every column one name")
    names = tuple(column if type(column) is str else str(column) for column in given)
    if (twice := named_twice(names)) is not None:
        raise ConfigError(f"{name} has two columns named {twice!r}; give every column its own name")
    return names


def _frame(given: Any) -> Table:
    """A frame that is all there, of any library that narwhals knows; else one that gives Arrow."""
    columns = _names(f"the {type(given).__name__}", given.columns)  # two of one name would be narwhals' own error
    try:
        narwhals = import_module("narwhals.stable.v2")
    except ImportError as error:
        raise ConfigError("data frames need narwhals: pip install 'batchwork[tables]'") from error
    frame = narwhals.from_native(given, pass_through=True)
    if not isinstance(frame, narwhals.DataFrame):
        return _arrow(given)

    def read(names: tuple[str, ...]) -> Iterator[TableRow]:
        for number, record in enumerate(frame.iter_rows(named=False, buffer_size=BATCH_ROWS), 1):
            yield plain_row(number, names, record)

    index = getattr(getattr(given, "index", None), "names", ())  # pandas: it is no column
    return FrameTable(given, columns, read, count=len(frame), index=index)


def _arrow(given: Any) -> Table:
    """A table or a batch of Arrow, a dataset, a scanner, a reader, or whatever gives its rows as a stream of Arrow."""
    pa = pyarrow("tables of Arrow need")
    if isinstance(given, pa.Table | pa.RecordBatch):
        return FrameTable(given, given.schema.names, lambda names: batch_rows([given], names), count=given.num_rows)
    if isinstance(given, pa.RecordBatchReader):
        return _arrow_stream(given, given)
    if hasattr(given, "to_batches"):  # a dataset or a scanner of one

        def read(names: tuple[str, ...]) -> Iterator[TableRow]:
            with _readable(f"the {type(given).__name__}", pa.ArrowException):
                yield from batch_rows(_batches(given), names)

        schema = getattr(given, "projected_schema", None) or given.schema
        return FrameTable(given, schema.names, read, may_block=True)
    if hasattr(given, "__arrow_c_stream__"):
        with suppress(pa.ArrowInvalid):  # one column, which gives no rows
            return _arrow_stream(given, pa.RecordBatchReader.from_stream(given))
    raise ConfigError(
        f"a {type(given).__module__.partition('.')[0]} {type(given).__name__} cannot be read row by row; hand over a"
        " pandas, polars or Arrow table of it"
    )


def _batches(given: Any) -> Iterator[Any]:
    """The batches of a dataset, as few ahead as can be: calls take longer than reading. A scanner is set already."""
    if not hasattr(given, "scanner"):
        return iter(given.to_batches())
    options: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
    of_parquet = import_module("pyarrow.dataset").ParquetFragmentScanOptions
    files: Any = getattr(given, "format", None)
    if getattr(files, "default_extname", "") == "parquet" and files.default_fragment_scan_options == of_parquet():
        options["fragment_scan_options"] = of_parquet(pre_buffer=False, use_buffered_stream=True)
    return iter(given.scanner(batch_size=BATCH_ROWS, **options).to_batches())


def _arrow_stream(given: Any, reader: Any) -> Table:
    """A stream of Arrow, which can be read once."""
    name = f"the {type(given).__name__}"
    pa, names = pyarrow(), _names(name, reader.schema.names)

    def read() -> Iterator[TableRow]:
        with _readable(name, pa.ArrowException):
            yield from batch_rows(reader, names)

    return _Once(read(), name, names)


class _Once(RowStream):
    """Rows that can be read once, of columns that may be known before."""

    unit = None

    def __init__(self, rows: Iterator[TableRow], name: str, columns: tuple[str, ...] | None = None) -> None:
        super().__init__(rows, name)
        if columns is not None:
            self.columns = columns


@contextmanager
def _readable(name: str, error_of_library: type[Exception]) -> Iterator[None]:
    try:
        yield
    except (error_of_library, OSError) as error:
        raise InputError(f"{name} cannot be read any further: {error}") from error


def _polars_lazy(given: Any) -> Table:
    """A lazy frame of polars, run in batches; before polars 1.38 at once, because its batches hid what went wrong."""
    polars = import_module("polars")
    in_batches = tuple(map(int, polars.__version__.split(".")[:2])) >= (1, 38)
    name, error_of_polars = f"the {type(given).__name__}", polars.exceptions.PolarsError

    def batches() -> Iterable[Any]:
        if not in_batches:
            return (given.collect(),)
        found: Iterable[Any] = given.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
        return found

    def read(names: tuple[str, ...]) -> Iterator[TableRow]:
        with _readable(name, error_of_polars):
            records = (record for batch in batches() for record in batch.iter_rows())
            for number, record in enumerate(records, 1):
                yield plain_row(number, names, record)

    with _readable(name, error_of_polars):
        columns = given.collect_schema().names()
    return FrameTable(given, columns, read, may_block=True)


def _hugging_face(given: Any) -> Table:
    """A data set of Hugging Face: one split, whose rows are on disk, or come as they are loaded."""
    if isinstance(given, Mapping):
        splits = ", ".join(map(repr, given))
        raise ConfigError(f"a {type(given).__name__} has splits ({splits}); hand over one of them: data[...]")
    if hasattr(type(given), "__len__"):

        def read(names: tuple[str, ...]) -> Iterator[TableRow]:
            pyarrow("data sets need")
            return batch_rows(given.with_format("arrow").iter(batch_size=BATCH_ROWS), names)

        return FrameTable(given, given.column_names, read, count=len(given), may_block=True)
    name, columns = f"the {type(given).__name__}", given.column_names
    return _Once(_mapping_rows(given.with_format(None)), name, None if columns is None else _names(name, columns))


class DictTable(Table):
    """A collection of dicts."""

    unit = None
    sampled = True

    def __init__(self, given: Collection[Any]) -> None:
        self.name = f"the {type(given).__name__} of rows"
        self._given = given
        self.columns = keys_of(islice(self.rows(), SAMPLE_ROWS))

    def rows(self) -> Iterator[TableRow]:
        """All rows in order."""
        return _mapping_rows(self._given)

    def count(self) -> int:
        """How many rows there are."""
        return len(self._given)


def _dicts(given: Iterable[Any]) -> Table:
    table = DictTable(given) if isinstance(given, Collection) else _Once(_mapping_rows(given), "the rows")
    first = table.first()
    if first is not None and first.problem is not None and first.problem.startswith(_A_ROW):
        raise ConfigError(f"{first.problem}; with prompt= (or template=) the input is a table")
    return table


def _mapping_rows(given: Iterable[Any]) -> Iterator[TableRow]:
    for number, row in enumerate(given, 1):
        if isinstance(row, Mapping):
            yield plain_row(number, row.keys(), row.values())
        else:
            yield bad_row(number, f"{_A_ROW}, not {type(row).__name__}", repr(row))
