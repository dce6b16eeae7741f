"""Claude models through Anthropic's Messages API, version 2026-10-21."""

import msgspec
from multidict import istr

from batchwork.backends import Setup
from batchwork.backends._catalog import catalog, near, or_list
from batchwork.backends._headers import ANTHROPIC_LIMITS
from batchwork.backends._http import endpoint
from batchwork.backends._wire import Server, Wire, encode
from batchwork.backends.anthropic.batches import Batch, MessageBatches
from batchwork.backends.anthropic.reply import kind_of, reply_in
from batchwork.backends.anthropic.request_body import SAMPLING, MessageBody, body_to_count
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Traits
from batchwork.core.providers import providers
from batchwork.core.request import Request

TRAITS = Traits(
    name="anthropic",
    limited=True,
    batches=True,
    price_provider="anthropic",
    sampling=SAMPLING,
    image_tokens=6_000,  # larger ones are scaled down to less
)


class _Count(msgspec.Struct):
    input_tokens: int


_decode_count = msgspec.json.Decoder(_Count).decode


class AnthropicBackend(MessageBatches):
    """One Claude model."""

    wire = Wire(
        path="v1/messages",
        batches_path="v1/messages/batches",
        batch=msgspec.json.Decoder(Batch),
        reply_in=reply_in,
        kind_of=kind_of,
        limit_headers=ANTHROPIC_LIMITS,
        request_id_header=istr("request-id"),
        headers={"anthropic-version": "2026-10-21"},
    )

    async def count_tokens(self, request: Request) -> int:
        """Input tokens of this request, as the provider counts them.

        Raises:
            BackendError: the call failed.
        """
        url = endpoint(self._base_url, "v1/messages/count_tokens")
        answer = await self._http.post(url, encode(body_to_count(self._body.build(request))))
        if answer.status != 200:
            raise BackendError(self._failure(answer, model=self._model))
        try:
            return _decode_count(answer.body).input_tokens
        except msgspec.DecodeError as error:
            problem = f"the answer is not a count: {error}"
            raise BackendError(Failure(kind=FailureKind.SERVER, message=problem)) from error

    def not_found_hint(self, model: str | None) -> str:
        """The model may be wrong, where there is one."""
        others = [] if model is None else near(model, catalog().ids["anthropic"])
        return f"is the model {model!r} right? There is {or_list(others)}" if others else ""


def describe(name: str, base_url: str | None) -> Traits:
    """What is known before it is opened."""
    del name, base_url
    return TRAITS


def open_backend(name: str, setup: Setup) -> AnthropicBackend:
    """The backend for one Claude model.

    Raises:
        ConfigError: no model, no key, or a base URL that is none.
    """
    provider, ids = providers()["anthropic"], catalog().ids
    if not name:
        raise ConfigError(f"anthropic: needs a model, for example anthropic:{ids['anthropic'][0]}")
    if name in (*ids["claude-code"], "fable"):
        raise ConfigError(f"anthropic:{name} is not a model id; there is {or_list(near(name, ids['anthropic']))}")
    base_url = setup.base_url or setup.settings.anthropic_base_url or provider.base_url
    api_key = setup.api_key or setup.settings.keys.get("anthropic")
    if api_key is None and base_url == provider.base_url:
        raise ConfigError(
            f"no API key for Anthropic: set {provider.keys[0]} in the environment or in .env, or pass api_key"
        )
    base_url = base_url.rstrip("/").removesuffix("/v1")
    server = Server.of(provider, TRAITS, setup, base_url=base_url, api_key=api_key)
    return AnthropicBackend(name, MessageBody(name), server)
