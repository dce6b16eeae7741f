"""Gemini's wire by Google's own client: what we send is what it sends, and it understands our simulated provider.

pip install google-genai
"""

from __future__ import annotations

import asyncio
import io
import json
import random

import pytest

from batchwork.backends import Setup, open_backend, open_embedder
from batchwork.clock import SystemClock
from batchwork.core.ports import BatchTag
from batchwork.core.request import Message, Request, Schema
from batchwork.core.text_pack import pack_request
from batchwork.simulator import Simulator
from tests.backends.conftest import GEMINI, Canned, Say

genai = pytest.importorskip("google.genai")
types = pytest.importorskip("google.genai.types")
pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
MODEL = "gemini-3.6-flash"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "kind": {"type": "string", "enum": ["a", "b"]}},
    "required": ["city"],
    "additionalProperties": False,
}


def client(url):
    return genai.Client(api_key="the-key", http_options=types.HttpOptions(base_url=url))


def both_send(ours, theirs):
    """What our backend and Google's client send for the same thing."""

    async def main():
        async with Canned(Say(GEMINI)) as server:
            setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=server.url, api_key="the-key")
            backend, _ = open_backend(f"gemini:{MODEL}", setup)
            await ours(backend)
            await backend.aclose()
            await asyncio.to_thread(theirs, client(server.url))
            return server.asked

    return asyncio.run(main())


def asked_for(dice: random.Random):
    """A request in our words and in those of Google's client."""
    words = ["Zoë", "🦉", "a\nline", '"quoted"', "plain", "\\", "</s>", "x" * 300]

    def text():
        return " ".join(dice.choice(words) for _ in range(dice.randint(1, 5)))

    turns = [("user", text()) for _ in range(1)]
    for _ in range(dice.randint(0, 2)):
        turns += [("assistant", text()), ("user", text())]
    system = text() if dice.random() < 0.5 else None
    image = dice.randbytes(20) if dice.random() < 0.4 else None
    limit = dice.randint(1, 9000)
    sampling = {"temperature": 0.5, "top_p": 0.75, "top_k": 7, "seed": 3} if dice.random() < 0.5 else {}
    schema = SCHEMA if dice.random() < 0.5 else None
    tier = dice.choice(["flex", "priority", None])
    messages = [Message(role, said) for role, said in turns]
    contents = [
        types.Content(role="model" if role == "assistant" else "user", parts=[types.Part.from_text(text=said)])
        for role, said in turns
    ]
    if image is not None:
        said = turns[-1][1]
        messages[-1] = Message(
            "user", [{"type": "text", "text": said}, {"type": "image", "media_type": "image/png", "data": image}]
        )
        contents[-1].parts.append(types.Part.from_bytes(data=image, mime_type="image/png"))
    request = Request(
        messages=tuple(messages), system=system, max_tokens=limit, sampling=sampling or None,
        schema=None if schema is None else Schema.of(schema), extra_body={"serviceTier": tier} if tier else None,
    )  # fmt: skip
    typed = {"response_mime_type": "application/json", "response_json_schema": schema} if schema else {}
    config = types.GenerateContentConfig(
        max_output_tokens=limit, system_instruction=system, service_tier=tier, **sampling, **typed,
        thinking_config=types.ThinkingConfig(thinking_level="MINIMAL"),
    )  # fmt: skip
    return request, contents, config


def camel(value):
    """Google takes a field by either spelling; its client mixes them."""
    if isinstance(value, list):
        return [camel(one) for one in value]
    if not isinstance(value, dict):
        return value

    def name(word):
        first, *rest = word.split("_")
        return first + "".join(map(str.capitalize, rest))

    return {name(key): camel(held) for key, held in value.items()}


@pytest.mark.parametrize("seed", range(30))
def test_a_call_goes_out_as_googles_own_client_sends_it(seed):
    request, contents, config = asked_for(random.Random(seed))
    ours, theirs = both_send(
        lambda backend: backend.complete(request),
        lambda sdk: sdk.models.generate_content(model=MODEL, contents=contents, config=config),
    )
    assert ours.path == theirs.path
    assert ours.headers["x-goog-api-key"] == theirs.headers["x-goog-api-key"] == "the-key"
    instruction = theirs.body.get("systemInstruction")
    if instruction is not None:
        instruction.pop("role", None)  # a system instruction has no role that means anything
    for turn in theirs.body["contents"]:
        for part in turn["parts"]:
            if "inlineData" in part:  # both alphabets of base64 are taken
                part["inlineData"]["data"] = part["inlineData"]["data"].replace("-", "+").replace("_", "/")
    assert ours.body == camel(theirs.body)


def test_a_batch_is_uploaded_made_and_asked_for_as_googles_own_client_does_it():
    line = b'{"key":"a","request":{"contents":[{"parts":[{"text":"hi"}]}]}}\n'
    seen: list[tuple] = []
    with Simulator(persona="echo", batch_time_s=0.0, validation_time_s=0.0) as provider:
        from batchwork.simulator.routes import Routes

        answered = Routes.__call__

        async def noted(routes, request):
            upload = {name.lower(): value for name, value in request.headers.items() if "-upload-" in name.lower()}
            seen.append((request.method, request.path, upload))
            return await answered(routes, request)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Routes, "__call__", noted)

            async def ours():
                setup = Setup(
                    clock=SystemClock(), max_in_flight=1, base_url=provider.service_url("gemini"), api_key="k"
                )
                backend, _ = open_backend(f"gemini:{MODEL}", setup)
                batch_id = await backend.submit_batch(
                    [line], BatchTag(run_id="r", chunk=1, custom_ids=("a",), intended_at=0.0)
                )
                await backend.poll_batch(batch_id)
                async for _ in backend.collect_batch(batch_id):
                    pass
                await backend.aclose()

            asyncio.run(ours())
            mine = [*seen]
            seen.clear()
            sdk = client(provider.service_url("gemini"))
            config = types.UploadFileConfig(display_name="r-1.jsonl", mime_type="application/jsonl")
            file = sdk.files.upload(file=io.BytesIO(line), config=config)
            batch = sdk.batches.create(model=MODEL, src=file.name, config={"display_name": "r-1"})
            sdk.batches.get(name=batch.name)
            sdk.files.download(file=sdk.batches.get(name=batch.name).dest.file_name)
        log = provider.log()
    theirs = [*seen]

    def plain(calls):
        return [(method, path.replace("batch-", "").rstrip("0123456789:downla")) for method, path, *_ in calls]

    assert plain(mine) == plain(theirs)
    assert mine[0][2] == theirs[0][2], "the start of an upload"
    assert mine[1][2].items() <= theirs[1][2].items(), "its only piece, with which Google's client repeats the rest"
    assert log["total"]["billed"] == 2


def test_googles_own_client_understands_the_simulated_provider():
    with Simulator(persona="echo", batch_time_s=60.0, validation_time_s=0.01) as provider:
        sdk = client(provider.service_url("gemini"))
        answer = sdk.models.generate_content(model=MODEL, contents="hello")
        assert (answer.text, answer.candidates[0].finish_reason.name) == ("hello", "STOP")
        assert answer.usage_metadata.prompt_token_count > 0
        streamed = sdk.models.generate_content_stream(model=MODEL, contents="again and " * 20)
        assert "".join(piece.text or "" for piece in streamed) == "again and " * 20
        assert sdk.models.count_tokens(model=MODEL, contents="hello").total_tokens > 0
        assert f"models/{MODEL}" in {model.name for model in sdk.models.list()}
        provider.next_faults("live", ["refusal", "refusal", "429", "thinking"])
        for _ in range(2):
            blocked = sdk.models.generate_content(model=MODEL, contents="hello")
            assert blocked.text is None
            assert blocked.prompt_feedback or blocked.candidates[0].finish_reason.name == "SAFETY"
        with pytest.raises(genai.errors.ClientError) as refused:
            sdk.models.generate_content(model=MODEL, contents="hello")
        assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")
        thought = sdk.models.generate_content(model=MODEL, contents="hello")
        assert thought.text == "hello"
        assert thought.usage_metadata.thoughts_token_count > 0
        inline = [{"contents": [{"role": "user", "parts": [{"text": f"{n}"}]}], "metadata": {"key": n}} for n in "ab"]
        batch = sdk.batches.create(model=MODEL, src=inline, config={"display_name": "d"})
        assert batch.state.name == "JOB_STATE_PENDING"
        provider.advance(100)
        done = sdk.batches.get(name=batch.name)
        assert done.state.name == "JOB_STATE_SUCCEEDED"
        assert [one.response.text for one in done.dest.inlined_responses] == ["a", "b"]
        assert [one.display_name for one in sdk.batches.list()] == ["d"]
        other = sdk.batches.create(model=MODEL, src=inline, config={"display_name": "e"})
        sdk.batches.cancel(name=other.name)
        provider.advance(100)
        assert sdk.batches.get(name=other.name).state.name == "JOB_STATE_CANCELLED"
        sdk.batches.delete(name=other.name)


@pytest.mark.filterwarnings("ignore")  # its client calls them experimental
def test_googles_own_client_makes_batches_of_embeddings_at_the_simulated_provider():
    with Simulator(persona="echo", batch_time_s=0.05, validation_time_s=0.01) as provider:
        sdk, one = (
            client(provider.service_url("gemini")),
            {"content": {"parts": [{"text": "one"}]}, "output_dimensionality": 4},
        )
        line = io.BytesIO(json.dumps({"key": "a", "request": one}).encode())
        file = sdk.files.upload(file=line, config={"mime_type": "application/jsonl"})
        batch = sdk.batches.create_embeddings(model="gemini-embedding-001", src={"file_name": file.name})
        provider.advance(60)
        made = json.loads(sdk.files.download(file=sdk.batches.get(name=batch.name).dest.file_name))
    assert (made["key"], len(made["response"]["embedding"]["values"])) == ("a", 4)


def test_a_call_for_embeddings_is_the_one_that_googles_client_makes():
    pack = pack_request(["one", "two"], model="", options={"dimensions": 2, "taskType": "RETRIEVAL_DOCUMENT"})
    config = types.EmbedContentConfig(output_dimensionality=2, task_type="RETRIEVAL_DOCUMENT")
    name = "gemini-embedding-001"

    async def main():
        async with Canned(Say({"embeddings": [{"values": [0.5, 1.0]}] * 2})) as server:
            setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=server.url, api_key="the-key")
            backend, _ = open_embedder(f"gemini:{name}", setup)
            reply = await backend.complete(pack)
            await backend.aclose()
            google = client(server.url)
            await asyncio.to_thread(google.models.embed_content, model=name, contents=["one", "two"], config=config)
            return reply, server.asked

    reply, (ours, theirs) = asyncio.run(main())
    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    assert ours.headers["x-goog-api-key"] == theirs.headers["x-goog-api-key"]
    assert reply.dimensions == 2
