"""The answers of `mock:reader`: only from the text that the request holds, through the literal reader.

Fills a schema field by field; with citations on, says where each thing stands, in the blocks that Anthropic
would send.
"""

from typing import Any

import msgspec

from batchwork import literal
from batchwork.backends._content import as_blocks
from batchwork.backends.mock import tokens_of
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Attachment, Message, Request


def read_request(request: Request) -> Reply:
    """What stands in the request about what it asks."""
    question, text = _question(request)
    blocks: tuple[dict[str, Any], ...] = ()
    if request.schema is not None:
        value, _ = literal.fill(request.schema.body, text, question=question)
        answer = msgspec.json.encode(value).decode()
    elif any(document.citations for document in request.documents):
        blocks = tuple(_cited(request, question, text))
        answer = "".join(block["text"] for block in blocks)
    else:
        answer = literal.read(question, text).text
    usage = Usage(input_tokens=tokens_of(_sent(request)), output_tokens=min(tokens_of(answer), request.output_bound))
    return Reply(text=answer, usage=usage, model="mock:reader", stop_reason="end_turn", blocks=blocks)


def _question(request: Request) -> tuple[str, str]:
    turns = [_text(message) for message in request.messages if message.role == "user"]
    return literal.split_turns(turns, [document.text or "" for document in request.documents], request.system or "")


def _sent(request: Request) -> str:
    """Everything that a provider would count: the system prompt, the schema, the documents and every turn."""
    schema = "" if request.schema is None else msgspec.json.encode(request.schema.body).decode()
    documents = (document.text or "" for document in request.documents)
    return "".join((request.system or "", schema, *documents, *map(_text, request.messages)))


def _text(message: Message) -> str:
    return "\n\n".join(str(block.get("text", "")) for block in as_blocks(message.content))


def _cited(request: Request, question: str, text: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for found in literal.read_each(question, [document.text or "" for document in request.documents], text):
        block = {"type": "text", "text": ("\n" if blocks else "") + found.text}
        places = [_place(request.documents[index], index, start, end) for index, start, end in found.places]
        blocks.append(block | {"citations": places} if places else block)
    return blocks


def _place(document: Attachment, index: int, start: int, end: int) -> dict[str, Any]:
    return {
        "type": "char_location",
        "document_index": index,
        "document_title": document.title,
        "cited_text": (document.text or "")[start:end],
        "start_char_index": start,
        "end_char_index": end,
    }
