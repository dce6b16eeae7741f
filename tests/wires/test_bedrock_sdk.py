"""Bedrock's wire by AWS's own library: what we send is what it sends, signed so that it arrives signed, and it
understands our simulated provider.

pip install botocore
"""

from __future__ import annotations

import asyncio
import base64
import random

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.request import Message, Request, Schema
from batchwork.simulator import Simulator
from tests.backends.conftest import Canned, Say

pytest.importorskip("botocore")
pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore")]
MODEL = "anthropic.claude-haiku-4-5-20251001-v1:0"
SECRET = "made/up+secret"
ANSWER = {
    "output": {"message": {"role": "assistant", "content": [{"text": "yes"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15},
    "metrics": {"latencyMs": 1},
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.fixture(autouse=True)
def made_up_credentials(monkeypatch, tmp_path):
    import os

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
        "AWS_ACCESS_KEY_ID": "AKIDMADEUP",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_SESSION_TOKEN": "a-token",
    }.items():
        monkeypatch.setenv(name, value)


def client(url):
    import botocore.session
    from botocore.config import Config

    config = Config(retries={"max_attempts": 0})
    return botocore.session.Session().create_client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config
    )


def both_send(request, **told):
    async def main():
        async with Canned(Say(ANSWER)) as server:
            setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=server.url)
            backend, _ = open_backend(f"bedrock:{MODEL}", setup)
            await backend.complete(request)
            await backend.aclose()
            await asyncio.to_thread(lambda: client(server.url).converse(modelId=MODEL, **told))
            return server.url, server.asked

    return asyncio.run(main())


def signature_of(url, asked):
    """The signature that a call should have, by AWS's own library, from what arrived."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    listed = asked.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    path = asked.raw_path
    request = AWSRequest("POST", url + path, data=asked.raw, headers={name: asked.headers[name] for name in listed})
    request.context["timestamp"] = asked.headers["x-amz-date"]
    signer = SigV4Auth(Credentials("AKIDMADEUP", SECRET, "a-token"), "bedrock", "us-east-1")
    canonical = signer.canonical_request(request)
    return signer.signature(signer.string_to_sign(request, canonical), request)


@pytest.mark.parametrize("seed", range(20))
def test_a_call_goes_out_as_awss_own_library_sends_it(seed):
    dice = random.Random(seed)
    said = " ".join(dice.choice(["Zoë", "🦉", "a\nline", '"quoted"', "plain", "x" * 300]) for _ in range(3))
    system, limit = dice.choice(["Be brief.", None]), dice.randint(1, 5000)
    image = dice.randbytes(30) if dice.random() < 0.5 else None
    schema = dice.random() < 0.5
    blocks = [{"type": "text", "text": said}]
    told: dict = {"messages": [{"role": "user", "content": [{"text": said}]}], "inferenceConfig": {"maxTokens": limit}}
    if image is not None:
        blocks.append({"type": "image", "media_type": "image/png", "data": image})
        told["messages"][0]["content"].append({"image": {"format": "png", "source": {"bytes": image}}})
    if system:
        told["system"] = [{"text": system}]
    request = Request(
        messages=(Message("user", blocks if image is not None else said),), system=system, max_tokens=limit,
        schema=Schema.of(SCHEMA) if schema else None,
    )  # fmt: skip
    if schema:
        import msgspec

        written = msgspec.json.encode(SCHEMA).decode()
        structure = {"jsonSchema": {"schema": written, "name": "answer"}}
        told["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
    url, (ours, theirs) = both_send(request, **told)
    assert ours.raw_path == theirs.raw_path, "a colon is encoded as it is signed"
    assert ours.body == theirs.body
    for asked in (ours, theirs):
        assert asked.headers["x-amz-security-token"] == "a-token"
        assert asked.headers["authorization"].endswith(signature_of(url, asked))
    assert base64.b64encode(SECRET.encode()).decode() not in str(ours)
    assert SECRET not in str(ours)


def test_awss_own_library_understands_the_simulated_provider():
    with Simulator(persona="echo") as provider:
        aws = client(provider.service_url("bedrock"))
        told = {"modelId": MODEL, "messages": [{"role": "user", "content": [{"text": "hello"}]}]}
        answer = aws.converse(**told, inferenceConfig={"maxTokens": 50})
        assert answer["output"]["message"]["content"] == [{"text": "hello"}]
        assert (answer["stopReason"], answer["serviceTier"]["type"]) == ("end_turn", "default")
        assert answer["usage"]["inputTokens"] > 0
        provider.next_faults("live", ["429", "400", "refusal"])
        for name in ("ThrottlingException", "ValidationException"):
            with pytest.raises(getattr(aws.exceptions, name)):
                aws.converse(**told)
        assert aws.converse(**told)["stopReason"] == "content_filtered"
        assert provider.log()["total"]["nano_dollars"] > 0
