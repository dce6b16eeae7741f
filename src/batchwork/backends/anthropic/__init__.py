"""Claude models through Anthropic's Messages API, version 2026-10-21."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from multidict import istr

from batchwork.backends import Setup
from batchwork.backends._batching import WithBatches
from batchwork.backends._catalog import ALIASES, CLAUDE, near, or_list
from batchwork.backends._headers import LimitsReader
from batchwork.backends._http import Answer, Http, endpoint, shown
from batchwork.backends._refusing import other_model
from batchwork.backends.anthropic.answering import reply_in
from batchwork.backends.anthropic.asking import SAMPLING, Asking
from batchwork.backends.anthropic.batching import MessageBatches
from batchwork.backends.anthropic.failing import failure_from
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Clock, Traits
from batchwork.core.reply import Reply
from batchwork.core.request import Request

API_VERSION = "2026-10-21"
BASE_URL = "https://api.anthropic.com"
TRAITS = Traits(
    name="anthropic",
    limited=True,
    batches=True,
    price_provider="anthropic",
    sampling=SAMPLING,
    image_tokens=6_000,  # larger ones are scaled down to less
)
_REQUEST_ID = istr("request-id")
_encode = msgspec.json.Encoder().encode


class _Count(msgspec.Struct):
    input_tokens: int


_decode_count = msgspec.json.Decoder(_Count).decode


class AnthropicBackend(WithBatches):
    """One Claude model. A translator: it never retries, never sleeps, never prices."""

    def __init__(
        self,
        model: str,
        *,
        clock: Clock,
        api_key: str | None,
        base_url: str = BASE_URL,
        max_in_flight: int = 100,
        trust_env: bool = False,
    ) -> None:
        """A backend that has not connected yet.

        Raises:
            ConfigError: the base URL is not one.
        """
        base_url = base_url.rstrip("/").removesuffix("/v1")
        self._model = model
        self._traits = replace(TRAITS, address=shown(endpoint(base_url, "")))
        self._names = frozenset({"", model, f"anthropic:{model}"})
        self._clock = clock
        self._secret = api_key
        self._asking = Asking(model)
        self._limits = LimitsReader.anthropic(clock.utc)
        self._messages = endpoint(base_url, "v1/messages")
        self._count = endpoint(base_url, "v1/messages/count_tokens")
        headers = {"anthropic-version": API_VERSION}
        if api_key is not None:
            headers["authorization"] = f"Bearer {api_key}"
        self._http = Http(headers=headers, max_in_flight=max_in_flight, trust_env=trust_env)
        self._batches = MessageBatches(self._http, base_url, self._asking, self._failure, clock.utc)

    @property
    def traits(self) -> Traits:
        """Limited, priced as Anthropic's, takes no sampling parameters."""
        return self._traits

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        """Answer one request.

        Raises:
            BackendError: the call failed; its failure says how.
        """
        del ceiling_nano  # max_tokens is the only brake that this API has, and the caller has set it
        if request.model not in self._names:
            other_model(self._model, request.model)
        answer = await self._http.post(self._messages, _encode(self._asking.body(request)))
        if answer.status != 200:
            raise BackendError(self._failure(answer, model=self._model))
        limits, request_id = self._limits.news(answer.headers), answer.headers.get(_REQUEST_ID)
        return reply_in(answer.body, extra_body=request.extra_body, limits=limits, request_id=request_id)

    async def count_tokens(self, request: Request) -> int:
        """Input tokens of this request, as the provider counts them.

        Raises:
            BackendError: the call failed.
        """
        answer = await self._http.post(self._count, _encode(self._asking.body_to_count(request)))
        if answer.status != 200:
            raise BackendError(self._failure(answer, model=self._model))
        try:
            return _decode_count(answer.body).input_tokens
        except msgspec.DecodeError as error:
            problem = f"the answer is not a count: {error}"
            raise BackendError(Failure(kind=FailureKind.SERVER, message=problem)) from error

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    def _failure(self, answer: Answer, *, model: str | None = None) -> Failure:
        utc, secret = self._clock.utc(), self._secret
        return failure_from(answer.status, answer.headers, answer.body, model=model, utc=utc, secret=secret)


def describe(name: str, base_url: str | None) -> Traits:
    """What is known before it is opened."""
    del name, base_url
    return TRAITS


def open_backend(name: str, setup: Setup) -> AnthropicBackend:
    """The backend for one Claude model.

    Raises:
        ConfigError: no model, no key, or a base URL that is none.
    """
    if not name:
        raise ConfigError(f"anthropic: needs a model, for example anthropic:{CLAUDE[0]}")
    if name in (*ALIASES, "fable"):
        raise ConfigError(f"anthropic:{name} is not a model id; there is {or_list(near(name, CLAUDE))}")
    base_url = setup.base_url or setup.settings.anthropic_base_url or BASE_URL
    api_key = setup.api_key or setup.settings.anthropic_api_key
    if api_key is None and base_url == BASE_URL:
        raise ConfigError(
            "no API key for Anthropic: set ANTHROPIC_API_KEY in the environment or in .env, or pass api_key"
        )
    return AnthropicBackend(
        name,
        clock=setup.clock,
        api_key=api_key,
        base_url=base_url,
        max_in_flight=setup.max_in_flight,
        trust_env=setup.settings.trust_env,
    )
