"""OpenAI's files and batches, driven by the official SDK on a clock that is stepped."""

import json

import openai
import pytest

from tests.simulator.wire import OPENAI, chat, send

DAY_S = 24 * 3600
CHAT = "/v1/chat/completions"


def line(name, url=CHAT, **more):
    return {"custom_id": name, "method": "POST", "url": url, "body": chat(f"hello {name}", **more)}


def jsonl(lines):
    return "\n".join(json.dumps(one) for one in lines).encode()


def submit(client, content, endpoint=CHAT, **more):
    stored = client.files.create(file=("input.jsonl", content), purpose="batch")
    return client.batches.create(input_file_id=stored.id, endpoint=endpoint, completion_window="24h", **more)


def read(client, file_id):
    return {one["custom_id"]: one for one in map(json.loads, client.files.content(file_id).text.splitlines())}


@pytest.fixture
def slow(start):
    """A simulator whose batches take an hour, which only passes when a test says so."""
    return start(batch_time_s=3600, validation_time_s=60, cancel_time_s=600)


def test_a_batch_goes_through_its_states_and_its_counts_are_live(slow, gpt):
    client = gpt(slow)
    batch = submit(client, jsonl(line(f"r{n}") for n in range(20)), metadata={"run": "7", "chunk": "1"})
    assert (batch.status, batch.metadata) == ("validating", {"run": "7", "chunk": "1"})
    slow.advance(2000)
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "in_progress"
    assert 0 < batch.request_counts.completed < batch.request_counts.total == 20
    slow.advance(1661)
    assert client.batches.retrieve(batch.id).status == "finalizing"
    slow.advance(60)
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.request_counts.completed, batch.error_file_id) == ("completed", 20, None)
    out = read(client, batch.output_file_id)
    assert {name: one["response"]["body"]["choices"][0]["message"]["content"] for name, one in out.items()} == {
        f"r{n}": f"hello r{n}" for n in range(20)
    }
    assert list(out) != sorted(out, key=lambda name: int(name[1:]))
    assert batch.usage.output_tokens == sum(
        one["response"]["body"]["usage"]["completion_tokens"] for one in out.values()
    )


def test_a_request_that_fails_stands_in_the_error_file(slow, gpt):
    client = gpt(slow)
    batch = submit(client, jsonl([line("good"), line("bad", bogus=1)]))
    slow.advance(3720)
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.request_counts.failed) == ("completed", 1)
    assert set(read(client, batch.output_file_id)) == {"good"}
    bad = read(client, batch.error_file_id)["bad"]
    assert (bad["response"]["status_code"], bad["error"]) == (400, None)
    assert bad["response"]["body"]["error"]["code"] == "unknown_parameter"


def test_without_a_success_there_is_no_output_file(slow, gpt):
    client = gpt(slow)
    batch = submit(client, jsonl([line("bad", bogus=1)]))
    slow.advance(3720)
    batch = client.batches.retrieve(batch.id)
    assert batch.output_file_id is None
    assert set(read(client, batch.error_file_id)) == {"bad"}


INVALID = {
    "no JSON": (b'{"custom_id"', "invalid_json_line"),
    "an id used twice": (jsonl([line("a"), line("a")]), "duplicate_custom_id"),
    "another url": (jsonl([line("a", url="/v1/responses")]), "mismatched_url"),
    "two models": (jsonl([line("a"), line("b", model="gpt-6-sol")]), "mismatched_model"),
    "no body": (jsonl([{"custom_id": "a", "method": "POST", "url": CHAT}]), "missing_required_parameter"),
    "nothing": (b"\n", "empty_file"),
    "too many lines": (jsonl([line(f"{n}") for n in range(6)]), "too_many_requests"),
}


@pytest.mark.parametrize("name", INVALID)
def test_a_file_that_is_not_valid_fails_the_whole_batch_before_it_runs(start, gpt, name):
    content, code = INVALID[name]
    sim = start(batch_time_s=3600, validation_time_s=60, max_file_requests=5)
    client = gpt(sim)
    batch = submit(client, content)
    assert batch.status == "validating"
    sim.advance(61)
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.output_file_id, batch.request_counts.total) == ("failed", None, 0)
    assert code in {error.code for error in batch.errors.data}
    if code == "duplicate_custom_id":
        assert batch.errors.data[0].line == 2
    assert sim.log()["total"]["billed"] == 0


def test_a_cancelled_batch_takes_its_time_and_keeps_what_was_done(slow, gpt):
    client = gpt(slow)
    batch = submit(client, jsonl(line(f"r{n}") for n in range(40)))
    slow.advance(1800)
    assert client.batches.cancel(batch.id).status == "cancelling"
    slow.advance(500)
    assert client.batches.retrieve(batch.id).status == "cancelling"
    slow.advance(101)
    batch = client.batches.retrieve(batch.id)
    out, errors = read(client, batch.output_file_id), read(client, batch.error_file_id)
    assert batch.status == "cancelled"
    assert len(out) + len(errors) == 40
    assert {one["error"]["code"] for one in errors.values()} == {"batch_cancelled"}
    assert slow.log()["total"]["billed"] == len(out) > 0


def test_an_expired_batch_has_both_files(start, gpt):
    sim = start(batch_time_s=2 * DAY_S)
    client = gpt(sim)
    batch = submit(client, jsonl(line(f"r{n}") for n in range(40)))
    sim.advance(DAY_S)
    batch = client.batches.retrieve(batch.id)
    out, errors = read(client, batch.output_file_id), read(client, batch.error_file_id)
    assert batch.status == "expired"
    assert batch.expired_at == batch.expires_at
    assert len(out) + len(errors) == 40
    assert {(one["response"], one["error"]["code"]) for one in errors.values()} == {(None, "batch_expired")}


def test_an_ended_batch_cannot_be_cancelled(slow, gpt):
    client = gpt(slow)
    batch = submit(client, jsonl([line("a")]))
    slow.advance(4000)
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)


def test_responses_can_be_asked_in_a_batch(slow, gpt):
    client = gpt(slow)
    body = {"model": "gpt-6-luna", "input": "hello"}
    one = {"custom_id": "a", "method": "POST", "url": "/v1/responses", "body": body}
    batch = submit(client, jsonl([one]), endpoint="/v1/responses")
    slow.advance(4000)
    got = read(client, client.batches.retrieve(batch.id).output_file_id)["a"]["response"]["body"]
    assert got["output"][0]["content"][0]["text"] == "hello"


def test_the_list_is_newest_first_comes_in_pages_and_lags_when_told(start, gpt):
    sim = start(batch_time_s=3600, list_lag_s=30)
    client = gpt(sim)
    made = [submit(client, jsonl([line("a")])).id for _ in range(5)]
    assert list(client.batches.list()) == []
    sim.advance(31)
    assert [batch.id for batch in client.batches.list(limit=2)] == made[::-1]


ORDERS = {
    "no file": {"endpoint": CHAT, "completion_window": "24h"},
    "an unknown endpoint": {"input_file_id": "FILE", "endpoint": "/v1/moon", "completion_window": "24h"},
    "an odd window": {"input_file_id": "FILE", "endpoint": CHAT, "completion_window": "soon"},
    "too much metadata": {
        "input_file_id": "FILE",
        "endpoint": CHAT,
        "completion_window": "24h",
        "metadata": {f"k{n}": "v" for n in range(17)},
    },
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_wrong_order_is_refused_at_once(slow, gpt, name):
    stored = gpt(slow).files.create(file=("a.jsonl", b"x\n"), purpose="batch")
    order = {key: stored.id if value == "FILE" else value for key, value in ORDERS[name].items()}
    assert send(slow, "POST", "/v1/batches", order, OPENAI).status == 400


def test_a_batch_of_a_file_that_is_not_there_is_404(slow):
    order = {"input_file_id": "file-x", "endpoint": CHAT, "completion_window": "24h"}
    assert send(slow, "POST", "/v1/batches", order, OPENAI).status == 404


def test_a_batch_whose_creator_was_cut_off_can_be_found_by_its_metadata(slow, gpt):
    client = gpt(slow)
    stored = client.files.create(file=("a.jsonl", jsonl([line("a")])), purpose="batch")
    slow.next_faults("create", ["reset_after"])
    with pytest.raises(openai.APIConnectionError):
        client.batches.create(input_file_id=stored.id, endpoint=CHAT, completion_window="24h", metadata={"run": "9"})
    assert [batch.metadata for batch in client.batches.list()] == [{"run": "9"}]
