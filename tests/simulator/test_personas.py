"""Who answers: echo, schema, script and the literal reader."""

import base64
import json

import jsonschema_rs
import pytest

from tests.simulator.wire import ANTHROPIC, OPENAI, ask_anthropic, ask_openai, chat, create_batch, message, send

INVOICE = "Acme Corp\nInvoice number: INV-001\nDate: March 4, 2026\nTotal: $1,250.50\n"
FIELDS = {
    "type": "object",
    "properties": {
        "invoice_number": {"type": "string"},
        "date": {"type": "string", "format": "date"},
        "total": {"type": "number"},
        "purchase_order": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["invoice_number", "date", "total", "purchase_order"],
    "additionalProperties": False,
}


def test_the_schema_persona_is_valid_through_references_and_recursion_and_the_same_for_the_same_seed(start):
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        "required": ["name", "next"],
        "additionalProperties": False,
    }
    schema = {**node, "$defs": {"node": node}}
    body = chat(response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": True}})
    first, again = (ask_openai(start(persona="schema", seed=5), body).json for _ in range(2))
    said = first["choices"][0]["message"]["content"]
    assert said == again["choices"][0]["message"]["content"]
    assert jsonschema_rs.validator_for(schema).is_valid(json.loads(said))


def test_the_reader_answers_only_what_stands_in_the_prompt(start):
    sim = start(persona="reader")
    found = ask_anthropic(sim, message(f"{INVOICE}\nWhat is the total?")).json
    absent = ask_anthropic(sim, message(f"{INVOICE}\nWhat is the discount?")).json
    assert found["content"][0]["text"] == "$1,250.50"
    assert "cannot find" in absent["content"][0]["text"]


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_the_reader_fills_a_schema_from_the_prompt(start, wire):
    sim = start(persona="reader")
    text = f"Extract the fields of this invoice.\n\n{INVOICE}"
    if wire == "anthropic":
        body = message(text, output_config={"format": {"type": "json_schema", "schema": FIELDS}})
        said = ask_anthropic(sim, body).json["content"][0]["text"]
    else:
        form = {"type": "json_schema", "json_schema": {"name": "i", "schema": FIELDS, "strict": True}}
        said = ask_openai(sim, chat(text, response_format=form)).json["choices"][0]["message"]["content"]
    assert json.loads(said) == {
        "invoice_number": "INV-001",
        "date": "2026-03-04",
        "total": 1250.5,
        "purchase_order": None,
    }


def cited(sim, source, question):
    block = {"type": "document", "source": source, "title": "Bill", "citations": {"enabled": True}}
    turn = {"role": "user", "content": [block, {"type": "text", "text": question}]}
    return ask_anthropic(sim, {**message(), "messages": [turn]}).json["content"]


def test_citations_point_to_where_it_really_stands(start):
    text = "\U0001f9fe " + INVOICE
    source = {"type": "text", "media_type": "text/plain", "data": text}
    blocks = cited(start(persona="reader"), source, "What is the invoice number and the total?")
    assert [block["text"].strip() for block in blocks] == ["INV-001", "$1,250.50"]
    for block in blocks:
        (citation,) = block["citations"]
        assert citation["type"] == "char_location"
        assert text[citation["start_char_index"] : citation["end_char_index"]] == citation["cited_text"]
        assert block["text"].strip() in citation["cited_text"]
        assert (citation["document_index"], citation["document_title"]) == (0, "Bill")


def test_citations_of_own_chunks_name_the_chunk(start):
    chunks = [{"type": "text", "text": "Total: $5.00\n"}, {"type": "text", "text": "Tax: $1.00\n"}]
    blocks = cited(start(persona="reader"), {"type": "content", "content": chunks}, "What is the tax?")
    (citation,) = blocks[0]["citations"]
    assert (citation["type"], citation["start_block_index"], citation["end_block_index"]) == (
        "content_block_location",
        1,
        2,
    )
    assert citation["cited_text"] == "Tax: $1.00\n"


def one_page_pdf(*lines: str) -> bytes:
    shown = "\n".join(f"BT /F 12 Tf 50 {700 - 20 * n} Td ({line}) Tj ET" for n, line in enumerate(lines)).encode()
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R "
        b"/Resources << /Font << /F 4 0 R >> >> >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, part) for n, part in enumerate(parts, start=1))
    return b"%PDF-1.4\n" + body + b"trailer << /Root 1 0 R /Size 6 >>\n%%EOF"


def test_a_pdf_sent_as_it_is_is_read_and_cited_by_page(start):
    data = base64.b64encode(one_page_pdf("Invoice number: INV-9", "Total: $12.50")).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": data}
    sim = start(persona="reader")
    (block,) = cited(sim, source, "What is the total?")
    assert block["text"] == "$12.50"
    (citation,) = block["citations"]
    assert (citation["type"], citation["start_page_number"], citation["end_page_number"]) == ("page_location", 1, 2)
    assert citation["cited_text"] == "Total: $12.50"
    asked = [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{data}"}},
        {"type": "text", "text": "What is the invoice number?"},
    ]
    said = ask_openai(sim, {**chat(), "messages": [{"role": "user", "content": asked}]}).json
    assert said["choices"][0]["message"]["content"] == "INV-9"


def test_a_broken_pdf_is_refused(start):
    block = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
    turn = {"role": "user", "content": [block, {"type": "text", "text": "What?"}]}
    assert ask_anthropic(start(), {**message(), "messages": [turn]}).status == 400


def test_a_repeated_question_is_answered_from_the_first_turn(start):
    turns = [
        {"role": "user", "content": "mean 4.5, median 5\n\nWhat is the mean?"},
        {"role": "assistant", "content": "about five"},
        {"role": "user", "content": "That is not valid: 'about five' is not a number. Answer again."},
    ]
    said = ask_anthropic(start(persona="reader"), {**message(), "messages": turns}).json
    assert said["content"][0]["text"] == "4.5"


def test_what_is_not_in_the_document_is_not_cited(start):
    source = {"type": "text", "media_type": "text/plain", "data": INVOICE}
    (block,) = cited(start(persona="reader"), source, "What is the discount?")
    assert block["citations"] is None
    assert "cannot find" in block["text"]


RECURSIVE = {
    "type": "object",
    "properties": {"next": {"$ref": "#"}},
    "required": ["next"],
    "additionalProperties": False,
}


def structured(schema, **more):
    wanted = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema, **more}}
    return chat("hello", response_format=wanted)


@pytest.mark.parametrize("persona", ["echo", "schema", "reader"])
@pytest.mark.parametrize(
    "schema",
    [
        RECURSIVE,
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}, "required": ["a"]},
        {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"$ref": "#"}, "minItems": 1}},
            "required": ["a"],
        },
        {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]},
        {"type": "object", "properties": ["a"], "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": "low"}}, "required": ["a"]},
    ],
)
def test_a_schema_without_an_instance_is_answered_or_refused_and_never_breaks_the_server(start, persona, schema):
    sim = start(persona=persona)
    tool = {"type": "function", "function": {"name": "t", "parameters": schema}}
    for got in (ask_openai(sim, structured(schema)), ask_openai(sim, chat("hello", tools=[tool]))):
        assert got.status in (200, 400)
        assert got.status == 200 or "schema" in got.json["error"]["message"]


def test_a_strict_schema_that_requires_itself_is_refused_by_name_alone_and_in_a_batch(start):
    sim = start(batch_time_s=5)
    got = ask_openai(sim, structured(RECURSIVE, strict=True))
    assert (got.status, "requires itself" in got.json["error"]["message"]) == (400, True)
    batch_id = create_batch(sim, "openai", {"bad": structured(RECURSIVE, strict=True), "good": chat("hello")}).json[
        "id"
    ]
    sim.advance(60)
    shown = send(sim, "GET", f"/v1/batches/{batch_id}", None, OPENAI).json
    assert shown["request_counts"] == {"total": 2, "completed": 1, "failed": 1}


def test_a_recursive_schema_ends_where_a_reference_offers_something_flat(start):
    node = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/end"}, {"$ref": "#"}]}},
        "required": ["next"],
        "additionalProperties": False,
        "$defs": {"end": {"type": "string"}},
    }
    got = ask_openai(start(persona="schema"), structured(node, strict=True))
    assert jsonschema_rs.validator_for(node).is_valid(json.loads(got.json["choices"][0]["message"]["content"]))


def test_a_script_says_what_happens_to_which_call_and_how_often(start, tmp_path):
    script = tmp_path / "script.json"
    rules = [
        {"contains": "pear", "do": ["429", "refusal", "ok"]},
        {"custom_id": "b", "do": ["500"]},
        {"contains": "plum", "do": [{"kind": "ok", "text": "as told"}]},
        {"contains": "json", "do": [{"json": {"a": 1}}]},
    ]
    script.write_text(json.dumps({"persona": "echo", "rules": rules}))
    sim = start(persona=f"script:{script}", batch_time_s=5)
    answers = [ask_anthropic(sim, message("a pear")) for _ in range(4)]
    assert [one.status for one in answers] == [429, 200, 200, 200]
    assert [one.json["stop_reason"] for one in answers[1:]] == ["refusal", "end_turn", "end_turn"]
    assert ask_anthropic(sim, message("a plum")).json["content"][0]["text"] == "as told"
    assert ask_anthropic(sim, message("json")).json["content"][0]["text"] == '{"a":1}'
    asked = [{"custom_id": name, "params": message("an apple")} for name in "ab"]
    made = send(sim, "POST", "/v1/messages/batches", {"requests": asked}, ANTHROPIC).json
    sim.advance(5)
    lines = send(sim, "GET", f"/v1/messages/batches/{made['id']}/results", None, ANTHROPIC).raw.splitlines()
    assert {line["custom_id"]: line["result"]["type"] for line in map(json.loads, lines)} == {
        "a": "succeeded",
        "b": "errored",
    }
