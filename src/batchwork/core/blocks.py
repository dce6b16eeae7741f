"""Decide how many input tokens a content block can be billed for at most, or say by name why nobody knows.

An allow-list (`bounds.toml`): a block, a field or a source that does not stand there has no bound. What a provider
fetches by itself (an address, an id of a file) can be of any length, and so can what it makes of sound and film.
"""

from base64 import b64decode
from binascii import Error as NoBase64
from functools import cache
from typing import Any

import msgspec

from batchwork.core.data_file import read_data_file
from batchwork.core.media import MOST_PAGES, most_pages, pixel_size
from batchwork.core.pricing import Writes

PER_BLOCK = 32  # what is put around a block, or a document that is sent as text
IMAGE = 6_000  # what an image counts as where nothing better is known
PDF_PAGE = 10_000  # text and picture of one page
_PIXELS = 14  # no model makes more than one token of a square of so many pixels a side
_CITED = 1024  # the instructions that a provider adds for citations
_PER_SENTENCE = 12  # and what it puts around every sentence that can be cited
_ENDS = ".!?\n\u3002\uff01\uff1f\u2026"  # of sentences
_DEEPEST = 20
_CITABLE = frozenset({"document", "search_result"})


class _ExtraFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    plain: frozenset[str]
    counted: frozenset[str]
    tools: frozenset[str]
    tool_fields: frozenset[str]


class _Bounded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    common: frozenset[str]
    source: frozenset[str]
    blocks: dict[str, frozenset[str]]
    extra: _ExtraFields
    within: dict[str, frozenset[str]]


@cache
def bounded() -> _Bounded:
    """Everything that has a bound, by its name."""
    return read_data_file(__file__, "bounds.toml", _Bounded)


class Measure:
    """Counts the tokens of one request at most, and keeps the first thing in it that has no bound."""

    def __init__(self, image_tokens: int | None) -> None:
        self.image_tokens = image_tokens  # the most that one image can have at its provider; None: that grows with it
        self.tokens = 0
        self.unknown: str | None = None
        self.writes = Writes.NONE  # what it asks to have written into the prompt cache
        self.marked = False  # a block says up to where the prompt is to be cached
        self.explicit = False  # nothing is cached but what is marked
        self._cited = False  # the provider marks every sentence of what is being counted

    def cannot(self, what: str) -> None:
        """Note something that has no bound; what it holds itself is counted all the same, for pacing."""
        self.unknown = self.unknown or what

    def only(self, fields: Any, known: frozenset[str], place: str) -> None:
        """Note a field that is not known."""
        if strange := sorted(set(map(str, fields)) - known):
            self.cannot(f"the field {strange[0]!r} of {place}")

    def text(self, text: str) -> None:
        """No tokenizer makes more than one token of a byte."""
        self.tokens += bytes_of(text)
        if self._cited:
            self.tokens += _PER_SENTENCE * (1 + sum(map(text.count, _ENDS)))

    def json(self, value: object) -> None:
        """What a provider puts into words of its own, twice its length at most."""
        self.tokens += PER_BLOCK + 2 * json_size(value)

    def cache(self, control: object, place: str) -> None:
        """A mark of Anthropic's: up to here the prompt is written into the cache."""
        if control is None:
            return
        ttl = control.get("ttl") or "5m" if isinstance(control, dict) else None
        if ttl not in ("5m", "1h"):
            self.cannot(f"the cache_control of {place}")
        self.writes = max(self.writes, Writes.SHORT if ttl == "5m" else Writes.HOUR)

    def blocks(self, content: object, place: str, depth: int = 0) -> None:
        """A text, or a list of blocks."""
        if isinstance(content, str):
            self.text(content)
        elif not isinstance(content, list | tuple):
            self.cannot(f"the content of {place}")
        elif depth > _DEEPEST:
            self.cannot(f"blocks more than {_DEEPEST} deep in each other")
        else:
            for block in content:
                self.block(block, depth)

    def block(self, block: object, depth: int = 0) -> None:
        """One block, whoever's form it has."""
        self.tokens += PER_BLOCK
        kind = block.get("type") if isinstance(block, dict) else None
        fields = bounded().blocks.get(kind) if isinstance(kind, str) else None
        if not isinstance(block, dict) or not isinstance(kind, str) or fields is None:
            self.cannot(f"a block of type {kind!r}")
            self.json(block)
            return
        place = f"a block of type {kind!r}"
        for field in block:
            if field not in fields and field not in bounded().common:
                self.cannot(f"the field {field!r} of {place}")
                self.json(block[field])
        self.cache(block.get("cache_control"), place)
        self.marked = self.marked or block.get("prompt_cache_breakpoint") is not None
        if kind in _CITABLE and block.get("citations"):
            self.tokens += _CITED
            self._cited = True
        if kind == "image":
            self._image(self._held(block, "an image").get("data"))
        elif kind == "image_url":
            self._image_url(block.get("image_url"))
        elif kind == "document":
            self._document(block, depth)
        elif kind == "file":
            self._file(block.get("file"))
        elif kind == "tool_use":
            self.json(block)
        else:  # text, refusal, tool_result, search_result: words, and blocks within them
            self._words(block, fields, depth)
        if depth == 0:
            self._cited = False

    def _words(self, block: dict[str, Any], fields: frozenset[str], depth: int) -> None:
        place = f"a block of type {block['type']!r}"
        for field in fields:
            value = block.get(field)
            if value is None:
                continue
            if field == "content":
                self.blocks(value, place, depth + 1)
            elif isinstance(value, str):
                self.text(value)
            elif field in ("citations", "is_error"):
                self.json(value)
            else:
                self.cannot(f"the field {field!r} of {place}")

    def attachment(self, media_type: str, *, text: str | None, data: bytes, title: str | None, cited: bool) -> None:
        """A document or image that goes with a request."""
        self.tokens += PER_BLOCK
        if title:
            self.text(title)
        if text is not None:
            self._cited = cited
            self.text(text)
            self._cited = False
            self.tokens += _CITED if cited else 0
        elif media_type.startswith("image/"):
            self._image(data)
        elif media_type == "application/pdf":
            self._pdf(data)
        else:  # as text, where it is one; nobody takes the others
            self.tokens += len(data)

    def _held(self, block: dict[str, Any], what: str) -> dict[str, Any]:
        """What holds the content of a block: itself in the neutral form, its `source` in Anthropic's."""
        source = block.get("source")
        if source is None:
            return block
        if not isinstance(source, dict):
            self.cannot(f"the source of {what}")
            return {}
        self.only(source, bounded().source, f"the source of {what}")
        return source

    def _document(self, block: dict[str, Any], depth: int) -> None:
        for field in ("title", "context"):
            self.text(str(block.get(field) or ""))
        held, is_neutral = self._held(block, "a document"), block.get("source") is None
        if held.get("url") or held.get("file_id"):
            self.cannot("a document by URL" if held.get("url") else "a document by the id of a file")
            self.tokens += PDF_PAGE * MOST_PAGES  # for pacing: nothing is known of what stands there
            return
        if held.get("content") is not None and not is_neutral:
            self.blocks(held["content"], "a document", depth + 1)
            return
        media_type, data = held.get("media_type"), held.get("data")
        text = held.get("text") if is_neutral else data if held.get("type") == "text" else None
        if isinstance(text, str):
            self.text(text)
        elif isinstance(data, bytes) and str(media_type).startswith("text/"):
            self.text(data.decode("utf-8", "replace"))
        elif isinstance(data, bytes | str) and media_type in ("application/pdf", None):
            self._pdf(data)
        else:
            self.cannot(f"a document of type {media_type!r}")
            self.json(held)

    def _file(self, file: object) -> None:
        """OpenAI's form of a file."""
        held = file if isinstance(file, dict) else {}
        data, name = held.get("file_data"), str(held.get("filename") or "")
        self.text(name)
        if "file_id" in held:
            self.cannot("a file by its id")
        self.only(held, frozenset({"file_data", "file_id", "filename"}), "a file")
        if not isinstance(data, str):
            self.cannot("a file without its data")
            return
        media_type, raw = _data_url(data)
        if media_type is None and (name.lower().endswith(".pdf") or raw.startswith("JVBERi")):
            media_type = "application/pdf"
        if media_type == "application/pdf":
            self._pdf(raw)
            return
        if media_type is None or not media_type.startswith("text/"):
            self.cannot(f"a file of type {media_type!r}")
        self.tokens += len(raw)

    def _pdf(self, data: bytes | str) -> None:
        self.tokens += PDF_PAGE * most_pages(_decoded(data))

    def _image_url(self, image: object) -> None:
        """OpenAI's form of an image."""
        held = image if isinstance(image, dict) else {"url": image}
        self.only(held, frozenset({"url", "detail"}), "an image")
        url = held.get("url")
        if not isinstance(url, str):
            self.cannot("an image without a URL")
        self._image(_data_url(url)[1] if isinstance(url, str) and url.startswith("data:") else None)

    def _image(self, data: object) -> None:
        """An image of these bytes, or of that base64; None for one that the provider fetches."""
        if self.image_tokens is not None:
            self.tokens += self.image_tokens
            return
        if data is None:
            self.cannot("an image by URL, whose tokens grow with its size at this provider")
            self.tokens += IMAGE
            return
        size = pixel_size(_decoded(data))
        if size is None:
            self.cannot("an image whose size cannot be read")
        width, height = size or (0, 0)
        self.tokens += max(IMAGE, -(-width // _PIXELS) * -(-height // _PIXELS))


def bytes_of(text: str) -> int:
    """The length of a text in UTF-8, a lone surrogate included."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def json_size(value: object) -> int:
    """The length of a value as JSON; of one that is none, as Python shows it."""
    try:
        return len(msgspec.json.encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError):
        try:
            return bytes_of(repr(value))
        except RecursionError:
            return 0


def _decoded(data: object) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return b64decode(data) if isinstance(data, str) else b""
    except (NoBase64, ValueError):
        return b""


def _data_url(text: str) -> tuple[str | None, str]:
    """The media type and the base64 of a `data:` URL; of another text, none and itself."""
    head, comma, _ = text[:200].partition(",")
    if not (comma and head.startswith("data:")):
        return None, text
    return head[5:].partition(";")[0].lower() or None, text[len(head) + 1 :]
