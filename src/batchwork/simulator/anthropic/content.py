"""Read the content blocks of a message: their text, documents, pictures and cache marks."""

from typing import Any

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.bodies import pdf_document
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.prompt import Contents, Document
from batchwork.simulator.providers import ANTHROPIC

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def mark(contents: Contents, control: Any) -> None:
    """Note a cache breakpoint behind everything read so far."""
    wrong = not isinstance(control, dict) or control.get("type") != "ephemeral"
    refuse_if(wrong, "cache_control.type: Input should be 'ephemeral'")
    contents.mark()
    contents.ttl = "1h" if control.get("ttl") == "1h" else "5m"


def read_blocks(content: Any, where: str, role: str, contents: Contents, *, strict: bool) -> str:
    """The text of a list of blocks, everything else noted in `contents`."""
    if not isinstance(content, list):
        raise Refused(400, f"{where}.content: Input should be a valid string or list")
    texts: list[str] = []
    for number, block in enumerate(content):
        place = f"{where}.content.{number}"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            texts.append(_text(block, place, role, contents, strict=strict))
        elif kind == "document":
            banned = strict and role == "assistant"
            refuse_if(banned, f"{place}: document blocks are not permitted in assistant messages")
            _document(block, place, contents)
        elif kind == "image":
            _image(block, place, contents)
        elif kind == "search_result":
            _search_result(block, place, contents, strict=strict)
            texts.append("")
        elif kind == "tool_result":
            contents.tool_results += 1
            texts.append(_tool_result(block, place, role, contents, strict=strict))
        elif kind == "tool_use":
            contents.add(msgspec.json.encode(block.get("input")).decode())
        elif kind not in ANTHROPIC.silent_blocks:
            raise Refused(
                400, f"{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            )
        if block.get("cache_control"):
            mark(contents, block["cache_control"])
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
    source, title = _source(block), block.get("title")
    kind = source.get("type")
    if kind == "text":
        document = Document(text=str(source["data"]), title=title)
    elif kind == "base64":
        wrong = source.get("media_type") != "application/pdf"
        refuse_if(wrong, f"{place}.source.base64.media_type: Input should be 'application/pdf'")
        document = pdf_document(str(source.get("data", "")), title)
    elif kind == "content":
        inner = source.get("content")
        chunks = (inner,) if isinstance(inner, str) else tuple(str(part.get("text", "")) for part in inner or ())
        document = Document(text="".join(chunks), title=title, source="content", parts=chunks)
    else:
        raise Refused(400, f"{place}.source: the simulator takes text, base64 and content sources, not {kind!r}")
    contents.add_document(document, cited=_cites(block))
    contents.add(document.text)
    contents.add(f"{title or ''}{block.get('context') or ''}")


def _source(block: dict[str, Any]) -> dict[str, Any]:
    source = block.get("source")
    return source if isinstance(source, dict) else {}


def _cites(block: dict[str, Any]) -> bool:
    citations = block.get("citations")
    return isinstance(citations, dict) and citations.get("enabled") is True


def _image(block: dict[str, Any], place: str, contents: Contents) -> None:
    source = _source(block)
    kind = source.get("type")
    refuse_if(kind not in ("base64", "url", "file"), f"{place}.source.type: Input should be 'base64', 'url' or 'file'")
    unknown = kind == "base64" and source.get("media_type") not in _IMAGES
    refuse_if(unknown, f"{place}.source.base64.media_type: Input should be an image type")
    contents.tokens += tokens.count_image(len(str(source.get("data", ""))) if kind == "base64" else 0)


def _search_result(block: dict[str, Any], place: str, contents: Contents, *, strict: bool) -> None:
    texts = tuple(
        _text(part, f"{place}.content.{number}", "user", contents, strict=strict)
        for number, part in enumerate(block.get("content") or ())
    )
    document = Document(text="".join(texts), title=block.get("title"), source="content", parts=texts)
    contents.add_document(document, cited=_cites(block))


def _tool_result(block: dict[str, Any], place: str, role: str, contents: Contents, *, strict: bool) -> str:
    inner = block.get("content") or ""
    if isinstance(inner, str):
        contents.add(inner)
        return inner
    return read_blocks(inner, place, role, contents, strict=strict)
