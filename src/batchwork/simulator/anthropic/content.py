"""Read the content blocks of a message: their text, documents, pictures and cache marks."""

import hashlib
from typing import Any

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.errors import Refused
from batchwork.simulator.pdf import pages_of
from batchwork.simulator.prompt import CacheMark, Document

_LEAST_CACHED = 1024
_SILENT = frozenset(
    [
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "container_upload",
        "mid_conv_system",
        "compaction",
    ]
)


class Contents:
    """What the blocks of one request add up to."""

    __slots__ = (
        "_marked_tokens",
        "_prefix",
        "_texts",
        "_ttl",
        "answered_last",
        "citable",
        "cited",
        "documents",
        "marks",
        "tokens",
        "tool_results",
    )

    def __init__(self) -> None:
        self.tokens = 0
        self.documents: list[Document] = []
        self.cited = self.citable = self.marks = self.tool_results = 0
        self.answered_last = False
        self._marked_tokens = 0
        self._ttl = "5m"
        self._texts: list[str] = []
        self._prefix: tuple[str, ...] = ()

    def add(self, text: str) -> None:
        """Count a piece of text."""
        self.tokens += tokens.count(text)
        self._texts.append(text)

    def mark(self, control: Any) -> None:
        """Note a cache breakpoint behind everything read so far."""
        if not isinstance(control, dict) or control.get("type") != "ephemeral":
            raise Refused(400, "cache_control.type: Input should be 'ephemeral'")
        self.marks += 1
        self._marked_tokens = self.tokens
        self._prefix = tuple(self._texts)
        self._ttl = "1h" if control.get("ttl") == "1h" else "5m"

    def cache_mark(self, model: str, system: str) -> CacheMark | None:
        """The longest prefix to cache, or None when there is none or it is too short."""
        if not self.marks or self._marked_tokens + tokens.count(system) < _LEAST_CACHED:
            return None
        text = "\x00".join((model, system, *self._prefix)).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=12).hexdigest()
        spent = min(self.tokens, self._marked_tokens) + tokens.count(system)
        return CacheMark(digest, spent, "1h" if self._ttl == "1h" else "5m")


def read_blocks(content: Any, where: str, role: str, contents: Contents, *, strict: bool) -> str:
    """The text of a list of blocks, everything else noted in `contents`.

    Raises:
        Refused: a block the provider does not take.
    """
    if not isinstance(content, list):
        raise Refused(400, f"{where}.content: Input should be a valid string or list")
    texts: list[str] = []
    for number, block in enumerate(content):
        place = f"{where}.content.{number}"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            texts.append(_text(block, place, role, contents, strict=strict))
        elif kind == "document":
            if role == "assistant" and strict:
                raise Refused(400, f"{place}: document blocks are not permitted in assistant messages")
            _document(block, place, contents)
        elif kind == "image":
            _image(block, place, contents)
        elif kind == "search_result":
            texts.append(_search_result(block, place, contents, strict=strict))
        elif kind == "tool_result":
            contents.tool_results += 1
            texts.append(_tool_result(block, place, role, contents, strict=strict))
        elif kind == "tool_use":
            contents.add(msgspec.json.encode(block.get("input")).decode())
        elif kind not in _SILENT:
            raise Refused(
                400, f"{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            )
        if block.get("cache_control"):
            contents.mark(block["cache_control"])
    return "\n\n".join(texts)


def _text(block: dict[str, Any], place: str, role: str, contents: Contents, *, strict: bool) -> str:
    text = block.get("text")
    if not isinstance(text, str):
        raise Refused(400, f"{place}.text: Input should be a valid string")
    if not text:
        raise Refused(400, "messages: text content blocks must be non-empty")
    if strict and role == "user" and block.get("citations"):
        raise Refused(400, f"{place}.citations: citations are not permitted on text blocks in user messages")
    contents.add(text)
    return text


def _document(block: dict[str, Any], place: str, contents: Contents) -> None:
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    kind = source.get("type")
    title = block.get("title")
    if kind == "text":
        document = Document(text=str(source["data"]), title=title)
    elif kind == "base64":
        if source.get("media_type") != "application/pdf":
            raise Refused(400, f"{place}.source.base64.media_type: Input should be 'application/pdf'")
        pages = pages_of(str(source.get("data", "")))
        document = Document(text="\n".join(pages), title=title, source="pdf", parts=pages)
    elif kind == "content":
        inner = source.get("content")
        chunks = (inner,) if isinstance(inner, str) else tuple(str(part.get("text", "")) for part in inner or ())
        document = Document(text="".join(chunks), title=title, source="content", parts=chunks)
    else:
        raise Refused(400, f"{place}.source: the simulator takes text, base64 and content sources, not {kind!r}")
    contents.documents.append(document)
    contents.citable += 1
    contents.cited += _cites(block)
    contents.add(document.text)
    contents.add(f"{title or ''}{block.get('context') or ''}")


def _cites(block: dict[str, Any]) -> bool:
    citations = block.get("citations")
    return isinstance(citations, dict) and citations.get("enabled") is True


def _image(block: dict[str, Any], place: str, contents: Contents) -> None:
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    kind = source.get("type")
    if kind not in ("base64", "url", "file"):
        raise Refused(400, f"{place}.source.type: Input should be 'base64', 'url' or 'file'")
    data = str(source.get("data", "")) if kind == "base64" else ""
    if kind == "base64" and source.get("media_type") not in ("image/jpeg", "image/png", "image/gif", "image/webp"):
        raise Refused(400, f"{place}.source.base64.media_type: Input should be an image type")
    contents.tokens += tokens.count_image(len(data))


def _search_result(block: dict[str, Any], place: str, contents: Contents, *, strict: bool) -> str:
    texts = [
        _text(part, f"{place}.content.{number}", "user", contents, strict=strict)
        for number, part in enumerate(block.get("content") or ())
    ]
    contents.citable += 1
    contents.cited += _cites(block)
    contents.documents.append(
        Document(text="".join(texts), title=block.get("title"), source="content", parts=tuple(texts))
    )
    return ""


def _tool_result(block: dict[str, Any], place: str, role: str, contents: Contents, *, strict: bool) -> str:
    inner = block.get("content") or ""
    if isinstance(inner, str):
        contents.add(inner)
        return inner
    return read_blocks(inner, place, role, contents, strict=strict)
