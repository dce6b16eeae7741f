"""The neutral form of content blocks and attachments, which every backend turns into its provider's.

A block is a dict with a `type`. Three types mean the same everywhere:

    {"type": "text", "text": "..."}
    {"type": "image", "media_type": "image/png", "data": BYTES}        or  {"type": "image", "url": "https://..."}
    {"type": "document", "media_type": "application/pdf", "data": BYTES, "title": "..."}
    {"type": "document", "text": "...", "title": "...", "citations": True}      or  {"type": "document", "url": "..."}

`data` is bytes, or a text that is base64 already. Every other block, and an image or document with a `source`, is in
the provider's own form and passes as it is.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import msgspec

from batchwork.backends._refusing import bad_input
from batchwork.core.request import Attachment, Message, Request

Block = dict[str, Any]
_NEUTRAL = frozenset({"image", "document"})


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One image or document, whatever it was given as."""

    kind: str
    media_type: str = "text/plain"
    text: str | None = None
    base64: str | None = None
    url: str | None = None
    title: str | None = None
    citations: bool = False


def piece_of(block: Block) -> Piece | None:
    """The image or document of a neutral block; None for a block that passes as it is.

    Raises:
        BackendError: a neutral block without anything in it.
    """
    kind = block.get("type")
    if kind not in _NEUTRAL or "source" in block:
        return None
    data, text, url = block.get("data"), block.get("text"), block.get("url")
    if data is None and text is None and url is None:
        bad_input(f"{kind} block without 'data', 'text' or 'url'")
    media_type = block.get("media_type")
    if media_type is None:
        if kind == "image" and url is None:
            bad_input("image block without 'media_type', for example image/png")
        media_type = "application/pdf" if data is not None or url is not None else "text/plain"
    return _filled(
        kind=kind,
        media_type=str(media_type),
        data=data,
        text=text,
        url=url,
        title=block.get("title"),
        citations=bool(block.get("citations")),
    )


def piece_from(attachment: Attachment) -> Piece:
    """An attachment of a request.

    Raises:
        BackendError: it has neither text nor data.
    """
    image = attachment.media_type.startswith("image/")
    if attachment.text is None and attachment.data is None:
        bad_input(f"the attachment {attachment.title or attachment.media_type!r} has neither text nor data")
    return _filled(
        kind="image" if image and attachment.text is None else "document",
        media_type=attachment.media_type,
        data=attachment.data if attachment.text is None else None,
        text=attachment.text,
        url=None,
        title=attachment.title,
        citations=attachment.citations,
    )


def _filled(*, kind: str, media_type: str, data: Any, text: Any, url: Any, title: str | None, citations: bool) -> Piece:
    if isinstance(data, bytes) and media_type.startswith("text/"):
        try:
            data, text = None, data.decode("utf-8")
        except UnicodeDecodeError:
            bad_input(f"the {media_type} {title or 'document'} is not UTF-8")
    base64 = b64encode(data).decode("ascii") if isinstance(data, bytes) else data
    return Piece(kind=kind, media_type=media_type, text=text, base64=base64, url=url, title=title, citations=citations)


def first_user_turn(request: Request) -> int:
    """Where attachments go: the first turn of the user."""
    return next((i for i, message in enumerate(request.messages) if message.role == "user"), 0)


def as_blocks(content: str | list[Block]) -> list[Block]:
    """Content as a list of blocks, copied."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def is_plain(messages: Iterable[Message]) -> bool:
    """Whether every turn is bare text, which needs no translation."""
    return all(type(message.content) is str for message in messages)


def leading_system(messages: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
    """The text of the system turns at the start, and the turns after them."""
    count = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    texts = [b.get("text", "") for m in messages[:count] for b in as_blocks(m.content)]
    return "\n\n".join(texts), messages[count:]
