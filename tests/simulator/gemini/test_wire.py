import pytest

from batchwork.simulator import Simulator
from tests.simulator.wire import GEMINI, create_batch, created_id, send, upload_gemini

CALL = "/v1/models/gemini-3.6-flash:generateContent"


@pytest.fixture(scope="module")
def running():
    with Simulator(persona="echo", batch_time_s=0.0, validation_time_s=0.0) as simulator:
        yield simulator


@pytest.fixture
def sim(running):
    running.reset()
    return running


def body(text="hello", **config):
    return {"contents": [{"role": "user", "parts": [{"text": text}]}], "generationConfig": config}


@pytest.mark.parametrize("path", [CALL, f"/gemini{CALL}", f"/gemini{CALL.replace('v1', 'v1beta')}"])
def test_a_call_is_answered_by_every_address_of_it(sim, path):
    answer = send(sim, "POST", path, body(), GEMINI)
    assert answer.json["candidates"][0]["content"]["parts"] == [{"text": "hello"}]
    assert answer.json["modelVersion"] == "simulated-gemini-3.6-flash"
    assert answer.headers["x-gemini-service-tier"] == "standard"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "contents is not specified"),
        (body(maxTokens=5), 'Unknown name "maxTokens"'),
        ({**body(), "temperature": 1}, 'Unknown name "temperature"'),
        (body(candidateCount=2), "Multiple candidates"),
        (body(responseJsonSchema={"type": "string"}), "only supported with response_mime_type"),
        (body(responseMimeType="application/json", responseJsonSchema={"const": 1}), "'const' is not supported"),
        (body(thinkingConfig={"thinkingLevel": "LOW", "thinkingBudget": 0}), "only one of"),
        ({**body(), "serviceTier": "gold"}, "gold"),
        ({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}, "valid role"),
        ({"contents": [{"parts": [{}]}]}, "must have one initialized field"),
    ],
)
def test_a_wrong_body_is_refused_in_googles_words(sim, wrong, words):
    answer = send(sim, "POST", CALL, wrong, GEMINI)
    assert answer.status == 400
    assert answer.json["error"]["status"] == "INVALID_ARGUMENT"
    assert words in answer.json["error"]["message"]


def test_a_call_without_a_key_and_a_rate_limit_are_refused_as_google_does():
    with Simulator(persona="echo", rpm=1, burst_s=1.0) as sim:
        assert send(sim, "POST", f"/gemini{CALL}", body()).json["error"]["status"] == "PERMISSION_DENIED"
        assert send(sim, "POST", CALL, body(), GEMINI).status == 200
        refused = send(sim, "POST", CALL, body(), GEMINI)
    assert refused.status == 429
    assert "retry-after" not in refused.headers
    quota, retry = refused.json["error"]["details"]
    assert "PerMinute" in quota["violations"][0]["quotaId"]
    assert retry["retryDelay"].endswith("s")


def test_a_long_system_instruction_is_cached_without_a_price_for_the_writing(sim):
    long = body() | {"systemInstruction": {"parts": [{"text": "word " * 4000}]}}
    first, second = (send(sim, "POST", CALL, long, GEMINI).json["usageMetadata"] for _ in range(2))
    assert "cachedContentTokenCount" not in first
    assert second["cachedContentTokenCount"] == 5000
    whole, reduced = (row["nano_dollars"] for row in sim.log()["requests"])
    assert reduced < whole


def test_a_tier_has_its_price(sim):
    for tier in ("standard", "flex", "priority"):
        assert send(sim, "POST", CALL, body() | {"serviceTier": tier}, GEMINI).headers["x-gemini-service-tier"] == tier
    standard, flex, priority = (row["nano_dollars"] for row in sim.log()["requests"])
    assert (flex, priority) == (pytest.approx(standard / 2, abs=1), 2 * standard)


def test_a_batch_tells_its_counts_as_texts_and_leaves_a_file_in_the_order_of_its_input(sim):
    made = created_id(create_batch(sim, "gemini", {str(n): body(f"text {n}") for n in range(5)} | {"bad": {}}))
    shown = send(sim, "GET", f"/gemini/v1/{made}", None, GEMINI).json
    assert shown["metadata"]["state"] == "BATCH_STATE_SUCCEEDED"
    assert shown["metadata"]["batchStats"] == {
        "requestCount": "6",
        "successfulRequestCount": "5",
        "failedRequestCount": "1",
    }
    file = shown["response"]["responsesFile"]
    lines = send(sim, "GET", f"/gemini/v1/{file}:download?alt=media", None, GEMINI).raw.splitlines()
    assert [line.partition(b'"key":"')[2].partition(b'"')[0] for line in lines] == [
        b"0",
        b"1",
        b"2",
        b"3",
        b"4",
        b"bad",
    ]
    assert b'"code":3' in lines[-1]


def test_a_file_that_is_no_batch_fails_it_as_a_whole_and_its_input_cannot_be_downloaded(sim):
    file = upload_gemini(sim, b"not json").json["file"]["name"]
    order = {"batch": {"displayName": "d", "inputConfig": {"fileName": file}}}
    made = send(sim, "POST", "/v1/models/m:batchGenerateContent", order, GEMINI).json["name"]
    shown = send(sim, "GET", f"/v1/{made}", None, GEMINI).json
    assert shown["error"]["message"] == "Line 1 of the input file is not valid JSON."
    assert send(sim, "GET", f"/v1/{file}:download", None, GEMINI).status == 400


def test_an_upload_says_how_far_it_is_when_a_piece_does_not_fit(sim):
    start = GEMINI | {"x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start"}
    where = send(sim, "POST", "/upload/v1/files", {}, start).headers["x-goog-upload-url"].removeprefix(sim.url)
    odd = GEMINI | {"x-goog-upload-command": "upload", "x-goog-upload-offset": "0"}
    assert "multiple of 262144" in send(sim, "POST", where, b"x", odd).json["error"]["message"]
    late = GEMINI | {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "7"}
    assert "0 bytes were received" in send(sim, "POST", where, b"x", late).json["error"]["message"]


def test_lists_have_pages_and_an_empty_one_has_no_name(sim):
    assert send(sim, "GET", "/gemini/v1/batches", None, GEMINI).json == {}
    names = [created_id(create_batch(sim, "gemini", {"a": body()})) for _ in range(3)]
    first = send(sim, "GET", "/gemini/v1/batches?pageSize=2", None, GEMINI).json
    rest = send(sim, "GET", f"/gemini/v1/batches?pageSize=2&pageToken={first['nextPageToken']}", None, GEMINI).json
    assert [one["name"] for one in first["operations"] + rest["operations"]] == names[::-1]
    assert "nextPageToken" not in rest
