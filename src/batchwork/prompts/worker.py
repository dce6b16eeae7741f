"""A process that does what would hold the event loop up: large schemas, large answers.

Started by the server with its own entry (`main`), never by `multiprocessing`. Reads jobs from standard input and
writes what came of each to standard output, one after the other, until the input ends. It may be killed at any time.
"""

import signal
import sys
from typing import Any, BinaryIO

import msgspec

from batchwork.core.request import Schema
from batchwork.prompts.field_path import parse_path
from batchwork.prompts.finish import MAX_DEPTH, field_in
from batchwork.prompts.item import Problem
from batchwork.prompts.prepare import compiled_schema, too_deep
from batchwork.schema import Accepted, Limits, SchemaError, checker_of

HEAD_BYTES = 4  # before every job and result: how long it is


class SchemaJob(msgspec.Struct, frozen=True, tag=True):
    """Can this schema be used, and sent to this provider?"""

    body: Any
    provider: str | None
    limits: Limits


class CheckJob(msgspec.Struct, frozen=True, tag=True):
    """Does the answer fit the schema?"""

    body: Any
    text: str
    limits: Limits
    truncated: bool = False


class ExtractJob(msgspec.Struct, frozen=True, tag=True):
    """What stands at the path in the answer's JSON?"""

    text: str
    path: str | None


class Done(msgspec.Struct, frozen=True, tag=True):
    """It worked; `json` is what came of it."""

    json: bytes


class Refused(msgspec.Struct, frozen=True, tag=True):
    """It did not: the code of an error, and its sentences. The first one of a schema's error is its place."""

    code: str
    sentences: list[str]


Job = SchemaJob | CheckJob | ExtractJob
Result = Done | Refused
_job: msgspec.msgpack.Decoder[Job] = msgspec.msgpack.Decoder(Job)
_result: msgspec.msgpack.Decoder[Result] = msgspec.msgpack.Decoder(Result)
result_of = _result.decode
_encode = msgspec.msgpack.Encoder().encode
_json = msgspec.json.Encoder().encode


def written(message: Job | Result) -> bytes:
    """A job or a result as it goes through the pipe."""
    body = _encode(message)
    return len(body).to_bytes(HEAD_BYTES) + body


def work(job: Job) -> Result:
    """Do one job."""
    try:
        if isinstance(job, SchemaJob):
            return Done(_json(compiled_schema(Schema.of(job.body), job.provider, job.limits)))
        if isinstance(job, CheckJob):
            checker = checker_of(Schema.of(job.body), job.limits, copy=False)
            judged = checker.check(job.text, truncated=job.truncated)
            if not isinstance(judged, Accepted):
                return Refused("schema_violation", list(judged.errors))
            if too_deep(judged.value, MAX_DEPTH):
                return Refused("schema_violation", [f"the answer is nested more than {MAX_DEPTH} levels deep"])
            return Done(_json(judged.value))
        found = field_in(job.text, None if job.path is None else parse_path(job.path))
        return Refused(found.code, [found.message]) if isinstance(found, Problem) else Done(_json(found))
    except SchemaError as error:
        return Refused("invalid_schema", [error.place, error.problem])
    except (RecursionError, MemoryError) as error:
        return Refused("too_large", ["nested too deeply" if isinstance(error, RecursionError) else "out of memory"])


def serve(jobs: BinaryIO, results: BinaryIO) -> None:
    """Do jobs until there are no more."""
    while len(head := jobs.read(HEAD_BYTES)) == HEAD_BYTES:
        results.write(written(work(_job.decode(jobs.read(int.from_bytes(head))))))
        results.flush()


def main(memory_bytes: int) -> None:
    """The process."""
    import resource  # noqa: PLC0415 -- only the process limits itself

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, sys.stdout.buffer)
