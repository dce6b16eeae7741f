"""Bodies that are no requests."""

import asyncio
import json
import random
from typing import Any

import pytest

from batchwork.prompts import Answer, open_prompt_service, process_multiple_prompts
from batchwork.server.api import API, ApiError
from batchwork.server.wire import each_decoded, many_decoded, one_decoded
from tests.server.house import JSON, MANY, ONE, House


def nested(depth: int, inside: str = "1") -> str:
    return "[" * depth + inside + "]" * depth


def bodies() -> list[tuple[str, bytes, str]]:
    """Hostile bodies: where they go, what they are, why."""
    made: list[tuple[str, bytes, str]] = []

    def add(path: str, body: Any, why: str) -> None:
        raw = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        made.append((path, raw, why))

    for path in (ONE, MANY):
        for raw in (
            b"",
            b" ",
            b"{",
            b"}",
            b"null",
            b"[]",
            b"1",
            b'"text"',
            b"{'prompt': 'x'}",
            b"\xff\xfe{",
            b"\x00",
            b"{}",
        ):
            add(path, raw, "not a request")
        for depth in (100, 1_000, 10_000, 100_000):
            add(path, nested(depth), "nested lists")
            add(path, '{"prompt":' * depth + "1" + "}" * depth, "nested objects")
            add(path, "[" * depth, "never closed")
        add(path, b'{"prompt": "' + b"a" * (10 * 2**20) + b'"}', "10 MB")
        add(path, b"[" * (9 * 2**20), "9 MB of brackets")

    def items(fields: Any, why: str) -> None:
        raw = fields if isinstance(fields, str) else json.dumps(fields)
        add(ONE, raw, why)
        add(MANY, f'{{"prompts": [{{"prompt": "fine"}}, {raw}]}}', why)

    for number in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 5000, "0x10", "01", "1.", "+1", ".5"):
        items(f'{{"prompt": "x", "max_tokens": {number}}}', "strange number")
        schema = f'{{"type": "json_schema", "json_schema": {{"schema": {{"minimum": {number}}}}}}}'
        if number not in ("1" * 5000, "1e999", "-1e999"):
            items(f'{{"prompt": "x", "response_format": {schema}}}', "strange number in a schema")
    for escape in (
        r"\ud800",
        r"\udc00",
        r"\ud800\ud800",
        r"\udfff\ud800",
        r"\ud83d\u0041",
        r"\u12",
        r"\x41",
        r"\q",
        "\n",
        "\x00",
    ):
        items(f'{{"prompt": "a{escape}b"}}', "not Unicode")
        items(f'{{"prompt": "x", "id": "{escape}z"}}', "not Unicode in an id")
    for raw in (b"\xed\xa0\x80", b"\xff", b"\xc0\xaf", b"\xf5\x80\x80\x80"):
        add(ONE, b'{"prompt": "' + raw + b'"}', "not UTF-8")
        add(MANY, b'{"prompts": [{"prompt": "' + raw + b'"}]}', "not UTF-8")
    wrong: list[Any] = [None, 1, 1.5, True, [], {}, [1], {"a": 1}]
    for value in wrong:
        if value is not None:
            items({"prompt": value}, "prompt of the wrong type")
            for name in ("system", "model", "id", "extract_field_path"):
                items({"prompt": "x", name: value}, f"{name} of the wrong type")
        for name in ("messages", "response_format", "max_tokens"):
            if value not in (None, 1, [], True) or (name, value) in (("messages", 1), ("response_format", [])):
                items({"prompt": "x", name: value}, f"{name} of the wrong type")
        add(MANY, {"prompts": value}, "prompts of the wrong type")
        add(MANY, {"prompts": [value]}, "a prompt of the wrong type")
        if value not in (None, 1):
            add(MANY, {"prompts": [{"prompt": "x"}], "batch_size": value}, "batch_size of the wrong type")
    for size in (0, -1, 1001, 10**30, "5"):
        add(MANY, {"prompts": [{"prompt": "x"}], "batch_size": size}, "batch_size out of range")
    for tokens in (0, -5, 10**9, 10**40, "7", 2.5):
        items({"prompt": "x", "max_tokens": tokens}, "max_tokens out of range")
    for extra in ("stream", "tools", "Prompt", "", "__proto__"):
        items({"prompt": "x", extra: 1}, "unknown field")
    add(MANY, {"prompts": []}, "no prompts")
    add(MANY, {"prompts": [{"prompt": "x"}] * 1001}, "too many prompts")
    add(MANY, {"prompts": [{"prompt": "x", "id": "a"}, {"prompt": "y", "id": "a"}]}, "duplicate ids")
    add(MANY, {"prompts": [{"prompt": "x"}], "more": 1}, "unknown field")
    for kind in ("json_object", "", None, 1, "JSON_SCHEMA"):
        items({"prompt": "x", "response_format": {"type": kind, "json_schema": {"schema": {}}}}, "format type")
    for schema in (None, 1, "x", [], [{}]):
        items(
            {"prompt": "x", "response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}, "no schema"
        )
    for name in ("", "a b", "a" * 65, 1, "ü"):
        held = {"name": name, "schema": {}}
        items({"prompt": "x", "response_format": {"type": "json_schema", "json_schema": held}}, "schema name")
    for turns in ([1], [{}], [{"role": "user"}], [{"role": "king", "content": "x"}], [{"role": "user", "content": 1}]):
        items({"messages": turns}, "messages of the wrong form")
    # These are single item problems among many, so they are refused alone only.
    for fields in (
        {"prompt": "x", "messages": [{"role": "user", "content": "x"}]},
        {"messages": []},
        {"messages": [{"role": "user", "content": [{"no": "type"}]}]},
        {"prompt": "x", "extract_field_path": "a..b"},
        {"prompt": "x", "extract_field_path": "a["},
        {"prompt": "x", "extract_field_path": "[x]"},
        {"prompt": "x", "model": "other:model"},
    ):
        add(ONE, fields, "an item that cannot be asked")
    deep: Any = {"type": "string"}
    for _ in range(200):
        deep = {"items": deep}
    for schema in (
        deep,
        {"type": "no such type"},
        {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:1/schema.json"},
        {"$ref": "#"},
        {"pattern": "("},
        {"pattern": "a" * 5000},
        {"enum": []} | {"minimum": "x"},
        {"properties": {str(i): {"type": "string", "description": "x" * 100} for i in range(9000)}},
        {"allOf": [{"$ref": "#/allOf/0"}]},
    ):
        held = {"type": "json_schema", "json_schema": {"schema": schema}}
        add(ONE, {"prompt": "x", "response_format": held}, "a schema that cannot be used")
    return made


def test_three_hundred_hostile_bodies_get_a_documented_error_each_and_the_server_goes_on(echo: House) -> None:
    hostile = bodies()
    assert len(hostile) >= 300
    for path, body, why in hostile:
        answered = echo.send("POST", path, body, JSON)
        if answered.status == 200:  # among many, a prompt that is none is that prompt's error
            assert path == MANY, (why, body[:200], answered)
            assert answered.json()["results"][-1]["error_code"] in ("invalid_request", "duplicate_id"), (
                why,
                body[:200],
            )
            continue
        assert 400 <= answered.status < 500, (why, body[:200], answered)
        status, retryable, _ = API.errors[answered.code]
        assert (status, retryable) == (answered.status, answered.json()["retryable"])
    assert echo.prompt(prompt="still here").json()["response"] == "still here"


def test_a_hundred_random_mutations_of_a_good_body_never_break_the_server(echo: House) -> None:
    dice = random.Random(5)
    good = json.dumps({"prompts": [{"prompt": "é😀", "id": "a", "max_tokens": 5}, {"prompt": "b"}], "batch_size": 2})
    for _ in range(200):
        raw = bytearray(good.encode())
        for _ in range(dice.randint(1, 6)):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        answered = echo.post(MANY, bytes(raw))
        assert answered.status == 200 or answered.code in API.errors
        assert answered.status < 500


@pytest.mark.parametrize(
    ("fields", "code", "where"),
    [
        ([], "prompt_count", "/prompts"),
        ([{"prompt": "x"}] * 1001, "prompt_count", "/prompts"),
    ],
)
def test_a_refusal_names_the_place(echo: House, fields: Any, code: str, where: str) -> None:
    answered = echo.prompts(fields)
    assert (answered.status, answered.code, answered.json()["where"]) == (422, code, where)


MALFORMED: list[tuple[Any, str]] = [
    ({"prompt": 3, "id": "c"}, "must be a text or null, not a whole number (at /prompt)"),
    (5, 'a prompt must be an object like {"prompt": "..."}, not a whole number'),
    ({}, "a prompt has either 'prompt' or 'messages'"),
    ({"prompt": "x", "max_tokens": 0}, "must be at least 1 (at /max_tokens)"),
    ({"prompt": "x", "max_tokens": 1.5}, "must be a whole number (at /max_tokens)"),
    ({"prompt": "x", "id": ""}, "must have at least 1 character (at /id)"),
    ({"prompt": "x", "id": "a"}, "prompts 0 and 6 have the same id 'a'; this one was not asked (at /id)"),
    ({"messages": []}, "must have at least 1 element (at /messages)"),
    ({"messages": [{"role": "king", "content": "x"}]}, "must be 'user', 'assistant' or 'system', not 'king'"),
    ({"messages": [{"role": "user"}]}, "the field 'content' is missing (at /messages/0)"),
    ({"prompt": "x", "top_p": 0.5}, 'sampling parameters stand in "sampling": {"top_p": ...}'),
    ({"prompt": "x", "tools": []}, "batchwork.run takes them in extra_body"),
    ({"prompt": "x", "Prompt": "y"}, "there is no field 'Prompt'; there are prompt, messages, response_format"),
    ({"prompt": "x", "model": "echo"}, "the model 'echo' is not served here; did you mean mock:echo?"),
]


def test_a_malformed_prompt_is_its_own_error_in_plain_words_and_the_others_are_asked(echo: House) -> None:
    good = {"prompt": "x", "id": "a"}
    items = [good, *(item for item, _ in MALFORMED[1:]), MALFORMED[0][0], {"prompt": "y"}]
    answered = echo.post(MANY, {"prompts": items})
    assert answered.status == 200
    first, *wrong, one, last = answered.json()["results"]
    assert (first["response"], last["response"]) == ("x", "y")
    assert (one["id"], one["error"]) == ("c", MALFORMED[0][1])
    for (item, words), told in zip(MALFORMED[1:], wrong, strict=True):
        assert words in told["error"], (item, told)
        assert told["usage"] is None
    assert answered.json()["summary"]["failed"] == len(MALFORMED)


def test_the_python_door_has_the_same_words_for_the_same_prompts(echo: House) -> None:
    async def main() -> list[Answer]:
        async with open_prompt_service("mock:echo") as service:
            return (await process_multiple_prompts(items, service)).answers

    items = [{"prompt": "x", "id": "a"}, *(item for item, _ in MALFORMED[1:])]
    answers, over_http = asyncio.run(main()), echo.post(MANY, {"prompts": items}).json()["results"]
    pairs = [(answer.error, told["error"]) for answer, told in zip(answers, over_http, strict=True)]
    assert [pair for pair in pairs if len(set(pair)) > 1] == [
        ("a prompt is text or a dict, not int", MALFORMED[1][1])  # each in its own language
    ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"prompt":"\xff"}', "not UTF-8: invalid start byte at byte 11"),
        (b"nope", "invalid character at byte 0"),
        (b'{"prompt": "\xc3\xa4", "id": tru}', "invalid character at byte 23"),
        (b'{"prompt": "a"} x', "invalid character at byte 16"),
        (rb'{"prompt":"\\ud800 \ud83d\ude00 \udc00"}', r"half of a character (\udc00) at byte 32"),
        (b" ", "the body is empty"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
    ],
)
def test_a_body_that_is_not_json_is_told_the_byte(body: bytes, words: str) -> None:
    with pytest.raises(ApiError) as refused:
        one_decoded(body, 1000)
    assert refused.value.code == "invalid_json"
    assert words in str(refused.value)


def test_what_is_wrong_inside_of_one_of_many_prompts_names_the_prompt() -> None:
    body = many_decoded(b'{"prompts": [{"prompt": "a"}, {"prompt":"\xff"}]}')
    with pytest.raises(ApiError, match="prompt 1 is not UTF-8: invalid start byte at byte 11 of it") as refused:
        list(each_decoded(body, 1000))
    assert refused.value.where == "/prompts/1"
