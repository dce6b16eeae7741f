import pytest

from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Attachment, Message, Request, Schema

MODEL = "gemini:gemini-3.8-flash"


def test_a_request_is_put_into_geminis_words(exchange):
    turns = (
        Message("system", "Be kind."),
        Message("user", "one"),
        Message("assistant", "two"),
        Message("user", "three"),
    )
    schema = Schema.of({"type": "object", "properties": {"a": {"const": "x"}}, "required": ["a"]})
    request = Request(
        messages=turns, system="Be brief.", max_tokens=9, schema=schema, sampling={"top_p": 0.5, "stop": "END"},
        extra_body={"safetySettings": [], "generationConfig": {"topK": 3}},
    )  # fmt: skip
    sent = exchange(MODEL, None, request)
    assert sent.asked[0].path == "/v1/models/gemini-3.8-flash:generateContent"
    assert sent.body == {
        "systemInstruction": {"parts": [{"text": "Be brief.\n\nBe kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "one"}]},
            {"role": "model", "parts": [{"text": "two"}]},
            {"role": "user", "parts": [{"text": "three"}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 9,
            "thinkingConfig": {"thinkingLevel": "MINIMAL"},
            "topP": 0.5,
            "topK": 3,
            "stopSequences": ["END"],
            "responseMimeType": "application/json",
            "responseJsonSchema": {
                "type": "object",
                "properties": {"a": {"type": "string", "enum": ["x"]}},
                "required": ["a"],
                "additionalProperties": False,
            },
        },
        "safetySettings": [],
    }


def test_the_key_is_in_a_header_and_in_no_address(exchange):
    asked = exchange(MODEL).asked[0]
    assert asked.headers["x-goog-api-key"] == "sk-the-secret-key"
    assert "authorization" not in asked.headers
    assert "secret" not in asked.path


def test_images_and_documents_go_inline_and_text_goes_as_text(exchange):
    blocks = [
        {"type": "text", "text": "Look:"},
        {"type": "image", "media_type": "image/png", "data": b"png"},
        {"type": "image", "url": "https://example.org/a.png", "media_type": "image/png"},
        {"text": "in its own form"},
    ]
    pdf = Attachment(media_type="application/pdf", data=b"%PDF", digest=b"1")
    note = Attachment(media_type="text/plain", text="hello", title="a note", digest=b"2")
    request = Request(messages=(Message("user", blocks),), documents=(pdf, note))
    assert exchange(MODEL, None, request).body["contents"][0]["parts"] == [
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}},
        {"text": '<document title="a note">\nhello\n</document>'},
        {"text": "Look:"},
        {"inlineData": {"mimeType": "image/png", "data": "cG5n"}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}},
        {"text": "in its own form"},
    ]


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request.ask("x", extra_body={"contents": []}), "cannot set 'contents'"),
        (Request.ask("x", extra_body={"model": "other"}), "cannot set 'model'"),
        (Request.ask("x", extra_body={"generationConfig": {"maxOutputTokens": 9}}), "generationConfig.maxOutputTokens"),
        (Request.ask("x", extra_body={"generationConfig": {"candidateCount": 9}}), "generationConfig.candidateCount"),
        (Request.ask("x", extra_body={"generationConfig": None}), "cannot take 'generationConfig' away"),
        (Request.ask("x", extra_body={"generation_config": {"max_output_tokens": 9}}), "spelled 'generationConfig'"),
        (Request.ask("x", extra_body={"generationConfig": {"max_output_tokens": 9}}), "spelled 'maxOutputTokens'"),
        (Request.ask("x", extra_body={"service_tier": "flex"}), "spelled 'serviceTier'"),
        (Request.ask("x", sampling={"min_p": 0.5}), "'min_p'"),
        (Request(messages=(Message("system", "x"),)), "needs a turn after"),
        (Request(messages=(Message("user", "x"), Message("system", "y"))), "role 'system'"),
        (Request(messages=(Message("user", [{"type": "tool_use"}]),)), "type 'tool_use'"),
        (Request.ask("x", documents=(Attachment(media_type=DOCX, data=b"PK", digest=b""),)), "send its text"),
        (
            Request.ask("x", documents=(Attachment(media_type="text/plain", text="t", citations=True, digest=b""),)),
            "Anthropic alone",
        ),
    ],
)
def test_what_gemini_cannot_be_sent_is_refused_before_it_is_sent(exchange, request_, words):
    refused = exchange(MODEL, None, request_)
    assert refused.failure.kind is K.BAD_INPUT
    assert words in refused.failure.message
    assert refused.asked == []


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("gemini-2.5-flash-lite", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", {"thinkingBudget": 128}),  # it thinks always
        ("gemini-3.5-flash", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3.1-pro-preview", {"thinkingLevel": "LOW"}),
        ("gemini-4-argon", {"thinkingLevel": "LOW"}),
        ("gemini-2.0-flash", None),
    ],
)
def test_a_model_thinks_as_little_as_it_lets_itself_be_told_unless_it_is_asked_to(exchange, model, thinking):
    assert exchange(f"gemini:{model}").body["generationConfig"].get("thinkingConfig") == thinking
    own = Request.ask("x", extra_body={"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}})
    assert exchange(f"gemini:{model}", None, own).body["generationConfig"]["thinkingConfig"] == {"thinkingBudget": -1}
