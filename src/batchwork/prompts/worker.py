"""A process that does what would hold the event loop up: large schemas, large answers.

Started by the server with its own entry (`main`), never by `multiprocessing`. Reads jobs from standard input and
writes what came of each to standard output, one after the other, until the input ends. It may be killed at any time.
"""

from __future__ import annotations

import signal
import struct
import sys
from typing import Any, BinaryIO, Literal, cast

import msgspec

from batchwork.core.request import Schema
from batchwork.prompts.field_path import PathNotFound, parse_path
from batchwork.prompts.finish import MAX_DEPTH, extracted
from batchwork.prompts.prepare import too_deep
from batchwork.schema import Accepted, Limits, NoJson, SchemaError, checker_of, wire_schema_of

_HEAD = struct.Struct(">I")
_DIALECTS = ("anthropic", "openai")  # providers that take less than all of JSON Schema


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


class ExtractJob(msgspec.Struct, frozen=True, tag=True):
    """What stands at the path in the answer's JSON?"""

    text: str
    path: str | None


class Done(msgspec.Struct, frozen=True, tag=True):
    """It worked; `json` is what came of it."""

    json: bytes


class Refused(msgspec.Struct, frozen=True, tag=True):
    """It did not: an error's code, and its sentences. A schema's error has its place before them."""

    code: str
    sentences: list[str]


Job = SchemaJob | CheckJob | ExtractJob
Result = Done | Refused
_NOTHING = b"null"
_job: msgspec.msgpack.Decoder[Job] = msgspec.msgpack.Decoder(Job)
_result: msgspec.msgpack.Decoder[Result] = msgspec.msgpack.Decoder(Result)
_encode = msgspec.msgpack.Encoder().encode
_json = msgspec.json.Encoder().encode


def written(message: Job | Result) -> bytes:
    """A job or a result as it goes through the pipe."""
    body = _encode(message)
    return _HEAD.pack(len(body)) + body


def length_of(head: bytes) -> int:
    """The bytes after a head of `HEAD_BYTES`."""
    return int(_HEAD.unpack(head)[0])


HEAD_BYTES = _HEAD.size


def result_of(body: bytes) -> Result:
    """A result that came through the pipe."""
    return _result.decode(body)


def work(job: Job) -> Result:
    """Do one job."""
    try:
        if isinstance(job, SchemaJob):
            return _prepared(job)
        if isinstance(job, CheckJob):
            judged = checker_of(Schema.of(job.body), job.limits, copy=False).check(job.text)
            if not isinstance(judged, Accepted):
                return Refused("schema_violation", list(judged.errors))
            if too_deep(judged.value, MAX_DEPTH):
                return Refused("schema_violation", [f"the answer is nested more than {MAX_DEPTH} levels deep"])
            return Done(_json(judged.value))
        return Done(_json(extracted(job.text, None if job.path is None else parse_path(job.path))))
    except SchemaError as error:
        return Refused("invalid_schema", [error.place, error.problem])
    except PathNotFound as error:
        return Refused("path_not_found", [str(error)])
    except NoJson as error:
        return Refused("not_json", [str(error)])
    except (RecursionError, MemoryError) as error:
        return Refused("too_large", ["nested too deeply" if isinstance(error, RecursionError) else "out of memory"])


def _prepared(job: SchemaJob) -> Result:
    schema = Schema.of(job.body)
    checker_of(schema, job.limits, copy=False)
    if job.provider not in _DIALECTS:
        return Done(_NOTHING)
    return Done(_json(wire_schema_of(cast("Literal['anthropic', 'openai']", job.provider), schema)))


def serve(jobs: BinaryIO, results: BinaryIO) -> None:
    """Do jobs until there are no more."""
    while len(head := jobs.read(HEAD_BYTES)) == HEAD_BYTES:
        results.write(written(work(_job.decode(jobs.read(length_of(head))))))
        results.flush()


def main(memory_bytes: int) -> None:
    """The process."""
    import resource  # noqa: PLC0415 -- only the process limits itself

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, sys.stdout.buffer)
