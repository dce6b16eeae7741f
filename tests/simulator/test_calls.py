"""A provider that misbehaves: what it does is done and billed, and the log knows what its caller could have read."""

import asyncio
import http.client
import json
import time

import aiohttp
import pytest

from batchwork.simulator import Faults
from batchwork.simulator.faults import AFTER_KINDS
from tests.simulator.wire import ANTHROPIC, OPENAI, Got, ask_anthropic, ask_openai, chat, create_batch, message, send

WIRES = ("anthropic", "openai")


class Batches:
    """The batch calls of one wire, in the words of neither."""

    def __init__(self, sim, wire):
        self.sim, self.wire = sim, wire
        self.headers = ANTHROPIC if wire == "anthropic" else OPENAI
        self.path = "/v1/messages/batches" if wire == "anthropic" else "/v1/batches"

    def create(self, count=6) -> Got:
        body = message if self.wire == "anthropic" else chat
        return create_batch(self.sim, self.wire, {f"item-{n}": body(f"hello {n}") for n in range(count)})

    def get(self, batch_id):
        return send(self.sim, "GET", f"{self.path}/{batch_id}", None, self.headers).json

    def listed(self):
        return send(self.sim, "GET", self.path, None, self.headers).json["data"]

    def download(self, batch_id, file="output_file_id") -> Got:
        where = f"{self.path}/{batch_id}/results"
        if self.wire == "openai":
            where = f"/v1/files/{self.get(batch_id)[file]}/content"
        return send(self.sim, "GET", where, None, self.headers)

    def made(self, count=6):
        batch_id = self.create(count).json["id"]
        self.sim.advance(10)
        return batch_id

    def ended(self, batch_id):
        return (self.get(batch_id).get("processing_status") or self.get(batch_id)["status"]) in ("ended", "completed")

    def answer(self, line):
        """The answer object in one result line."""
        return line["result"]["message"] if self.wire == "anthropic" else line["response"]["body"]


@pytest.fixture(params=WIRES)
def batches(request, start):
    return Batches(start(batch_time_s=3), request.param)


def lines_of(got: Got):
    return got.raw.splitlines()


@pytest.mark.parametrize("kind", [*AFTER_KINDS, "reset_after", "unreadable_after"])
def test_a_batch_is_created_although_its_maker_is_told_otherwise(batches, kind):
    batches.sim.next_faults("create", [kind])
    if kind == "reset_after":
        with pytest.raises(ConnectionError):
            batches.create()
    else:
        got = batches.create()
        status = 200 if kind == "unreadable_after" else int(AFTER_KINDS[kind])
        assert got.status == (503 if batches.wire == "openai" and status == 529 else status)
        assert (b"<html>" in got.raw) == (kind == "unreadable_after")
    (batch,) = batches.listed()
    batches.sim.advance(10)
    assert len(lines_of(batches.download(batch["id"]))) == 6
    log = batches.sim.log()
    assert log["total"]["billed"] == 6
    assert log["batches"][batch["id"]]["create_fault"] == kind


@pytest.mark.parametrize("kind", ["408", "409", "422", "500", "529"])
def test_a_plain_status_creates_nothing(batches, kind):
    batches.sim.next_faults("create", [kind])
    assert batches.create().status >= 400
    assert batches.listed() == []
    assert batches.sim.log()["batches"] == {}


@pytest.mark.parametrize("kind", [*AFTER_KINDS, "unreadable_after"])
def test_a_live_call_is_billed_although_its_caller_is_told_otherwise(sim, kind):
    sim.next_faults("live", [kind, kind])
    for got in (ask_anthropic(sim, message()), ask_openai(sim, chat())):
        assert (got.status == 200) == (kind == "unreadable_after")
    total = sim.log()["total"]
    assert (total["answered"], total["billed"]) == (0, 2)
    assert total["nano_dollars"] > 0
    assert not any(row["fetchable"] for row in sim.log()["requests"])


def test_a_call_that_hangs_is_done_and_never_answered(sim):
    sim.next_faults("live", ["hang_after"])
    link = http.client.HTTPConnection("127.0.0.1", int(sim.url.rsplit(":", 1)[1]), timeout=0.3)
    link.request("POST", "/v1/messages", json.dumps(message()).encode(), ANTHROPIC)
    with pytest.raises(TimeoutError):
        link.getresponse()
    link.close()
    total = sim.log()["total"]
    assert (total["answered"], total["billed"]) == (0, 1)


def test_a_header_can_be_larger_than_a_client_reads(batches):
    sim = batches.sim
    sim.next_faults("live", ["huge_headers"])
    sim.next_faults("create", ["huge_headers"])
    with pytest.raises(http.client.HTTPException):
        ask_anthropic(sim, message())
    with pytest.raises(http.client.HTTPException):
        batches.create()
    sim.advance(10)
    assert (sim.log()["total"]["answered"], sim.log()["total"]["billed"]) == (6, 7)


@pytest.mark.parametrize("kind", ["null", "no_usage", "zero_usage"])
def test_a_damaged_answer_is_billed_live_and_in_a_batch(batches, kind):
    sim, wire = batches.sim, batches.wire
    sim.set_faults({kind: 1.0})
    asked = ask_anthropic(sim, message()) if wire == "anthropic" else ask_openai(sim, chat())
    batch_id = batches.made(3)
    answers = [asked.json, *(batches.answer(json.loads(line)) for line in lines_of(batches.download(batch_id)))]
    assert len(answers) == 4
    for answer in answers:
        if kind == "null":
            assert (answer["content"] if wire == "anthropic" else answer["choices"][0]["message"]) is None
        elif kind == "no_usage":
            assert "usage" not in answer
        else:
            counts = {name: n for name, n in answer["usage"].items() if isinstance(n, int)}
            assert set(counts.values()) == {0}
        if kind != "null":
            assert "hello" in json.dumps(answer)
    total = sim.log()["total"]
    assert total["billed"] == 4
    assert all(row["nano_dollars"] > 0 for row in sim.log()["requests"])


def test_a_lost_line_stays_lost_and_its_request_is_billed(batches):
    sim = batches.sim
    sim.next_faults("item", ["missing", "not_json", "duplicated", "ok", "ok", "ok"])
    batch_id = batches.made()
    first, second = batches.download(batch_id).raw, batches.download(batch_id).raw
    assert first == second
    read = []
    for line in first.splitlines():
        try:
            read.append(json.loads(line)["custom_id"])
        except json.JSONDecodeError:
            read.append(None)
    assert len(read) == 6
    assert read.count(None) == 1
    whole = [name for name in read if name is not None]
    assert (len(whole), len(set(whole))) == (5, 4)
    log = sim.log()
    assert log["total"]["billed"] == 6
    assert log["total"]["answered"] == 4 == sum(row["fetchable"] for row in log["requests"])


def test_an_item_that_never_ran_says_so_and_is_not_billed(batches):
    batches.sim.next_faults("item", ["expired", "canceled", "ok"])
    batch_id = batches.made(3)
    if batches.wire == "anthropic":
        told = sorted(json.loads(line)["result"]["type"] for line in lines_of(batches.download(batch_id)))
        assert told == ["canceled", "expired", "succeeded"]
    else:
        told = sorted(
            json.loads(line)["error"]["code"] for line in lines_of(batches.download(batch_id, "error_file_id"))
        )
        assert told == ["batch_cancelled", "batch_expired"]
    assert batches.sim.log()["total"]["billed"] == 1


def test_results_that_are_gone_are_gone_for_good(batches):
    batches.sim.next_faults("results", ["gone"])
    lost, other = batches.made(), batches.made()
    assert [batches.download(lost).status for _ in range(3)] == [404, 404, 404]
    assert batches.ended(lost)
    assert batches.download(other).status == 200
    batches.sim.set_faults("")
    assert batches.download(lost).status == 404
    log = batches.sim.log()
    assert {name: (row["gone"], row["whole_downloads"]) for name, row in log["batches"].items()} == {
        lost: (True, 0),
        other: (False, 1),
    }
    assert {row["batch_id"] for row in log["requests"] if row["fetchable"]} == {other}
    assert log["total"]["billed"] == 12


def test_a_share_of_the_batches_is_gone_whenever_they_are_asked_for(batches):
    batches.sim.set_faults("results:gone=0.5")
    made = [batches.made(1) for _ in range(12)]
    first = [batches.download(batch_id).status for batch_id in made]
    assert {200, 404} == set(first)
    assert [batches.download(batch_id).status for batch_id in made] == first


@pytest.mark.parametrize(("count", "left"), [(1, 0), (2, 1), (6, 4), (9, 6)])
def test_a_short_download_lacks_lines_and_the_next_is_whole(batches, count, left):
    batch_id = batches.made(count)
    batches.sim.next_faults("results", ["short"])
    assert len(lines_of(batches.download(batch_id))) == left
    assert len(lines_of(batches.download(batch_id))) == count


def test_every_download_can_have_an_order_of_its_own(batches):
    batch_id = batches.made(12)
    batches.sim.set_faults("results:shuffled=1")
    first, second = lines_of(batches.download(batch_id)), lines_of(batches.download(batch_id))
    assert first != second
    assert sorted(first) == sorted(second)


def test_a_trickling_download_comes_line_by_line(start):
    sim = start(batch_time_s=0, trickle_s=0.05)
    batches = Batches(sim, "anthropic")
    batch_id = batches.made(6)
    sim.next_faults("results", ["trickle"])
    link = http.client.HTTPConnection("127.0.0.1", int(sim.url.rsplit(":", 1)[1]), timeout=5)
    link.request("GET", f"/v1/messages/batches/{batch_id}/results", headers=ANTHROPIC)
    begun, answer, at = time.monotonic(), link.getresponse(), []
    while answer.readline():
        at.append(time.monotonic() - begun)
    link.close()
    assert len(at) == 6
    assert at[-1] - at[0] > 0.2


def test_counts_can_be_lower_than_the_truth_for_good(batches):
    batches.sim.next_faults("poll", ["low_counts"])
    batch_id = batches.made(6)
    for _ in range(2):
        counts = batches.get(batch_id)["request_counts"]
        assert (counts.get("succeeded") or counts["completed"]) == 4
    assert batches.ended(batch_id)
    assert len(lines_of(batches.download(batch_id))) == 6


PLAN = (
    "429=0.02,529=0.02,500=0.02,503=0.02,504=0.02,413=0.02,400=0.02,reset=0.02,reset_after=0.02,truncated=0.02,slow=0.01,"
    "refusal=0.02,max_tokens=0.02,empty=0.02,malformed=0.02,thinking=0.02"
)


async def ask(session, url, number):
    try:
        async with session.post(
            f"{url}/v1/messages", json=message(f"question {number}"), headers=ANTHROPIC
        ) as response:
            body = await response.read()
            return (
                (await response.json())["usage"]["output_tokens"]
                if response.status == 200 and body
                else response.status
            )
    except aiohttp.ClientError:
        return "cut"


async def storm(url, count):
    connector = aiohttp.TCPConnector(limit=50)
    async with aiohttp.ClientSession(connector=connector) as session:
        return await asyncio.gather(*(ask(session, url, number) for number in range(count)))


def test_every_call_of_a_storm_is_in_the_log_once_and_billed_if_it_was_answered(start):
    sim = start(faults=Faults.parse(PLAN), seed=11, time_scale=20)
    got = asyncio.run(storm(sim.url, 500))
    log = sim.log()
    assert log["total"]["received"] == len(log["prompts"]) == 500
    answered = [entry for entry in log["requests"] if entry["answered"]]
    assert len(answered) == sum(isinstance(one, int) and one < 400 for one in got)
    assert all(entry["billed"] for entry in answered)
    assert sum(one == "cut" for one in got) == sum(
        entry["fault"] in ("reset", "reset_after", "truncated") for entry in log["requests"]
    )
    unconfirmed = [entry for entry in log["requests"] if entry["billed"] and not entry["answered"]]
    assert {entry["fault"] for entry in unconfirmed} == {"reset_after", "truncated"}
    assert {entry["fault"] for entry in log["requests"]} >= {"429", "529", "413", "reset", "refusal", "thinking", None}
