"""The last step of an item that asked for a type: outcome -> typed value, source document, citations.

Citations come from the model's own quotes where those were asked for and are borne out, else from our own evidence
finder, for every backend alike; what a provider cited itself is verified word by word and kept. Finding them takes
longer than all the rest: it is done once for an answer, whoever looks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec

from batchwork.core.outcome import Failed, Outcome, Succeeded
from batchwork.core.reply import Reply
from batchwork.core.request import Attachment, Request, Schema
from batchwork.documents import DEFAULT_LIMITS, Document, DocumentError, DocumentLimits, read_document, text_document
from batchwork.manager.quoting import Quoting
from batchwork.schema import quotes_in

if TYPE_CHECKING:
    from batchwork.evidence import Citation

Citations = dict[str, list[dict[str, Any]]]


class Evidence(NamedTuple):
    """Where the document says an answer, and the quotes of the model that were not believed."""

    citations: Citations
    rejected_quotes: list[dict[str, str]]


IMPORTED = "imported"  # the stop reason of an answer that was taken over from a state file
_NOTHING = Evidence({}, [])
_MOST_KEPT = 200_000  # places in memory; those of later answers are read from their files, or found again


@dataclass(slots=True, kw_only=True, eq=False)
class Finisher:
    """What a job's answers become."""

    model: Any = None  # a Pydantic model; None where the answer stays JSON or text
    schema: Schema | None = None
    cite: bool = False
    quoting: Quoting | None = None  # the model was asked to quote
    limits: DocumentLimits = DEFAULT_LIMITS
    source_of: Callable[[int], str | None] | None = None  # the path of the file behind an item, where it is files
    # Looks up the evidence that a file holds for the item at a place, if it has this value there.
    written: Callable[[int, Any], Evidence | None] | None = None
    _kept: dict[tuple[int, int, int], Evidence] = field(default_factory=dict, init=False)
    _kept_places: int = field(default=0, init=False)

    @classmethod
    def of_request(cls, request: Request) -> Self:
        """For an answer that is looked at without its job: as JSON, and cited as it was asked."""
        quoting = Quoting.behind(request.schema)
        return cls(schema=request.schema if quoting is None else quoting.plain, cite=True, quoting=quoting)

    def value(self, outcome: Outcome | None) -> Any:
        """An instance of the model, validated JSON, or the text; None without an answer."""
        if not isinstance(outcome, Succeeded):
            return None
        if self.schema is None:
            return None if is_imported(outcome) and outcome.parsed is None else outcome.parsed or outcome.text
        if self.model is None or (outcome.parsed is None and (is_imported(outcome) or outcome.tool_calls)):
            return outcome.parsed
        from batchwork.schema import typed  # noqa: PLC0415 - Pydantic is slow to import, and only this needs it

        return typed(outcome.parsed, self.model)

    def plain(self, outcome: Outcome | None) -> Any:
        """The value as JSON, for files: a model with all its fields."""
        value = self.value(outcome)
        return value.model_dump(mode="json") if self.model is not None and value is not None else value

    def document(self, request: Request | None) -> Document | None:
        """The text that the citations of this item point into; None when it has none."""
        if request is None:
            return None
        if request.documents:
            return _document(request.documents[0], self.limits)
        text = "\n\n".join(_texts(request))
        return text_document(text) if text else None

    def evidence(self, outcome: Outcome | None, document: Callable[[], Document | None]) -> Evidence:
        """For every leaf field, by path, the places of the document that say it; nothing when none were asked for."""
        if not self.cite or not isinstance(outcome, Succeeded):
            return _NOTHING
        key = (outcome.index, outcome.attempts, hash(outcome.reply.text))
        if (kept := self._kept.get(key)) is not None:
            return kept
        found = self._found(outcome, document())
        count = 1 + sum(map(len, found.citations.values())) + len(found.rejected_quotes)
        if self._kept_places + count <= _MOST_KEPT:
            self._kept[key] = found
            self._kept_places += count
        return found

    def _found(self, outcome: Succeeded, document: Document | None) -> Evidence:
        if document is None:
            return _NOTHING
        written = None if self.written is None else self.written(outcome.index, self.plain(outcome))
        if written is not None and written.citations and is_in(document, written.citations):
            return written
        # The finder's word lists take longer to load than the rest of the program, and most runs cite nothing.
        from batchwork.evidence import find_evidence, verify_citations, verify_quotes  # noqa: PLC0415

        of_provider = (block.get("citations") for block in outcome.reply.blocks)
        listed = (one for held in of_provider if isinstance(held, list) for one in held if isinstance(one, dict))
        cited = verify_citations(listed, document)
        if self.schema is None:
            return Evidence({"": [place.to_dict() for place in cited]}, [])
        value = self.value(outcome)
        if value is None:
            return _NOTHING
        schema = self.model if self.model is not None else self.schema.body
        if self.quoting is None or not document.has_text:
            return Evidence(_plain(find_evidence(value, document, schema=schema, cited=cited)), [])
        quoted = verify_quotes(value, quotes_in(outcome.reply.text), document, schema=schema)
        return Evidence(_plain(quoted.citations), [quote.to_dict() for quote in quoted.rejected])


def _plain(citations: Mapping[str, Sequence["Citation"]]) -> Citations:
    return {path: [place.to_dict() for place in places] for path, places in citations.items()}


def is_in(document: Document, citations: Citations) -> bool:
    """Whether a document says what citations from a file claim."""
    try:
        spans = [span for places in citations.values() for span in places]
        return all(document.text[span["start"] : span["end"]] == span["text"] for span in spans)
    except (AttributeError, KeyError, TypeError):  # somebody has edited the file
        return False


def raw_of(outcome: Outcome | None) -> bytes | None:
    """What the provider said, as JSON: the answer, or the error with the answer that came all the same.

    An answer is the provider's own JSON where that was kept, else what is known of it: text, usage, model, ...
    """
    if isinstance(outcome, Succeeded):
        return msgspec.json.encode(_reply(outcome.reply))
    if isinstance(outcome, Failed):
        failure = outcome.failure
        error: dict[str, Any] = {"kind": failure.kind.value, "message": failure.message}
        error |= {"status": failure.status} if failure.status is not None else {}
        error |= {"code": failure.error_code} if failure.error_code is not None else {}
        reply = {} if failure.reply is None else {"reply": _reply(failure.reply)}
        return msgspec.json.encode({"error": error} | reply)
    return None


def is_imported(outcome: Succeeded) -> bool:
    """Whether its answer was taken over from a state file that had arrived without its journal."""
    return outcome.reply.stop_reason == IMPORTED


def _reply(reply: Reply) -> Any:
    if reply.body is not None:
        return msgspec.Raw(reply.body)
    body: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(reply, limits=None))
    return body if reply.usage is None else body | {"usage": reply.usage.counts()}


def _document(attachment: Attachment, limits: DocumentLimits) -> Document | None:
    if attachment.text is not None:
        data = attachment.data or attachment.text.encode("utf-8", "surrogatepass")
        return Document(
            text=attachment.text,
            pages=attachment.pages,
            digest=attachment.digest.hex(),
            media_type=attachment.media_type,
            data=data,
            name=attachment.title or "",
        )
    if attachment.data is None:
        return None
    try:
        return read_document(attachment.data, name=attachment.title, limits=limits)
    except DocumentError:
        return None


def _texts(request: Request) -> Iterator[str]:
    for message in request.messages:
        if message.role != "user":
            continue
        if isinstance(message.content, str):
            yield message.content
        else:
            yield from (block["text"] for block in message.content if isinstance(block.get("text"), str))
