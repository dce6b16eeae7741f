"""One model of one server that speaks chat completions. A translator: it never retries, never sleeps, never prices."""

from __future__ import annotations

import msgspec
from multidict import istr

from batchwork.backends._chat.answering import reply_in
from batchwork.backends._chat.asking import Asking, Dialect
from batchwork.backends._chat.failing import failure_from
from batchwork.backends._headers import openai_limits
from batchwork.backends._http import Http, endpoint
from batchwork.backends._refusing import bad_input
from batchwork.core.errors import BackendError
from batchwork.core.ports import Clock, Traits
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_REQUEST_ID = istr("x-request-id")
_encode = msgspec.json.Encoder().encode


class ChatBackend:
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
        self._url = endpoint(base_url, "chat/completions")
        headers = {"authorization": f"Bearer {api_key}"} if api_key is not None else {}
        self._http = Http(headers=headers, max_in_flight=max_in_flight, trust_env=trust_env)
        self._traits = traits

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
            bad_input(f"this run asks {self._model!r}; a request for {request.model!r} needs a run of its own")
        answer = await self._http.post(self._url, _encode(self._asking.body(request)))
        headers = answer.headers
        if answer.status != 200:
            utc, secret = self._clock.utc(), self._secret
            failure = failure_from(answer.status, headers, answer.body, model=self._model, utc=utc, secret=secret)
            raise BackendError(failure)
        return reply_in(answer.body, request, limits=openai_limits(headers), request_id=headers.get(_REQUEST_ID))

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._http.aclose()
