"""Bedrock's Converse: what is sent, what is understood, and who signs."""

import asyncio

import pytest

from batchwork.backends import Setup, open_backend, traits_of
from batchwork.backends.bedrock.request_body import ConverseBody
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Attachment, Message, Request, Schema
from batchwork.settings import Settings
from batchwork.simulator import Simulator

MODEL = "bedrock:amazon.nova-lite-v1:0"
ANSWER = {
    "output": {"message": {"role": "assistant", "content": [{"text": "yes"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15},
}


def test_a_request_is_put_into_converses_words():
    blocks = [{"type": "text", "text": "Look:"}, {"type": "image", "media_type": "image/png", "data": b"png"}]
    pdf = Attachment(media_type="application/pdf", data=b"%PDF", title="a_b/c.pdf", digest=b"1")
    schema = Schema.of({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    request = Request(
        messages=(Message("system", "Be kind."), Message("user", blocks)), system="Be brief.", max_tokens=9,
        documents=(pdf,), sampling={"top_p": 0.5, "stop": "END"}, schema=schema,
    )  # fmt: skip
    body = ConverseBody("amazon.nova-lite-v1:0").build(request)
    structure = body.pop("outputConfig")["textFormat"]["structure"]
    assert structure["jsonSchema"]["schema"].startswith('{"type":"object"')
    assert body == {
        "system": [{"text": "Be brief.\n\nBe kind."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"document": {"format": "pdf", "name": "a b c pdf", "source": {"bytes": "JVBERg=="}}},
                    {"text": "Look:"},
                    {"image": {"format": "png", "source": {"bytes": "cG5n"}}},
                ],
            }
        ],
        "inferenceConfig": {"maxTokens": 9, "topP": 0.5, "stopSequences": ["END"]},
    }


@pytest.mark.parametrize(
    "request_",
    [
        Request.ask("x", extra_body={"inferenceConfig": {"maxTokens": 9}}),
        Request.ask("x", extra_body={"inferenceConfig": None}),
        Request.ask("x", extra_body={"messages": []}),
        Request.ask("x", sampling={"top_k": 5}),
        Request(messages=(Message("user", "x"), Message("system", "y"))),
        Request(messages=(Message("user", [{"type": "image", "url": "https://example.org/a.png"}]),)),
        Request(messages=(Message("user", [{"type": "tool_use"}]),)),
    ],
)
def test_what_converse_cannot_be_sent_is_refused(request_):
    with pytest.raises(BackendError) as refused:
        ConverseBody("amazon.nova-lite-v1:0").build(request_)
    assert refused.value.failure.kind is K.BAD_INPUT


@pytest.mark.parametrize(
    ("status", "name", "message", "kind"),
    [
        (400, "ValidationException", "no", K.REJECTED),
        (400, "ValidationException", "Input is too long for requested model.", K.TOO_LONG),
        (400, "ServiceQuotaExceededException:http://x/", "no", K.QUOTA),
        (403, "ExpiredTokenException", "no", K.AUTH),
        (404, "ResourceNotFoundException", "no", K.REJECTED),
        (408, "ModelTimeoutException", "no", K.TIMEOUT),
        (424, "ModelErrorException", "no", K.SERVER),
        (429, "ThrottlingException", "no", K.RATE_LIMITED),
        (429, "ModelNotReadyException", "no", K.OVERLOADED),
        (500, "InternalServerException", "no", K.SERVER),
        (503, "ANewException", "no", K.OVERLOADED),
    ],
)
def test_an_error_is_known_by_its_name_in_a_header(exchange, status, name, message, kind):
    failure = exchange(MODEL, {"message": message}, status=status, x_amzn_errortype=name).failure
    assert failure.kind is kind
    assert message in failure.message
    assert failure.error_code == name.partition(":")[0]


@pytest.mark.parametrize(
    ("stop", "kind"),
    [
        ("content_filtered", K.REFUSED),
        ("guardrail_intervened", K.REFUSED),
        ("malformed_tool_use", K.SCHEMA_VIOLATION),
        ("model_context_window_exceeded", K.TOO_LONG),
    ],
)
def test_an_answer_that_was_withheld_is_a_failure_with_what_was_paid_for(exchange, stop, kind):
    failure = exchange(MODEL, ANSWER | {"stopReason": stop}).failure
    assert (failure.kind, failure.usage.input_tokens) == (kind, 12)


def test_the_cache_is_beside_the_input_and_calls_of_tools_are_told(exchange):
    usage = ANSWER["usage"] | {"cacheReadInputTokens": 100, "cacheWriteInputTokens": 10}
    called = {"toolUse": {"toolUseId": "t", "name": "weather", "input": {"city": "Ulm"}}}
    content = [{"reasoningContent": {}}, {"text": "a"}, called]
    reply = exchange(MODEL, ANSWER | {"usage": usage, "output": {"message": {"content": content}}}).reply
    assert (reply.usage.input_tokens, reply.usage.cache_read_tokens, reply.usage.cache_write_tokens) == (122, 100, 10)
    assert (reply.text, reply.tool_calls[0].name, reply.tool_calls[0].id) == ("a", "weather", "t")
    assert reply.model == "amazon.nova-lite-v1:0"


@pytest.mark.parametrize(
    ("details", "short", "hour"),
    [([{"ttl": "1h", "inputTokens": 7}, {"ttl": "5m", "inputTokens": 3}], 3, 7), ([], 10, 0)],
)
def test_what_is_written_into_the_cache_for_an_hour_is_booked_so(exchange, details, short, hour):
    usage = ANSWER["usage"] | {"cacheWriteInputTokens": 10, "cacheDetails": details}
    told = exchange(MODEL, ANSWER | {"usage": usage}).reply.usage
    assert (told.input_tokens, told.cache_write_tokens, told.cache_write_1h_tokens) == (22, short, hour)


def test_a_key_of_bedrocks_own_goes_as_a_bearer_token(exchange):
    asked = exchange(MODEL, ANSWER).asked[0]
    assert asked.headers["authorization"] == "Bearer sk-the-secret-key"
    assert asked.path == "/model/amazon.nova-lite-v1:0/converse"
    assert not traits_of(MODEL)[0].batches


class TestSigned:
    """With botocore, an extra, whose own chain is asked in an environment built from nothing."""

    @pytest.fixture(autouse=True)
    def nothing_around(self, monkeypatch, tmp_path):
        pytest.importorskip("botocore")
        import os

        for name in [name for name in os.environ if name.startswith("AWS_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))

    def asked(self, url, **fields):
        async def main():
            setup = Setup(clock=SystemClock(), max_in_flight=2, settings=Settings(), base_url=url, **fields)
            backend, _ = open_backend(MODEL, setup)
            try:
                return await backend.complete(Request.ask("hello"))
            finally:
                await backend.aclose()

        return asyncio.run(main())

    def test_a_call_is_signed_with_what_botocore_finds_when_it_is_made(self, monkeypatch):
        with Simulator(persona="echo", api_keys=frozenset({"AKIDMADEUP"})) as provider:
            with pytest.raises(BackendError, match="no AWS credentials"):
                self.asked(provider.service_url("bedrock"))
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDMADEUP")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made/up")
            assert self.asked(provider.service_url("bedrock")).text == "hello"
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDOTHER")
            with pytest.raises(BackendError, match="auth"):
                self.asked(provider.service_url("bedrock"))
            assert provider.log()["total"]["nano_dollars"] > 0

    def test_a_token_of_the_session_is_in_no_error_text(self, monkeypatch, canned):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            monkeypatch.setenv(name, f"made-up-{name.lower()}")

        async def main():
            async with canned({"message": "who is made-up-aws_session_token?"}) as server:
                server.say.status = 400
                setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=server.url)
                backend, _ = open_backend(MODEL, setup)
                try:
                    await backend.complete(Request.ask("x"))
                except BackendError as error:
                    return error.failure.message, server.asked[0]
                finally:
                    await backend.aclose()

        message, asked = asyncio.run(main())
        assert asked.headers["x-amz-security-token"] == "made-up-aws_session_token"
        assert "session_token" not in message
        assert "who is" in message

    def test_settings_and_credentials_that_cannot_be_had_are_said_and_nothing_of_them_is_told(
        self, monkeypatch, tmp_path
    ):
        with Simulator(persona="echo") as provider:
            (tmp_path / "none").write_text("[profile mine]\ncredential_process = sh -c 'echo a-secret >&2; exit 3'\n")
            monkeypatch.setenv("AWS_PROFILE", "mine")
            with pytest.raises(BackendError, match=r"cannot be had \(CredentialRetrievalError\)") as caught:
                self.asked(provider.service_url("bedrock"))
            assert caught.value.failure.kind is K.AUTH
            monkeypatch.setenv("AWS_PROFILE", "missing")
            with pytest.raises(BackendError, match="auth: AWS credentials cannot be had"):
                self.asked(provider.service_url("bedrock"))
        with pytest.raises(ConfigError, match="missing"):
            open_backend(MODEL, Setup(clock=SystemClock(), max_in_flight=1))

    def test_a_region_is_needed_where_there_is_no_address(self, monkeypatch):
        setup = Setup(clock=SystemClock(), max_in_flight=1)
        with pytest.raises(ConfigError, match=r"needs a region: bedrock:amazon.nova-lite-v1:0\?region="):
            open_backend(MODEL, setup)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        assert open_backend(MODEL, setup)[0].traits.address == "https://bedrock-runtime.eu-central-1.amazonaws.com"
        other = open_backend(f"{MODEL}?region=us-west-2", setup)[0]
        assert other.traits.address == "https://bedrock-runtime.us-west-2.amazonaws.com"
