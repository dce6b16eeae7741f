"""The answers of `mock:reader`: only from the text that the request holds, through the literal reader.

Fills a schema field by field; with citations on, says where each thing stands, in the blocks that Anthropic
would send.
"""

from __future__ import annotations

from typing import Any

import msgspec

from batchwork import reader
from batchwork.backends._content import as_blocks
from batchwork.backends.mock import tokens_of
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Message, Request


def read_request(request: Request) -> Reply:
    """What stands in the request about what it asks."""
    question, text = _question(request)
    blocks: tuple[dict[str, Any], ...] = ()
    if request.schema is not None:
        value, _ = reader.fill(request.schema.body, text, question=question)
        answer = msgspec.json.encode(value).decode()
    elif any(document.citations for document in request.documents):
        blocks = tuple(_cited(request, question, text))
        answer = "".join(block["text"] for block in blocks)
    else:
        answer = reader.read(question, text).text
    usage = Usage(input_tokens=tokens_of(_sent(request)), output_tokens=min(tokens_of(answer), request.output_bound))
    return Reply(text=answer, usage=usage, model="mock:reader", stop_reason="end_turn", blocks=blocks)


def _question(request: Request) -> tuple[str, str]:
    """The question, and everything that was given: the documents first, then the turns of the user.

    The question is in the last turn that asks one; a later turn that only finds fault with an answer is not it.
    """
    turns = [_text(message) for message in request.messages if message.role == "user"] or [request.system or ""]
    at = next((number for number in range(len(turns) - 1, 0, -1) if "?" in turns[number]), 0)
    question, rest = reader.split_prompt(turns[at])
    parts = [*(document.text or "" for document in request.documents), *turns[:at], rest]
    return question, "\n\n".join(part for part in parts if part.strip()) or request.system or ""


def _sent(request: Request) -> str:
    """Everything that a provider would count: the system prompt, the schema, the documents and every turn."""
    schema = "" if request.schema is None else msgspec.json.encode(request.schema.body).decode()
    documents = (document.text or "" for document in request.documents)
    return "".join((request.system or "", schema, *documents, *map(_text, request.messages)))


def _text(message: Message) -> str:
    return "\n\n".join(str(block.get("text", "")) for block in as_blocks(message.content))


def _cited(request: Request, question: str, text: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in reader.split_question(question):
        gap = "\n" if blocks else ""
        for index, document in enumerate(request.documents):
            found = reader.read(part, document.text or "")
            if found.spans:
                places = [_place(index, document.text or "", document.title, *span) for span in found.spans]
                blocks.append({"type": "text", "text": gap + found.text, "citations": places})
                break
        else:
            blocks.append({"type": "text", "text": gap + reader.read(part, text).text})
    return blocks


def _place(index: int, text: str, title: str | None, start: int, end: int) -> dict[str, Any]:
    start, end = reader.sentence_around(text, start, end)
    return {
        "type": "char_location",
        "document_index": index,
        "document_title": title,
        "cited_text": text[start:end],
        "start_char_index": start,
        "end_char_index": end,
    }
