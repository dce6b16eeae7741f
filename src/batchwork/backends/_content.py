"""What every wire does to a body: neutral content in the provider's form, its schema subset, the user's own fields.

A block is a dict with a `type`. Three types mean the same everywhere:

    {"type": "text", "text": "..."}
    {"type": "image", "media_type": "image/png", "data": BYTES}        or  {"type": "image", "url": "https://..."}
    {"type": "document", "media_type": "application/pdf", "data": BYTES, "title": "..."}
    {"type": "document", "text": "...", "title": "...", "citations": True}      or  {"type": "document", "url": "..."}

`data` is bytes, or a text that is base64 already. Every other block, and an image or document with a `source`, is in
the provider's own form and passes as it is.
"""

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Self

import msgspec

from batchwork.backends._failures import bad_input
from batchwork.core.request import Attachment, Message, Request, Schema
from batchwork.core.weighed import WeighedCache
from batchwork.schema import SchemaError, wire_schema_of

Block = dict[str, Any]
_NEUTRAL = frozenset({"image", "document"})
# What batchwork itself decides: changing these behind its back would break its price, its bound or its reader.
_OURS = frozenset({"model", "messages", "max_tokens", "max_completion_tokens", "stream", "n"})
_ENCODED_BYTES = 16 * 2**20


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
    """The image or document of a neutral block; None for a block that passes as it is."""
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
    """The image or document of an attachment."""
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


def system_and_turns(request: Request) -> tuple[str | None, tuple[Message, ...]]:
    """For wires where it stands apart: the system text, with that of leading system turns, and the turns after it."""
    system, messages = request.system, request.messages
    if messages[0].role != "system":
        return system, messages
    turns, messages = leading_system(messages)
    if not messages:
        bad_input("a conversation needs a turn after its system turns")
    texts = [block.get("text", "") for turn in turns for block in as_blocks(turn.content)]
    return "\n\n".join([system, *texts] if system else texts), messages


def untyped_turn(message: Message, who: str, roles: Mapping[str, str], field: str) -> Block:
    """A turn on a wire whose own blocks have no `type`: text is put into its form, its own blocks pass as they are."""
    role, said = roles.get(message.role), message.content
    if role is None:
        bad_input(f"{who} knows no turn of the role {message.role!r} here: there are user and assistant")
    return {
        "role": role,
        field: [{"text": said}] if isinstance(said, str) else [_untyped(block, who) for block in said],
    }


def _untyped(block: Block, who: str) -> Block:
    kind = block.get("type")
    if kind not in (None, "text"):
        bad_input(f"{who} knows no block of the type {kind!r}: its own have no type, for example {{'text': ...}}")
    return block if kind is None else {"text": block.get("text", "")}


def document_text(piece: Piece) -> str:
    """A document as a part of the prompt, for wires that have no block for it."""
    title = f' title="{piece.title}"' if piece.title else ""
    return f"<document{title}>\n{piece.text}\n</document>"


class WireSchemas:
    """User schemas as a provider takes them, each compiled and encoded once while it is in use."""

    def __init__(self, compile_schema: Callable[[Schema], Any]) -> None:
        """`compile_schema` gives None for a schema that goes out as it is."""
        self._compile = compile_schema
        self._encoded: WeighedCache[bytes, tuple[msgspec.Raw, bool]] = WeighedCache(_ENCODED_BYTES)

    @classmethod
    def of(cls, provider: Literal["anthropic", "gemini", "openai"], *, or_as_is: bool = False) -> Self:
        """In the subset that a provider takes; a schema that it cannot be given is a `BackendError`.

        With `or_as_is` it goes out as it is: another server on the provider's wire may take it, or says that not.
        """

        def compiled(schema: Schema) -> Any:
            try:
                return wire_schema_of(provider, schema)
            except SchemaError as error:
                return None if or_as_is else bad_input(str(error))

        return cls(compiled)

    def encoded(self, schema: Schema) -> msgspec.Raw:
        """The encoded wire schema."""
        return self._made(schema)[0]

    def is_compiled(self, schema: Schema) -> bool:
        """Whether it goes out in the provider's subset."""
        return self._made(schema)[1]

    def _made(self, schema: Schema) -> tuple[msgspec.Raw, bool]:
        made = self._encoded.get(schema.digest)
        if made is None:
            compiled = self._compile(schema)
            written = msgspec.json.encode(schema.body if compiled is None else compiled)
            made = msgspec.Raw(written), compiled is not None
            self._encoded.put(schema.digest, made, len(written))
        return made


def check_sampling(sampling: Mapping[str, Any], taken: Collection[str], who: str) -> None:
    """Refuse sampling parameters that the API does not take."""
    unknown = [name for name in sampling if name not in taken]
    if unknown:
        takes = f"it takes {', '.join(sorted(taken))}" if taken else "it takes none: leave them out"
        bad_input(f"{who} does not take the sampling parameter {unknown[0]!r}; {takes}")


def add_extra(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """Put the user's fields on top, but for ours: objects are merged one level deep, None takes a field out."""
    for name, value in extra.items():
        if name in _OURS:
            bad_input(f"extra_body cannot set {name!r}: batchwork does, from the request itself")
        ours = body.get(name)
        if value is None:
            body.pop(name, None)
        elif isinstance(ours, dict) and isinstance(value, dict):
            body[name] = {**ours, **value}
        else:
            body[name] = value
