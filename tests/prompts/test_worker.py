"""The jobs of a worker process."""

import io
from typing import Any

import pytest

from batchwork.prompts.worker import (
    CheckJob,
    Done,
    ExtractJob,
    Job,
    Refused,
    SchemaJob,
    result_of,
    serve,
    work,
    written,
)
from batchwork.schema import DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("job", "result"),
    [
        (ExtractJob('{"a": [1, 2]}', "a[1]"), Done(b"2")),
        (ExtractJob("no JSON", "a"), "not_json"),
        (ExtractJob("{}", "a"), "path_not_found"),
        (SchemaJob({"type": "string"}, "mock", DEFAULT_LIMITS), Done(b"null")),
        (SchemaJob({"type": "nothing"}, "mock", DEFAULT_LIMITS), "invalid_schema"),
        (SchemaJob({"properties": {"a": {"$ref": "#"}}}, "anthropic", DEFAULT_LIMITS), "invalid_schema"),
        (CheckJob({"type": "array"}, "[1]", DEFAULT_LIMITS), Done(b"[1]")),
        (CheckJob({"type": "array"}, "{}", DEFAULT_LIMITS), "schema_violation"),
        (CheckJob(True, "[" * 300 + "]" * 300, DEFAULT_LIMITS), "schema_violation"),
    ],
)
def test_a_job_is_done_or_refused_in_the_words_of_the_service(job: Job, result: Any) -> None:
    done = work(job)
    assert done == result if isinstance(result, Done) else isinstance(done, Refused) and done.code == result


def test_jobs_go_through_the_pipe_until_it_ends() -> None:
    jobs = b"".join(written(ExtractJob(str(n), None)) for n in range(3))
    results = io.BytesIO()
    serve(io.BytesIO(jobs + b"\x00\x00"), results)
    said = results.getvalue()
    size = len(said) // 3
    assert [result_of(said[n * size + 4 : (n + 1) * size]) for n in range(3)] == [Done(b"0"), Done(b"1"), Done(b"2")]
