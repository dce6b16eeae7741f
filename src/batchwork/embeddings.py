"""Embeddings as a run has made them: one vector per text, in input order, read from the journal when looked at."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from batchwork.core.errors import JournalError
from batchwork.core.money import to_dollars
from batchwork.core.outcome import Pending, Status, Succeeded
from batchwork.core.ports import Entry, JournalView
from batchwork.core.stats import Accounting, account
from batchwork.core.text_pack import texts_of
from batchwork.tables.arrow import pyarrow
from batchwork.tables.exports import Exports, library, target_file
from batchwork.tables.writer import whole_file
from batchwork.text_input import TextPlaces

_CHUNK = 4096  # texts that are written at once
_PACKS_HELD = 4
# Vectors are noise: compressing them costs more than it saves.
_COMPRESSION = {"index": "snappy", "text": "snappy", "embedding.list.element": "none", "error": "snappy"}


@dataclass(frozen=True, slots=True)
class Embedding:
    """One text's vector, or why it has none."""

    index: int
    data: bytes | None  # float32, little-endian
    error: str | None = None

    @property
    def vector(self) -> list[float] | None:
        """The numbers."""
        return None if self.data is None else array("f", self.data).tolist()


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Neighbours that share a fate: their texts, and their vectors one after the other, or the error of all."""

    start: int
    count: int
    texts: list[str] | None
    data: bytes | None
    error: str | None


class Embeddings(Exports):
    """The vectors of all texts, in input order."""

    def __init__(self, journal: JournalView, places: TextPlaces, *, stopped: str | None, priced: bool) -> None:
        self._journal = journal
        self._places = places
        self._priced = priced
        self.stopped = stopped  # why the run ended before all was done
        self._entry = lru_cache(maxsize=_PACKS_HELD)(self._read_entry)

    def __len__(self) -> int:
        return self._places.count

    def __iter__(self) -> Iterator[Embedding]:
        return (embedding for embedding, _ in self._each())

    def _each(self) -> Iterator[tuple[Embedding, str | None]]:
        """Every vector with its text, where that is known."""
        for stretch in self._stretches():
            size = 0 if stretch.data is None else len(stretch.data) // stretch.count
            for at in range(stretch.count):
                data = None if stretch.data is None else stretch.data[at * size : (at + 1) * size]
                text = None if stretch.texts is None else stretch.texts[at]
                yield Embedding(stretch.start + at, data, stretch.error), text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the journal."""
        self._journal.close()

    @cached_property
    def dimensions(self) -> int:
        """The length of every vector; 0 where there is none."""
        for index, _, _ in self._places:
            if index is not None and isinstance(outcome := self._entry(index).outcome, Succeeded):
                return outcome.reply.dimensions
        return 0

    @property
    def cost(self) -> Decimal | None:
        """Dollars, over all runs on the journal; None where the price is not known."""
        return to_dollars(self._journal.totals().spent_nano) if self._priced else None

    @property
    def accounting(self) -> Accounting:
        """Where every text is: each once."""
        counts = dict.fromkeys(Status, 0)
        bad = len(self._places.problems)
        for index, _, length in self._places:
            state = None if index is None else self._journal.at(index)
            counts[Status.PENDING if state is None else state.status] += length
        counts[Status.PENDING] -= bad
        counts[Status.FAILED] += bad
        return account(counts, inputs=self._places.count)

    @property
    def failures(self) -> dict[str, list[Embedding]]:
        """The texts without a vector by kind, the most frequent kind first."""
        kinds: dict[str, list[Embedding]] = {}
        for one in self:
            if one.error is not None:
                kinds.setdefault(one.error.partition(":")[0], []).append(one)
        return dict(sorted(kinds.items(), key=lambda kind: -len(kind[1])))

    @property
    def _ours(self) -> Mapping[str, type]:
        return {"index": int, "text": str, "embedding": list, "error": str}

    def _rows(self, *, flat: bool) -> Iterator[dict[str, Any]]:
        del flat  # there is no answer with fields
        for one, text in self._each():
            yield {"index": one.index, "text": text, "embedding": one.vector, "error": one.error}

    def __repr__(self) -> str:
        try:
            return f"<Embeddings: {self.accounting}>"
        except JournalError:
            return "<Embeddings: closed>"

    def to_numpy(self) -> Any:
        """A float32 array of one row per text; a text without a vector has NaN.

        Raises:
            ConfigError: numpy is not installed.
        """
        numpy = library("numpy", "to_numpy()")
        return self._filled(numpy, numpy.empty((len(self), self.dimensions), dtype="<f4"))

    def to_npy(self, path: str | Path) -> Path:
        """Write the same array as a file of numpy's, without holding it in memory.

        Raises:
            ConfigError: numpy is not installed, or there is no folder for it.
        """
        numpy, target = library("numpy", "to_npy()"), target_file(path)
        with whole_file(target) as file:
            header = numpy.lib.format.header_data_from_array_1_0(numpy.empty(0, dtype="<f4"))
            size = self.dimensions
            numpy.lib.format.write_array_header_1_0(file, {**header, "shape": (len(self), size)})
            for stretch in self._stretches():
                file.write(_with_gaps(numpy, stretch, size).tobytes() if stretch.data is None else stretch.data)
        return target

    def to_arrow(self) -> Any:
        """A pyarrow Table with the columns index, text, embedding (float32) and error.

        Raises:
            ConfigError: pyarrow is not installed.
        """
        pa = pyarrow("to_arrow() needs")
        return pa.Table.from_batches(self._batches(pa), schema=self._schema(pa))

    def to_parquet(self, path: str | Path) -> Path:
        """Write the same table as Parquet, some thousand texts at a time.

        Raises:
            ConfigError: pyarrow is not installed, or there is no folder for it.
        """
        pa, target = pyarrow("to_parquet() needs"), target_file(path)
        with (
            whole_file(target) as file,
            pa.parquet.ParquetWriter(
                file, self._schema(pa), use_dictionary=["error"], compression=_COMPRESSION, write_statistics=["index"]
            ) as writer,
        ):
            for batch in self._batches(pa):
                writer.write_batch(batch)
        return target

    def to_ipc(self, path: str | Path) -> Path:
        """Write the same table as a file of Arrow's.

        Raises:
            ConfigError: pyarrow is not installed, or there is no folder for it.
        """
        pa, target = pyarrow("to_ipc() needs"), target_file(path)
        with whole_file(target) as file, pa.ipc.new_file(file, self._schema(pa)) as writer:
            for batch in self._batches(pa):
                writer.write_batch(batch)
        return target

    # -- stretches ------------------------------------------------------------------------------

    def _stretches(self) -> Iterator[_Stretch]:
        start = 0
        for index, slot, length in self._places:
            for at in range(0, length, _CHUNK):
                count = min(length - at, _CHUNK)
                yield self._stretch(start, index, slot + at, count)
                start += count

    def _stretch(self, start: int, index: int | None, slot: int, count: int) -> _Stretch:
        if index is None:
            problem = self._places.problems.get(start)
            count_error = Pending(index=start).error if problem is None else f"bad_input: {problem}"
            return _Stretch(start, count, None, None, count_error)
        entry = self._entry(index)
        texts = None if entry.request is None else texts_of(entry.request)[slot : slot + count]
        outcome = entry.outcome or Pending(index=index)
        if not isinstance(outcome, Succeeded) or outcome.reply.vectors is None:
            return _Stretch(start, count, texts, None, outcome.error)
        if outcome.reply.dimensions != self.dimensions:
            problem = f"its vector has {outcome.reply.dimensions} numbers, and the first one {self.dimensions}"
            return _Stretch(start, count, texts, None, f"result_lost: {problem}: the model has changed (--fresh)")
        size = 4 * outcome.reply.dimensions
        return _Stretch(start, count, texts, outcome.reply.vectors[slot * size : (slot + count) * size], None)

    def _read_entry(self, index: int) -> Entry:
        return next(iter(self._journal.entries(index, index + 1)))

    # -- tables ---------------------------------------------------------------------------------

    def _schema(self, pa: Any) -> Any:
        vector = pa.list_(pa.float32(), max(1, self.dimensions))
        return pa.schema({"index": pa.int64(), "text": pa.large_string(), "embedding": vector, "error": pa.string()})

    def _batches(self, pa: Any) -> Iterator[Any]:
        schema, size = self._schema(pa), max(1, self.dimensions)
        for stretch in self._stretches():
            count = stretch.count
            data = bytes(4 * size * count) if stretch.data is None else stretch.data
            values = pa.Array.from_buffers(pa.float32(), size * count, [None, pa.py_buffer(data)])
            mask = pa.array([stretch.data is None] * count)
            columns = [
                pa.array(range(stretch.start, stretch.start + count), type=pa.int64()),
                pa.array([None] * count if stretch.texts is None else stretch.texts, type=pa.large_string()),
                pa.FixedSizeListArray.from_arrays(values, size, mask=mask),
                pa.array([stretch.error] * count, type=pa.string()),
            ]
            yield pa.record_batch(columns, schema=schema)

    def _filled(self, numpy: Any, target: Any) -> Any:
        size = self.dimensions
        for stretch in self._stretches():
            target[stretch.start : stretch.start + stretch.count] = _with_gaps(numpy, stretch, size)
        return target


def _with_gaps(numpy: Any, stretch: _Stretch, size: int) -> Any:
    if stretch.data is None:
        return numpy.full((stretch.count, size), numpy.nan, dtype="<f4")
    return numpy.frombuffer(stretch.data, dtype="<f4").reshape(stretch.count, size)
