"""The official SDK drives every live endpoint of OpenAI's wire."""

import json

import openai
import pytest

MODEL = "gpt-6-luna"
HELLO = [{"role": "user", "content": "hello there"}]
SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}


def test_a_chat_is_answered_and_says_that_it_is_simulated(sim, gpt):
    chat = gpt(sim).chat.completions.create(model=MODEL, messages=HELLO, max_completion_tokens=50)
    assert chat.choices[0].message.content == "hello there"
    assert chat.choices[0].finish_reason == "stop"
    assert chat.model == "simulated-gpt-6-luna"
    assert (chat.usage.prompt_tokens, chat.usage.completion_tokens) == (10, 3)
    assert chat._request_id.startswith("req_")


def test_a_streamed_chat_adds_up_and_ends_with_usage(sim, gpt):
    text = "a rather long answer " * 20
    chunks = list(
        gpt(sim).chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": text}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == text
    assert chunks[-1].usage.completion_tokens == (len(text) + 3) // 4


def test_several_choices_are_billed_as_often(sim, gpt):
    chat = gpt(sim).chat.completions.create(model=MODEL, messages=HELLO, n=3)
    assert [choice.index for choice in chat.choices] == [0, 1, 2]
    assert chat.usage.completion_tokens == 9


def test_an_answer_cut_by_the_limit_has_finish_reason_length(sim, gpt):
    chat = gpt(sim).chat.completions.create(model=MODEL, messages=HELLO, max_completion_tokens=1)
    assert (chat.choices[0].message.content, chat.choices[0].finish_reason) == ("hell", "length")


def test_structured_chat_and_structured_response_give_json(sim, gpt):
    chat = gpt(sim).chat.completions.create(
        model=MODEL,
        messages=HELLO,
        response_format={"type": "json_schema", "json_schema": {"name": "w", "schema": SCHEMA, "strict": True}},
    )
    response = gpt(sim).responses.create(
        model=MODEL,
        input="hello there",
        text={"format": {"type": "json_schema", "name": "w", "schema": SCHEMA, "strict": True}},
    )
    assert json.loads(chat.choices[0].message.content) == json.loads(response.output_text) == {"word": "hello there"}


def test_a_response_is_answered_with_instructions_and_items(sim, gpt):
    response = gpt(sim).responses.create(model=MODEL, instructions="be brief", input=HELLO, max_output_tokens=50)
    assert response.output_text == "hello there"
    assert response.status == "completed"
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


def test_a_response_cut_by_the_limit_is_incomplete(sim, gpt):
    response = gpt(sim).responses.create(model=MODEL, input="hello there", max_output_tokens=1)
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_a_required_tool_is_called(sim, gpt):
    tool = {
        "type": "function",
        "function": {
            "name": "note",
            "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        },
    }
    chat = gpt(sim).chat.completions.create(model=MODEL, messages=HELLO, tools=[tool], tool_choice="required")
    call = chat.choices[0].message.tool_calls[0]
    assert chat.choices[0].finish_reason == "tool_calls"
    assert json.loads(call.function.arguments) == {"text": "hello there"}


def test_models_are_listed_and_any_id_is_a_model(sim, gpt):
    client = gpt(sim)
    assert MODEL in {model.id for model in client.models.list()}
    assert client.models.retrieve("org/own-model").id == "org/own-model"


def test_an_unknown_key_is_401(start):
    sim = start(api_keys=frozenset({"right"}))
    with (
        openai.OpenAI(api_key="wrong", base_url=sim.openai_url, max_retries=0) as client,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        client.chat.completions.create(model=MODEL, messages=HELLO)
    assert caught.value.code == "invalid_api_key"
