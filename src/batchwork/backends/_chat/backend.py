"""One model of one server that speaks chat completions. A translator: it never retries, never sleeps, never prices."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from multidict import istr

from batchwork.backends._batching import WithBatches
from batchwork.backends._chat.answering import reply_in
from batchwork.backends._chat.asking import Asking, Dialect
from batchwork.backends._chat.batching import ProjectBatches
from batchwork.backends._chat.failing import failure_from
from batchwork.backends._headers import LimitsReader
from batchwork.backends._http import Answer, Http, endpoint, shown
from batchwork.backends._refusing import other_model
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure
from batchwork.core.ports import Clock, Traits
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_REQUEST_ID = istr("x-request-id")
_encode = msgspec.json.Encoder().encode


class ChatBackend(WithBatches):
    """Sends chat completions to one address."""

    def __init__(
        self,
        model: str,
        *,
        clock: Clock,
        base_url: str,
        api_key: str | None,
        dialect: Dialect,
        traits: Traits,
        max_in_flight: int = 100,
        trust_env: bool = False,
    ) -> None:
        """A backend that has not connected yet.

        Raises:
            ConfigError: the base URL is not one.
        """
        self._model = model
        self._names = frozenset({"", model, f"{traits.name}:{model}"})
        self._clock = clock
        self._secret = api_key
        self._asking = Asking(model, dialect)
        self._limits = LimitsReader.openai()
        self._url = endpoint(base_url, "chat/completions")
        headers = {"authorization": f"Bearer {api_key}"} if api_key is not None else {}
        self._http = Http(headers=headers, max_in_flight=max_in_flight, trust_env=trust_env)
        self._traits = replace(traits, address=shown(endpoint(base_url, "")))
        self._batches = ProjectBatches(self._http, base_url, self._asking, self._failure, clock.utc)

    @property
    def traits(self) -> Traits:
        """As the backend that opened it says."""
        return self._traits

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        """Answer one request.

        Raises:
            BackendError: the call failed; its failure says how.
        """
        del ceiling_nano  # max_tokens is the only brake that this API has, and the caller has set it
        if request.model not in self._names:
            other_model(self._model, request.model)
        answer = await self._http.post(self._url, _encode(self._asking.body(request)))
        headers = answer.headers
        if answer.status != 200:
            raise BackendError(self._failure(answer, model=self._model))
        limits, request_id = self._limits.news(headers), headers.get(_REQUEST_ID)
        return reply_in(answer.body, extra_body=request.extra_body, limits=limits, request_id=request_id)

    def _failure(self, answer: Answer, *, model: str | None = None) -> Failure:
        utc, secret = self._clock.utc(), self._secret
        return failure_from(answer.status, answer.headers, answer.body, model=model, utc=utc, secret=secret)

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._http.aclose()
