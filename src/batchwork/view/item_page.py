"""The figures of the page about one item: what was asked, what came back, and every call on the way."""

from contextlib import suppress
from typing import Any

import msgspec

from batchwork.core.event import Attempted, Opened, Reopened, Settled
from batchwork.core.outcome import AnyOutcome, Failed, Succeeded
from batchwork.core.ports import Entry
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Attachment, Request
from batchwork.journal import JournalReader
from batchwork.view.fold import is_cut_off
from batchwork.view.index import SideIndex
from batchwork.view.watch import JournalWatch

_LONGEST = 200_000  # characters of a text that are shown


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of what was asked."""

    role: str
    text: str
    blocks: list[str]  # what is not text, as JSON


class DocumentLink(msgspec.Struct, frozen=True, kw_only=True):
    """A document that went with the request."""

    number: int
    title: str
    media_type: str
    sha256: str
    pages: int
    has_text: bool


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call, or what else happened to the item."""

    number: int | None  # None: not a call
    at: float
    result: str
    is_good: bool
    message: str = ""
    usage: Usage | None = None
    charged_nano: int = 0
    unconfirmed: bool = False
    latency_s: float = 0.0
    request_id: str | None = None
    why_again: str = ""  # another call followed


class ItemPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the page."""

    place: int
    item: int
    status: str
    kind: str | None
    label: str | None
    key: str
    columns: dict[str, Any] | None
    model: str
    system: str | None
    turns: list[Turn]
    schema: str | None
    options: dict[str, Any]
    documents: list[DocumentLink]
    answer: str | None
    value: str | None  # the validated JSON, laid out
    tool_calls: str | None
    error: str | None
    stop_reason: str | None
    truncated: bool
    cost_nano: int | None
    usage: Usage | None
    calls: list[Call]
    body: str | None


def item_page(watch: JournalWatch, place: int) -> ItemPage | None:
    """The page of the item at a place of the latest input; None when nobody stands there."""
    with watch.reading() as (reader, index):
        row = index.at(place)
        entry = None if row is None else reader.entry(row.id)
        if entry is None or row is None:
            return None
        last = reader.last_run()
        is_priced = last is None or last.priced or bool(entry.paid_nano)
        calls = _calls(reader, index, entry.item, row.settled_seq)
    return _page(entry, calls, is_priced=is_priced)


def _page(entry: Entry, calls: list[Call], *, is_priced: bool) -> ItemPage:
    request, outcome = entry.request, entry.outcome
    reply = _reply(outcome)
    schema = None if request is None or request.schema is None else request.schema.body
    return ItemPage(
        place=entry.index,
        item=entry.item,
        status=entry.status.value,
        kind=outcome.failure.kind.value if isinstance(outcome, Failed) else None,
        label=None if request is None else request.label,
        key="" if request is None else request.key,
        columns=entry.columns,
        model="" if request is None else request.model,
        system=None if request is None else request.system,
        turns=[] if request is None else _turns(request),
        schema=None if schema is None else laid_out(schema),
        options={} if request is None else _options(request),
        documents=[] if request is None else [_link(*numbered) for numbered in enumerate(request.documents)],
        answer=None if outcome is None or outcome.text is None else outcome.text[:_LONGEST],
        value=laid_out(outcome.value) if isinstance(outcome, Succeeded) and outcome.value is not None else None,
        tool_calls=laid_out(outcome.tool_calls) if outcome is not None and outcome.tool_calls else None,
        error=None if outcome is None else outcome.error,
        stop_reason=None if reply is None else reply.stop_reason,
        truncated=outcome is not None and outcome.truncated,
        cost_nano=entry.paid_nano if is_priced else None,
        usage=None if outcome is None else outcome.usage,
        calls=calls,
        body=None if reply is None or reply.body is None else _laid_out_bytes(reply.body),
    )


def _reply(outcome: AnyOutcome | None) -> Reply | None:
    if isinstance(outcome, Succeeded):
        return outcome.reply
    return outcome.failure.reply if isinstance(outcome, Failed) else None


def _turns(request: Request) -> list[Turn]:
    turns = []
    for message in request.messages:
        if isinstance(message.content, str):
            turns.append(Turn(role=message.role, text=message.content[:_LONGEST], blocks=[]))
            continue
        texts = [str(block["text"]) for block in message.content if isinstance(block.get("text"), str)]
        others = [laid_out(block) for block in message.content if not isinstance(block.get("text"), str)]
        turns.append(Turn(role=message.role, text="\n".join(texts)[:_LONGEST], blocks=others))
    return turns


def _options(request: Request) -> dict[str, Any]:
    options: dict[str, Any] = {"max_tokens": request.max_tokens}
    options |= request.sampling or {}
    return options | ({"extra_body": request.extra_body} if request.extra_body else {})


def _link(number: int, document: Attachment) -> DocumentLink:
    return DocumentLink(
        number=number,
        title=document.title or f"document {number + 1}",
        media_type=document.media_type,
        sha256=document.digest.hex(),
        pages=len(document.pages),
        has_text=document.text is not None,
    )


def laid_out(value: Any) -> str:
    """A value as JSON that can be read."""
    try:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError):
        text = repr(value)
    return text[:_LONGEST]


def _laid_out_bytes(body: bytes) -> str:
    with suppress(msgspec.MsgspecError):
        body = msgspec.json.format(body, indent=2)
    return body[:_LONGEST].decode("utf-8", "replace")


# -- what happened to it ----------------------------------------------------------------------------


def _calls(reader: JournalReader, index: SideIndex, item: int, settled_seq: int) -> list[Call]:
    """Every call for an item in order, and when it was taken up again."""
    calls: list[Call] = []
    for seq in sorted({*index.trace(item), *([settled_seq] if settled_seq else [])}):
        _, at, event = reader.events_after(seq - 1, 1)[0]
        number = 1 + sum(call.number is not None for call in calls)
        if isinstance(event, Attempted) and event.charged_nano >= 0:
            calls.append(_attempt(event, number, at))
        elif isinstance(event, Attempted):
            text = "an answer that was booked as lost has come after all"
            calls.append(Call(number=None, at=at, result=text, is_good=True, charged_nano=event.charged_nano))
        elif isinstance(event, Settled):
            calls.append(_settling(event, number, at))
        elif isinstance(event, Reopened | Opened):
            calls.append(Call(number=None, at=at, result="taken up again", is_good=True))
    for before, call in enumerate(calls[1:]):
        if call.number is not None and calls[before].number is not None and not calls[before].is_good:
            calls[before] = msgspec.structs.replace(calls[before], why_again="tried again")
    return calls


def _attempt(event: Attempted, number: int, at: float) -> Call:
    return Call(
        number=number,
        at=at,
        result="cut off" if is_cut_off(event) else event.kind.value,
        is_good=False,
        message=event.message,
        usage=event.usage,
        charged_nano=event.charged_nano,
        unconfirmed=event.unconfirmed,
        latency_s=event.latency_s,
        request_id=event.request_id,
    )


def _settling(event: Settled, number: int, at: float) -> Call:
    outcome, reply = event.outcome, _reply(event.outcome)
    failure = outcome.failure if isinstance(outcome, Failed) else None
    was_called = isinstance(outcome, Succeeded) or (failure is not None and outcome.attempts > 0)
    request_id = None if failure is None else failure.request_id
    return Call(
        number=number if was_called else None,
        at=at,
        result=outcome.status.value if failure is None else failure.kind.value,
        is_good=isinstance(outcome, Succeeded),
        message="" if isinstance(outcome, Succeeded) else failure.message if failure else outcome.error or "",
        usage=reply.usage if reply is not None else None if failure is None else failure.usage,
        charged_nano=event.charged_nano,
        unconfirmed=event.unconfirmed,
        latency_s=outcome.latency_s,
        request_id=reply.provider_id if reply is not None else request_id,
    )
