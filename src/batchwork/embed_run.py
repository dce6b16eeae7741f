"""embed, aembed: many texts in, vectors out. A pack of texts is an item of an ordinary run, live or in batches."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any, TypedDict, Unpack, cast

from batchwork._bridge import run_sync
from batchwork.core.errors import ConfigError, Interrupted, RunPaused
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import InputRow, Rows
from batchwork.core.outcome import AnyOutcome, Failed, Status
from batchwork.core.policy import check_at_least
from batchwork.core.ports import AnswerVerdict, EmbedBackend, Journal
from batchwork.core.prompt import refuse_table
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.core.text_pack import BadText, is_of_a_text, texts_of
from batchwork.core.words import PYTHON
from batchwork.embeddings import Embeddings
from batchwork.engine.engine import Engine
from batchwork.engine.read_ahead import LATER, ReadAhead
from batchwork.journal import MemoryJournal
from batchwork.journals import open_reader
from batchwork.options import RunOptions, plan_of, refuse_unknown, supplied_of
from batchwork.plan import Plan
from batchwork.run_session import RunSession
from batchwork.tables import check_columns, row_texts, table_of, template_from
from batchwork.text_input import TextInput, TextPlaces

IN_FLIGHT = 8  # an answer has megabytes
# glibc gives blocks back to the kernel as long as it has not seen larger ones freed, up to 32 MB. Then the memory of
# every answer would be fresh, and cost as much CPU as its JSON.
_LARGEST_KEPT = 31 * 2**20
_CHUNK = 256  # texts that are read at once, where reading may block
_CHUNKS_AHEAD = 16
TASK = "task"  # what a journal keeps of it
_OURS = frozenset({"model", "input", "content", "contents", "requests", "texts", "encoding_format", "stream"})
_NUMBERS = "output_dtype"  # how Mistral and Voyage call the type of a vector's numbers


class _Own(TypedDict, total=False):
    dimensions: int | None
    options: Mapping[str, Any] | None


class EmbedOptions(RunOptions, _Own, total=False):
    """The options of an embedding run: those of `run` that have a meaning here, and its own. See `embed`."""


_NOT_HERE = frozenset(
    {
        *("per_row", "system", "max_tokens", "schema", "response_model", "sampling"),
        *("extra_body", "reask", "output_tpm", "count_margin", "timeout_per_1k_chars", "view", "progress"),
    }
)
TAKEN = tuple(sorted((RunOptions.__annotations__.keys() - _NOT_HERE) | _Own.__annotations__.keys()))


def embed(texts: Any, **options: Unpack[EmbedOptions]) -> Embeddings:
    """The embedding of every text, in input order: of a list or another iterable of strings, or of each row of a table.

    Texts are packed to the provider's limits. A text that the provider refuses fails alone. With `journal=` running
    again goes on, and sends no text again that has its vector, wherever it stands in the input then.

    Options:
        model: `provider:name`, for example `"openai:text-embedding-3-small"`. Required.
        prompt, template: what of a row is embedded, where `texts` is a table: as for `run`, `"{title}: {body}"`.
        dimensions: the length of the vectors, for models that can shorten them.
        options: what else goes into every call, for example `{"input_type": "document"}`.
        mode: `"live"`, or `"batch"` for the provider's batches, where it has them for embeddings.
        max_in_flight (8): the most calls at once, each with a pack.
        backend: one of your own, an `EmbedBackend`.
        base_url, api_key, max_cost, price, rpm, input_tpm, retries, timeout, max_wait, journal, fresh, retry_failed,
            on_event, notify, and those of batches: as for `run`; an item is a pack.

    Raises:
        ConfigError: an option is wrong; nothing was sent.
        RunPaused: the breaker ended the run; its `.results` has what there is.
        KeyboardInterrupt: after a clean stop.
    """
    run = EmbedRun(texts, options)
    try:
        return run_sync(run.execute, interrupt=run.interrupt)
    except Interrupted:
        raise run.session.stopped() from None


async def aembed(texts: Any, **options: Unpack[EmbedOptions]) -> Embeddings:
    """The same as `embed`, for asyncio."""
    return await EmbedRun(texts, options).execute()


def embedding_plan(plan: Plan) -> Plan:
    """The plan of a run that makes embeddings; its journal keeps that it is one."""
    return replace(plan, task="embed", settings={**plan.settings, TASK: "embed"})


def _texts_of(given: object, options: EmbedOptions) -> Iterable[Any]:
    """The texts that were handed over, or those that the rows of a table make."""
    template = template_from(PYTHON, prompt=options.get("prompt"), template=options.get("template"))
    if template is not None:
        table = table_of(given)
        check_columns(template.fields, table)
        return row_texts(table, template)
    refuse_table("texts", given, by_rows=True)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ConfigError("texts is a list or another iterable of strings, not one string")
    return given


def _call_options(options: EmbedOptions) -> dict[str, Any]:
    """What goes into every call beside the texts; a ConfigError for what batchwork decides, or could not read back."""
    chosen = options.get("options") or {}
    if not isinstance(chosen, Mapping):
        raise ConfigError(f"options must be a mapping such as {{'input_type': 'query'}}, got {chosen!r}")
    for name in chosen:
        if name in _OURS:
            raise ConfigError(f"options cannot set {name!r}: batchwork does, from the texts and the model")
    if (kind := chosen.get(_NUMBERS, "float")) != "float":
        raise ConfigError(f"options cannot set {_NUMBERS!r} to {kind!r}: vectors are kept as float32 here")
    dimensions = options.get("dimensions")
    if dimensions is None:
        return dict(chosen)
    check_at_least(1, dimensions=dimensions)
    return {**chosen, "dimensions": dimensions}


class PackChecker:
    """Says whether an answer has one vector for every text."""

    def check(self, request: Request, reply: Reply) -> AnswerVerdict:
        """Judge one reply."""
        expected = 4 * reply.dimensions * len(request.messages)
        if reply.vectors is not None and expected and len(reply.vectors) == expected:
            return AnswerVerdict()
        there = 0 if not reply.dimensions else len(reply.vectors or b"") // (4 * reply.dimensions)
        problem = f"the answer has {there} vectors for {len(request.messages)} texts"
        return AnswerVerdict(failure=Failure(kind=FailureKind.RESULT_LOST, message=problem))


class EmbedRun:
    """One embedding run: a pass over the texts, and in batches another one for what fell into parts."""

    def __init__(
        self, texts: Iterable[Any], options: EmbedOptions, *, on_open: Callable[[Engine], None] | None = None
    ) -> None:
        refuse_unknown(options, TAKEN)
        self._texts = _texts_of(texts, options)
        self._options, self._dimensions = _call_options(options), options.get("dimensions")
        chosen = {name: value for name, value in options.items() if name not in _Own.__annotations__}
        run_options = cast("RunOptions", {"max_in_flight": IN_FLIGHT, **chosen})
        self.plan = embedding_plan(plan_of(run_options))
        self._supplied = replace(supplied_of(run_options), checker=PackChecker())
        self._on_open = on_open
        self._input: TextInput | None = None
        self._ahead: ReadAhead[list[Any]] | None = None
        self._journal: Journal | None = None
        self._in_batches = False
        self.session = self._session()

    def interrupt(self) -> None:
        """Stop cleanly; called twice, stop at once."""
        self.session.interrupt()

    async def execute(self) -> Embeddings:
        """Run to the end. RunPaused: the breaker ended it. Interrupted: it was interrupted, and has stopped cleanly."""
        while True:
            try:
                results = await self.session.execute()
            except RunPaused as pause:
                pause.results.close()
                pause.results = self._embeddings(pause.cause, priced=True)
                raise
            finally:
                if self._ahead is not None:
                    await self._ahead.aclose()
            stopped = results.stopped
            results.close()
            if stopped is not None or not self._in_batches or not self._has_refused():
                engine = self.session.engine
                return self._embeddings(stopped, priced=engine is not None and engine.price is not None)
            self._texts = _texts_again(self._view(), self._places)
            self.plan = replace(self.plan, fresh=False)
            if isinstance(self._journal, MemoryJournal):
                self._supplied = replace(self._supplied, journal=self._journal)
            self.session = self._session()

    @property
    def _places(self) -> TextPlaces:
        assert self._input is not None, "it was opened"
        return self._input.places

    def _session(self) -> RunSession:
        supplied = replace(self._supplied, on_settled=self._settled)
        return RunSession(self.plan, Rows(self._rows), supplied, on_open=self._opened)

    def _rows(self) -> Iterator[InputRow]:
        """What the run reads, which is made when the run is opened."""
        assert self._input is not None
        return cast("Iterator[InputRow]", self._input)

    def _opened(self, engine: Engine) -> None:
        self._in_batches = engine.uses_batches
        backend = cast("EmbedBackend", engine.backend)
        limits = getattr(backend, "batch_pack_limits", backend.pack_limits) if self._in_batches else backend.pack_limits
        self._journal = engine.journal
        bytes(_LARGEST_KEPT)  # none of it is touched
        self._input = TextInput(
            self._read(),
            model=self.plan.model,
            options=self._options,
            limits=limits.with_vectors(self._dimensions),
            journal=engine.journal,
            waits=not self._in_batches,
        )
        if self._on_open is not None:
            self._on_open(engine)

    def _read(self) -> Iterator[Any]:
        """The texts; those of a generator, which may block, are read in a thread of their own."""
        if isinstance(self._texts, Collection):
            return iter(self._texts)
        self._ahead = ReadAhead(_chunks(self._texts), window=_CHUNKS_AHEAD, wake=self.session.wake)
        return _flat(self._ahead)

    def _settled(self, outcome: AnyOutcome) -> None:
        assert self._input is not None
        self._input.settled(outcome)

    def _view(self) -> Any:
        return self._journal if self.plan.journal is None else open_reader(self.plan.journal)

    def _has_refused(self) -> bool:
        """Whether a pack was refused for what may be one text's fault, and has not fallen into parts yet."""
        with closing(self._view()) as view:
            for entry in view.entries(statuses=frozenset({Status.FAILED})):
                outcome, request = entry.outcome, entry.request
                is_refused = isinstance(outcome, Failed) and is_of_a_text(outcome.failure)
                if is_refused and request is not None and len(request.messages) > 1:
                    return True
        return False

    def _embeddings(self, stopped: str | None, *, priced: bool) -> Embeddings:
        return Embeddings(self._view(), self._places, stopped=stopped, priced=priced)


def _chunks(texts: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(texts)
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk


def _flat(chunks: ReadAhead[list[Any]]) -> Iterator[Any]:
    for chunk in chunks:
        if chunk is LATER:
            yield LATER
        else:
            yield from chunk


def _texts_again(journal: Any, places: TextPlaces) -> Iterator[Any]:
    """The texts of a pass, from its packs."""
    start, held, texts = 0, None, list[str]()
    with closing(journal):
        for index, slot, length in places:
            if index is None:
                yield from (BadText(places.problems.get(start + n, "")) for n in range(length))
            else:
                if index != held:
                    entry = next(iter(journal.entries(index, index + 1)))
                    held, texts = index, texts_of(entry.request)
                yield from texts[slot : slot + length]
            start += length
