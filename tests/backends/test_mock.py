import asyncio
import json

from batchwork.backends import Setup, open_backend
from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.request import Attachment, Message, Request, Schema

BILL = "Invoice 17\nTotal: $1,250.00\nTax: $50.00\n"


def ask(request):
    async def main():
        backend, _ = open_backend("mock:reader", Setup(clock=SystemClock(), max_in_flight=1))
        reply = await backend.complete(request)
        await backend.aclose()
        return reply

    return asyncio.run(main())


def bill(**fields):
    return Attachment(media_type="text/plain", digest=b"0" * 16, text=BILL, title="Bill", **fields)


def test_it_answers_from_the_prompt_alone():
    assert ask(Request.ask(f"{BILL}\nWhat is the total?")).text == "$1,250.00"


def test_it_answers_from_an_attached_document():
    assert ask(Request.ask("What is the tax?", documents=(bill(),))).text == "$50.00"


def test_it_fills_a_schema():
    body = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
    reply = ask(Request.ask("What is the total?", documents=(bill(),), schema=Schema.of(body)))
    assert json.loads(reply.text) == {"total": 1250}


def test_it_says_where_a_cited_answer_stands():
    reply = ask(Request.ask("What is the total?", documents=(bill(citations=True),)))
    (place,) = reply.blocks[0]["citations"]
    assert BILL[place["start_char_index"] : place["end_char_index"]] == place["cited_text"]
    assert "1,250.00" in place["cited_text"]


def test_a_reask_is_answered_to_the_question_before_it():
    turns = (
        Message("user", f"{BILL}\nWhat is the total?"),
        Message("assistant", "x"),
        Message("user", "That is not valid."),
    )
    assert ask(Request(messages=turns)).text == "$1,250.00"


def test_it_says_that_it_is_a_mock_and_when_it_does_not_know():
    reply = ask(Request.ask(f"{BILL}\nWhat is the phone number?"))
    assert reply.model == "mock:reader"
    assert "1,250" not in reply.text


def test_its_usage_is_a_quarter_of_the_characters_of_everything_that_was_sent():
    asked = {"messages": (Message("user", "x" * 400),)}
    body = {"type": "object", "description": "d" * 400}
    alone = ask(Request(**asked)).usage.input_tokens
    assert alone == 101
    more = {
        "system": "s" * 400,
        "schema": Schema.of(body),
        "documents": (Attachment(media_type="text/plain", digest=b"0" * 16, text="t" * 400),),
        "messages": (*asked["messages"], Message("assistant", "a" * 400), Message("user", "u" * 400)),
    }
    grown = {name: ask(Request(**{**asked, name: value})).usage.input_tokens - alone for name, value in more.items()}
    assert grown == {"system": 100, "schema": len(json.dumps(body, separators=(",", ":"))) // 4, "documents": 100,
                     "messages": 200}  # fmt: skip


def test_the_echo_keeps_to_max_tokens_and_says_the_same_when_it_is_asked_again():
    cut = asyncio.run(MockBackend(clock=SystemClock()).complete(Request.ask("twelve signs", max_tokens=2)))
    assert (cut.text, cut.truncated, cut.usage.output_tokens) == ("twelve ", True, 2)
    reask = (Message("user", "no JSON"), Message("assistant", "no JSON"), Message("user", "Your answer does not fit"))
    again = Request(messages=reask, schema=Schema.of({"type": "object"}))
    assert asyncio.run(MockBackend(clock=SystemClock()).complete(again)).text == "no JSON"
