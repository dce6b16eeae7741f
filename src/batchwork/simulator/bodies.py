"""Read what a call brings: its key, its JSON body, a PDF inside it; or refuse it."""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.prompt import Document, Prompt


def bearer(headers: Mapping[str, str]) -> str:
    """The bearer token; empty without one."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key if scheme.lower() == "bearer" else ""


async def read_limited(request: web.BaseRequest, most: int) -> bytes:
    """The whole body."""
    raw = b"" if (request.content_length or 0) > most else await request.read()
    if len(raw) > most or (request.content_length or 0) > most:
        raise Refused(413, f"Request exceeds the maximum size of {most} bytes", type="request_too_large")
    return raw


def decoded(raw: bytes) -> Any:
    """A JSON body."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(400, f"The request body is not valid JSON: {error}") from None
    except RecursionError:
        raise Refused(400, "The request body is nested too deeply") from None


def json_lines(content: bytes) -> Iterator[tuple[int, Any]]:
    """The lines of a file that are not empty, by their numbers from 1; None for one that is not JSON."""
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if raw.strip():
            try:
                yield number, msgspec.json.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                yield number, None


def parsed(parse: Callable[[], Prompt]) -> Prompt:
    """A prompt out of a body; a value of a shape nobody expects there is the caller's mistake, not ours."""
    try:
        return parse()
    except RecursionError:
        raise Refused(400, "The request body is nested too deeply") from None
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise Refused(400, f"The request body has a value of an unexpected type: {error}") from None


def stop_sequences(given: Any, name: str) -> tuple[str, ...]:
    """The texts an answer ends at."""
    listed = given or []
    wrong = not isinstance(listed, list) or not all(isinstance(one, str) for one in listed)
    refuse_if(wrong, f"{name}: Input should be a valid list of strings")
    return tuple(listed)


def pdf_document(data: str, title: str | None) -> Document:
    """A base64 PDF as a document, its text page by page."""
    try:
        import pypdfium2  # noqa: PLC0415 - an optional part; only a native PDF needs it
    except ImportError:
        raise Refused(400, "this simulator cannot read PDFs: install batchwork[documents]") from None
    try:
        pdf = pypdfium2.PdfDocument(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError, pypdfium2.PdfiumError):
        raise Refused(400, "messages: The PDF specified was not valid.") from None
    try:
        pages = tuple(page.get_textpage().get_text_range().replace("\r\n", "\n") for page in pdf)
    finally:
        pdf.close()
    return Document(text="\n".join(pages), title=title, source="pdf", parts=pages)
