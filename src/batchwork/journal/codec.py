"""Encodes events as MessagePack with a checksum, and decodes them; the only place that does.

A schema, a long system prompt or a document that a million requests share is stored once, under its digest.
"""

import json
from collections.abc import Callable
from typing import Any
from zlib import crc32

import msgspec

from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import (
    Admitted,
    Attempted,
    BatchClosed,
    BatchIntended,
    BatchReopened,
    BatchSubmitted,
    BatchUploaded,
    Began,
    Ended,
    Event,
    Opened,
    Reopened,
    Settled,
)
from batchwork.core.request import Attachment, Message, Request, Schema, digest

# The number of a kind on disk is its place here, from 1. Those of provider batches come last and have an index.
_EVENTS = (Began, Opened, Admitted, Attempted, Settled, Reopened, Ended)
_BATCH_EVENTS = (BatchIntended, BatchSubmitted, BatchClosed, BatchReopened, BatchUploaded)
KINDS: dict[type, int] = {event: kind for kind, event in enumerate(_EVENTS + _BATCH_EVENTS, start=1)}
FIRST_OF_BATCHES = KINDS[BatchIntended]
ANSWERS = f"{KINDS[Attempted]}, {KINDS[Settled]}"  # an item of a batch that was read has one of these
_SHARE_ABOVE = 256  # characters; shorter system prompts are cheaper in place

_HUGE = 1  # the code of a whole number that MessagePack has no form for, written out
_encoder = msgspec.msgpack.Encoder()
_encode = _encoder.encode


def _read_huge(_code: int, digits: memoryview) -> int:
    return int(bytes(digits), 16)


_decoders: dict[int, Callable[[bytes], Any]] = {
    kind: msgspec.msgpack.Decoder(cls, ext_hook=_read_huge).decode for cls, kind in KINDS.items() if cls is not Opened
}


class _StoredRequest(msgspec.Struct, array_like=True):
    """A request with its shared parts replaced by their digests."""

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    occurrence: int
    system: str | None = None
    system_digest: bytes | None = None
    schema: tuple[str, bytes] | None = None
    documents: list[Attachment] | None = None
    sampling: dict[str, Any] | None = None
    extra_body: dict[str, Any] | None = None
    label: str | None = None


class _StoredOpened(msgspec.Struct, array_like=True):
    index: int
    fingerprint: bytes
    occurrence: int
    request: _StoredRequest | None = None
    columns: dict[str, Any] | str | None = None


_UNPACKABLE = (OverflowError, UnicodeEncodeError, TypeError)
_decode_opened = msgspec.msgpack.Decoder(_StoredOpened).decode
_decode_blob = msgspec.msgpack.Decoder().decode

Blobs = dict[bytes, bytes]


def encode(event: Event, blobs: Blobs) -> bytearray:
    """The bytes of an event; shared parts are added to `blobs`.

    A bytearray is what SQLite's driver takes as it is; bytes cost it a search for an adapter.
    """
    if type(event) is not Opened:
        try:
            return _written(event)
        except OverflowError:  # a model answered with a huge number
            return _written(_packable(msgspec.to_builtins(event, builtin_types=(bytes,))))
    request = event.request
    stored = None if request is None else _store(request, event.occurrence, blobs)
    opened = _StoredOpened(event.index, event.fingerprint, event.occurrence, stored, event.columns)
    try:
        return _written(opened)
    except _UNPACKABLE:
        opened.columns = json.dumps(event.columns, default=str)  # a huge number, a lone surrogate
        return _written(opened)


def _written(value: Any) -> bytearray:
    buffer = bytearray()
    _encoder.encode_into(value, buffer)
    return buffer


def _packable(value: Any) -> Any:
    """A value with its huge whole numbers in a form that can be written."""
    if isinstance(value, dict):
        return {key: _packable(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_packable(held) for held in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return msgspec.msgpack.Ext(_HUGE, f"{value:x}".encode())
    return value


def _store(request: Request, occurrence: int, blobs: Blobs) -> _StoredRequest:
    stored = _StoredRequest(request.model, request.messages, request.output_bound, occurrence)
    if (system := request.system) is not None:
        if len(system) > _SHARE_ABOVE:
            stored.system_digest = digest(system.encode())
            blobs[stored.system_digest] = _encode(system)
        else:
            stored.system = system
    if request.schema is not None:
        stored.schema = (request.schema.name, request.schema.digest)
        if request.schema.digest not in blobs:
            blobs[request.schema.digest] = _encode(request.schema.body)
    if request.documents:
        stored.documents = [
            msgspec.structs.replace(document, text=None if document.text is None else "", data=_share(document, blobs))
            for document in request.documents
        ]
    stored.sampling, stored.extra_body, stored.label = request.sampling, request.extra_body, request.label
    return stored


def _share(document: Attachment, blobs: Blobs) -> bytes:
    """Keep a document's content once; the same file may be kept twice, as its text and as itself."""
    key = document.digest + (b"data" if document.text is None else b"text")
    if key not in blobs:
        blobs[key] = _encode((document.text, document.data))
    return key


def decode(row: tuple[int, int, int, bytes, int], blob: Callable[[bytes], bytes | None]) -> Event:
    """The event behind a row; a JournalDamagedError when the row contradicts its checksum."""
    seq, kind, item, body, crc = row
    if checksum(seq, kind, item, body) != crc:
        raise JournalDamagedError(f"event {seq} is damaged")
    try:
        if kind != KINDS[Opened]:
            event: Event = _decoders[kind](body)
            return event
        stored = _decode_opened(body)
        return Opened(
            item=item,
            index=stored.index,
            fingerprint=stored.fingerprint,
            occurrence=stored.occurrence,
            request=None if stored.request is None else _restore(stored.request, blob),
            columns=json.loads(stored.columns) if isinstance(stored.columns, str) else stored.columns,
        )
    except (msgspec.DecodeError, KeyError) as error:
        raise JournalDamagedError(f"event {seq} cannot be read: {error}") from error


def _restore(stored: _StoredRequest, blob: Callable[[bytes], bytes | None]) -> Request:
    def shared(key: bytes) -> Any:
        body = blob(key)
        if body is None:
            raise JournalDamagedError(f"a part shared by several requests is missing ({key.hex()})")
        return _decode_blob(body)

    documents = []
    for document in stored.documents or ():
        text, data = shared(document.data or b"")
        documents.append(msgspec.structs.replace(document, text=text, data=data))
    return Request(
        model=stored.model,
        messages=stored.messages,
        max_tokens=stored.max_tokens,
        occurrence=stored.occurrence,
        system=shared(stored.system_digest) if stored.system_digest is not None else stored.system,
        schema=stored.schema and Schema(name=stored.schema[0], digest=stored.schema[1], body=shared(stored.schema[1])),
        documents=tuple(documents),
        sampling=stored.sampling,
        extra_body=stored.extra_body,
        label=stored.label,
    )


def checksum(seq: int, kind: int, item: int, body: bytes | bytearray) -> int:
    """What ties an event's bytes to its place."""
    return crc32(body, (seq * 31 + kind * 7 + item) & 0xFFFFFFFF)


def blob_checksum(key: bytes, body: bytes) -> int:
    """What ties a shared part to its name."""
    return crc32(body, crc32(key))


def encode_columns(columns: dict[str, Any]) -> bytes:
    """The bytes by which two rows of input columns are compared."""
    try:
        return _encode(columns)
    except _UNPACKABLE:
        return json.dumps(columns, default=str).encode()
