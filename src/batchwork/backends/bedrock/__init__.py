"""Models of every maker through Amazon Bedrock's Converse: live calls, signed, or with a Bedrock API key."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from urllib.parse import quote

import msgspec
from multidict import istr
from yarl import URL

from batchwork.backends import Setup, options_in
from batchwork.backends._failures import error_in
from batchwork.backends._headers import NO_LIMITS
from batchwork.backends._http import endpoint
from batchwork.backends._transport import HttpAnswer
from batchwork.backends._wire import WireBackend
from batchwork.backends.bedrock.reply import kind_of, reply_in
from batchwork.backends.bedrock.request_body import SAMPLING, ConverseBody
from batchwork.backends.bedrock.signing import SESSION_HEADER, Signer, region_of_environment
from batchwork.core.errors import ConfigError
from batchwork.core.failure import Failure
from batchwork.core.ports import Traits
from batchwork.core.providers import RESOURCE, providers
from batchwork.core.reply import Reply, ReportedLimits
from batchwork.core.request import Request

_NAME = "bedrock"
_ERROR_TYPE = istr("x-amzn-errortype")
_OPTIONS = {"region": str}
_SIGNED_ELSEWHERE = "us-east-1"  # the region of a signature for a server of one's own


class BedrockBackend(WireBackend):
    """One model, for single calls. A call is signed with what botocore finds, unless there is a key."""

    batches_path = ""
    decode_batch = msgspec.json.Decoder().decode
    reply_in = staticmethod(reply_in)
    kind_of = staticmethod(kind_of)
    limit_headers = NO_LIMITS
    request_id_header = istr("x-amzn-requestid")

    def __init__(self, model: str, traits: Traits, setup: Setup, region: str) -> None:
        """A backend that has not connected yet, and has not asked for credentials."""
        self.path = "model"
        super().__init__(model, ConverseBody(model).build, traits, setup, "authorization")
        self._path_hint = ""
        # Encoded as botocore does it: a colon of the model's name is signed so.
        self._url = URL(f"{endpoint(self._base_url, self.path)}/{quote(model, safe='')}/converse", encoded=True)
        keyed: Callable[[bytes], Awaitable[HttpAnswer]] = partial(self._http.post, self._url)
        self._send = partial(self._signed, Signer(region)) if setup.api_key is None else keyed

    async def _signed(self, signer: Signer, body: bytes) -> HttpAnswer:
        headers = await signer.headers(self._url, body)
        if (token := headers.get(SESSION_HEADER)) is not None:
            self._http.hide(token)
        return await self._http.send(self._url, body, headers)

    def _reply(
        self, answer: HttpAnswer, request: Request, limits: ReportedLimits | None, request_id: str | None
    ) -> Reply:
        del limits  # it tells none
        return reply_in(answer.body, extra_body=request.extra_body, request_id=request_id, model=self._model)

    def _failure(self, answer: HttpAnswer, *, model: str | None = None) -> Failure:
        """The name of an error stands in a header, or in its body as `__type`, before an address."""
        failure, error = super()._failure(answer, model=model), error_in(answer.body)
        stated = answer.headers.get(_ERROR_TYPE) or str(error.get("__type") or "").rpartition("#")[2]
        message = error.get("message") or error.get("Message") or failure.message
        kind, name = kind_of({"name": stated.partition(":")[0], "message": message}, answer.status)
        return msgspec.structs.replace(failure, kind=kind, error_code=name)

    def not_found_hint(self, model: str | None) -> str:
        return "" if model is None else f"is the model {model!r} right, and served in this region?"


def describe(name: str, _base_url: str | None) -> Traits:
    """What is known before it is opened."""
    return Traits(
        name=_NAME,
        limited=True,
        price_provider=providers()[_NAME].prices,
        price_model=name.partition("?")[0],
        sampling=SAMPLING,
    )


def open_backend(name: str, setup: Setup) -> BedrockBackend:
    """The backend for one model in one region: the model's `?region=`, else what botocore's own settings say."""
    row = providers()[_NAME]
    model, options = options_in(name, _OPTIONS, _NAME)
    if not model:
        raise ConfigError("bedrock: needs a model, for example bedrock:amazon.nova-lite-v1:0")
    stated = setup.base_url or setup.settings.addresses.get(_NAME)
    region = options.get("region") or (region_of_environment() if stated is None else None)
    if stated is None and not region:
        raise ConfigError(f"bedrock: needs a region: bedrock:{model}?region=eu-central-1, or set AWS_REGION")
    setup = replace(
        setup,
        base_url=stated or row.base_url.replace(RESOURCE, str(region)),
        api_key=setup.api_key or setup.settings.keys.get(_NAME),
    )
    return BedrockBackend(model, describe(name, None), setup, region or _SIGNED_ELSEWHERE)
