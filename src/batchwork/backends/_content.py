"""The neutral form of content blocks and attachments, which every backend turns into its provider's.

A block is a dict with a `type`. Three types mean the same everywhere:

    {"type": "text", "text": "..."}
    {"type": "image", "media_type": "image/png", "data": BYTES}        or  {"type": "image", "url": "https://..."}
    {"type": "document", "media_type": "application/pdf", "data": BYTES, "title": "..."}
    {"type": "document", "text": "...", "title": "...", "citations": True}      or  {"type": "document", "url": "..."}

`data` is bytes, or a text that is base64 already. Every other block, and an image or document with a `source`, is in
the provider's own form and passes as it is.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from batchwork.backends._failures import bad_input
from batchwork.core.request import Attachment, Message

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
    return _filled(str(kind), str(media_type), data, text, block.get("title"), bool(block.get("citations")), url)


def piece_from(attachment: Attachment) -> Piece:
    """The image or document of an attachment.

    Raises:
        BackendError: it has neither text nor data.
    """
    media_type, text, data, title = attachment.media_type, attachment.text, attachment.data, attachment.title
    if text is None and data is None:
        bad_input(f"the attachment {title or media_type!r} has neither text nor data")
    kind = "image" if text is None and media_type.startswith("image/") else "document"
    return _filled(kind, media_type, data if text is None else None, text, title, attachment.citations)


def _filled(
    kind: str, media_type: str, data: Any, text: Any, title: str | None, citations: bool, url: Any = None
) -> Piece:
    if isinstance(data, bytes) and media_type.startswith("text/"):
        try:
            data, text = None, data.decode("utf-8")
        except UnicodeDecodeError:
            bad_input(f"the {media_type} {title or 'document'} is not UTF-8")
    base64 = b64encode(data).decode("ascii") if isinstance(data, bytes) else data
    return Piece(kind=kind, media_type=media_type, text=text, base64=base64, url=url, title=title, citations=citations)


def translated(
    messages: Sequence[Message], documents: Iterable[Attachment], block_of: Callable[[Piece], Block]
) -> list[Message]:
    """The turns with every image and document in a provider's form; attachments go to the first turn of the user."""
    turns = []
    for message in messages:
        content = message.content
        if not isinstance(content, str):
            content = [block if (piece := piece_of(block)) is None else block_of(piece) for block in content]
        turns.append(Message(message.role, content))
    if attached := [block_of(piece_from(document)) for document in documents]:
        at = next((i for i, turn in enumerate(turns) if turn.role == "user"), 0)
        turns[at] = Message(turns[at].role, attached + as_blocks(turns[at].content))
    return turns


def as_blocks(content: str | list[Block]) -> list[Block]:
    """Content as a list of blocks, copied."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def is_plain(messages: Iterable[Message]) -> bool:
    """Whether every turn is bare text, which needs no translation."""
    return all(type(message.content) is str for message in messages)


def leading_system(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The system turns at the start, and the turns after them."""
    count = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    return messages[:count], messages[count:]


def document_text(piece: Piece) -> str:
    """A document as a part of the prompt, for wires that have no block for it."""
    title = f' title="{piece.title}"' if piece.title else ""
    return f"<document{title}>\n{piece.text}\n</document>"
