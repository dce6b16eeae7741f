"""Errors of the chat wire, as `backends/_failures.py` reads them."""

import asyncio
import json

import msgspec
import pytest

from batchwork.backends import Setup, open_backend
from batchwork.backends._chat import ResultLine, _Response
from batchwork.clock import SystemClock
from batchwork.core.failure import FailureKind as K
from batchwork.core.failure_table import may_be_billed
from batchwork.core.reply import Limit

MODEL = "openai:gpt-6-luna"


def error(kind, code=None, message="no"):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("invalid_request_error"), K.REJECTED),
        (400, error("invalid_request_error", "context_length_exceeded"), K.TOO_LONG),
        (400, error("invalid_request_error", "unsupported_parameter"), K.REJECTED),
        (400, error("invalid_request_error", "content_filter"), K.REFUSED),
        (401, error("invalid_request_error", "invalid_api_key"), K.AUTH),
        (402, {"error": {"message": "credits", "code": 402}}, K.QUOTA),
        (403, b"", K.AUTH),
        (404, error("invalid_request_error", "model_not_found"), K.REJECTED),
        (408, b"", K.TIMEOUT),
        (409, b"", K.SERVER),
        (413, b"<html>", K.TOO_LONG),
        (422, {"detail": [{"loc": ["body"], "msg": "missing"}]}, K.REJECTED),
        (429, error("requests", "rate_limit_exceeded"), K.RATE_LIMITED),
        (429, error("insufficient_quota", "insufficient_quota"), K.QUOTA),
        (429, error("tokens"), K.RATE_LIMITED),
        (498, error("invalid_request_error", "capacity_exceeded"), K.OVERLOADED),
        (498, b"", K.OVERLOADED),
        (500, error("server_error"), K.SERVER),
        (502, b"Bad gateway", K.SERVER),
        (503, error("server_error"), K.OVERLOADED),
        (504, b"", K.TIMEOUT),
        (301, b"", K.REJECTED),
    ],
)
def test_every_error_has_one_kind_and_is_known_not_to_be_billed(exchange, status, body, kind):
    failure = exchange(MODEL, body, status=status).failure
    assert failure.kind is kind
    assert failure.status == status
    assert not failure.unconfirmed


@pytest.mark.parametrize("code", ["content_filter", "invalid_value"])
@pytest.mark.parametrize("model", ["azure:gpt-6-luna", "azure-classic:gpt-6-luna"])
def test_azure_charges_for_what_its_filter_stops(exchange, model, code):
    failure = exchange(model, error("invalid_request_error", code), status=400).failure
    assert may_be_billed(failure) == (code == "content_filter")


def test_a_line_of_a_batch_that_azures_filter_stops_is_charged_for():
    body = json.dumps(error("invalid_request_error", "content_filter")).encode()
    line = ResultLine(custom_id="a", response=_Response(status_code=400, body=msgspec.Raw(body)))
    charged = []
    for model in ("azure:gpt-6-luna", MODEL):
        base_url = "http://127.0.0.1:9/v1"
        backend, _ = open_backend(model, Setup(clock=SystemClock(), max_in_flight=1, base_url=base_url, api_key="k"))
        charged.append(may_be_billed(backend._line_result(line)))
    assert charged == [True, False]


@pytest.mark.parametrize(
    ("status", "files", "completed", "is_known"),
    [
        ("cancelled", {}, 0, True),
        ("expired", {"error_file_id": "e"}, 0, True),
        ("CANCELLED", {}, 0, True),
        ("cancelled", {"output_file_id": "o"}, 0, False),
        ("expired", {}, 3, False),
        ("expired", {}, None, False),
        ("completed", {}, 0, False),
    ],
)
def test_a_batch_that_ended_before_anything_ran_has_nothing_that_may_be_billed(
    canned, status, files, completed, is_known
):
    async def main():
        told = {"id": "b", "status": status, "request_counts": {"total": 5, "completed": completed}, **files}
        async with canned(told) as server:
            setup = Setup(clock=SystemClock(), base_url=server.url, api_key="k", max_in_flight=4)
            backend, _ = open_backend(MODEL, setup)
            progress = await backend.poll_batch("b")
            await backend.aclose()
            return progress

    progress = asyncio.run(main())
    assert progress.ended
    assert (progress.unlisted is not None and progress.unlisted.kind is K.EXPIRED) == is_known


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "model not there"}, "model not there"),
        ({"detail": "Not found"}, "Not found"),
        ({"object": "error", "message": "too hot", "code": 400}, "too hot"),
        (b"<html><h1>Bad   request</h1></html>", "Bad request"),
        (b"", "no explanation"),
        (["x"], '["x"]'),
    ],
)
def test_every_way_to_say_an_error_is_understood(exchange, body, words):
    assert words in exchange(MODEL, body, status=400).failure.message


def test_an_unknown_model_is_told_what_there_is(exchange):
    failure = exchange("openai:gpt-6-lunar", error("invalid_request_error", "model_not_found"), status=404).failure
    assert "gpt-6-luna," in failure.message
    assert failure.error_code == "model_not_found"


def test_the_wait_and_the_limits_come_with_a_refusal(exchange):
    headers = {"retry-after-ms": "1500", "x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0"}
    failure = exchange(MODEL, error("requests", "rate_limit_exceeded"), status=429, **headers).failure
    assert failure.retry_after_s == 1.5
    assert failure.limits.requests == Limit(per_minute=60, remaining=0)


def test_a_key_that_the_server_repeats_is_not_shown(exchange):
    failure = exchange(MODEL, error("x", "invalid_api_key", "wrong: sk-the-secret-key"), status=401).failure
    assert "sk-the-secret-key" not in str(failure)


def test_a_connection_lost_after_sending_may_have_been_billed(exchange):
    failure = exchange(MODEL, cut="before").failure
    assert (failure.kind, failure.unconfirmed) == (K.CONNECTION, True)


_PAGE = b"<html><body><h1>404 Not Found</h1></body></html>"


@pytest.mark.parametrize("status", [404, 405])
@pytest.mark.parametrize("body", [_PAGE, {"detail": "Not Found"}, {"error": {"message": "File Not Found"}}, b""])
def test_a_base_url_without_its_version_is_told_what_may_be_meant(exchange, body, status):
    failure = exchange("openai:qwen", body, status=status, base="").failure
    assert "the server knows no such path; did you mean the base_url http://127.0.0.1:" in failure.message
    assert failure.message.endswith("/v1?")


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", {"error": "Unexpected endpoint"}])
def test_a_page_instead_of_an_answer_is_told_what_may_be_meant_as_well(exchange, body):
    assert exchange("openai:qwen", body, base="").failure.message.endswith("/v1?")


def test_a_model_that_is_not_there_is_not_taken_for_a_path_that_is_not(exchange):
    said = {"error": {"message": "model 'qwen' not found"}}
    assert "no such path" not in exchange("openai:qwen", said, status=404, base="").failure.message
    assert "no such path" not in exchange("openai:qwen", {"detail": "Not Found"}, status=404).failure.message
    assert "is the base_url right?" in exchange("openai:qwen", _PAGE, status=404).failure.message
