import pytest

from batchwork.simulator import Simulator
from tests.simulator.wire import OPENAI, chat, create_batch, created_id, send

JOBS = "/mistral/v1/batch/jobs"


@pytest.fixture(scope="module")
def running():
    with Simulator(persona="echo", batch_time_s=10.0, validation_time_s=0.0, cancel_time_s=1.0) as simulator:
        yield simulator


@pytest.fixture
def sim(running):
    running.reset()
    return running


def made(sim, count=4):
    bodies = {str(n): chat(f"text {n}", model="mistral-small-latest") for n in range(count)}
    return created_id(create_batch(sim, "mistral", bodies))


def test_a_job_leaves_a_file_that_is_kept_for_a_day(sim):
    job = f"{JOBS}/{made(sim)}"
    assert send(sim, "GET", job, None, OPENAI).json["status"] == "RUNNING"
    sim.advance(11)
    shown = send(sim, "GET", job, None, OPENAI).json
    assert (shown["status"], shown["succeeded_requests"], shown["error_file"]) == ("SUCCESS", 4, None)
    file = f"/mistral/v1/files/{shown['output_file']}/content"
    assert len(send(sim, "GET", file, None, OPENAI).raw.splitlines()) == 4
    sim.advance(25 * 3600)
    assert send(sim, "GET", file, None, OPENAI).status == 404


def test_what_a_cancelled_job_had_not_done_stands_in_no_file(sim):
    job = f"{JOBS}/{made(sim, 20)}"
    sim.advance(5)
    assert send(sim, "POST", f"{job}/cancel", b"", OPENAI).json["status"] == "CANCELLATION_REQUESTED"
    sim.advance(5)
    shown = send(sim, "GET", job, None, OPENAI).json
    assert shown["status"] == "CANCELLED"
    lines = send(sim, "GET", f"/mistral/v1/files/{shown['output_file']}/content", None, OPENAI).raw.splitlines()
    assert 0 < len(lines) == shown["completed_requests"] < 20


def test_jobs_are_listed_by_pages_from_0_and_newest_first_where_it_is_asked_for(sim):
    ids = [made(sim, 1) for _ in range(3)]
    first = send(sim, "GET", f"{JOBS}?page_size=2&order_by=-created", None, OPENAI).json
    second = send(sim, "GET", f"{JOBS}?page_size=2&page=1&order_by=-created", None, OPENAI).json
    assert [job["id"] for job in first["data"] + second["data"]] == ids[::-1]
    assert [job["id"] for job in send(sim, "GET", JOBS, None, OPENAI).json["data"]] == ids


def test_errors_stand_in_no_envelope_and_calls_are_billed_as_mistrals(sim):
    refused = send(sim, "POST", "/mistral/v1/chat/completions", {}, OPENAI)
    assert refused.status == 400
    assert refused.json["object"] == "error"
    assert send(sim, "POST", "/mistral/v1/chat/completions", chat(model="mistral-small-latest"), OPENAI).status == 200
    (row,) = sim.log()["requests"]
    assert row["api"] == "mistral"
    assert row["nano_dollars"] > 0
