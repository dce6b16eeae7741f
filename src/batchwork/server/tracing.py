"""OpenTelemetry spans for every request and every call to a model, with the GenAI names.

An extra: where the package is missing, or nobody has set it up, nothing happens and nothing is paid.

A span says which model, how many tokens, how it ended. Never what was asked or answered.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from batchwork.core.errors import BackendError
from batchwork.core.ports import Backend, TokenCounter, Traits
from batchwork.core.reply import Reply
from batchwork.core.request import Request


def tracer() -> Any | None:
    """The process's tracer, or None where nobody has set up OpenTelemetry: an empty span costs time as well."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError:
        return None
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return trace.get_tracer("batchwork")


_NOTHING = nullcontext()


def traced_request(method: str, route: str, own_id: str) -> AbstractContextManager[Any]:
    """A span around one HTTP request, which those of its calls stand under."""
    found = tracer()
    if found is None:
        return _NOTHING
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 -- an extra

    told = {"http.request.method": method, "http.route": route, "batchwork.request_id": own_id}
    span: AbstractContextManager[Any] = found.start_as_current_span(
        f"{method} {route}",
        kind=SpanKind.SERVER,
        attributes=told,
        record_exception=False,
        set_status_on_exception=False,
    )
    return span


def traced(backend: Backend, model: str) -> Backend:
    """The backend with a span around every call; itself where there is nobody to trace."""
    found = tracer()
    if found is None:
        return backend
    if isinstance(backend, TokenCounter):
        return _TracedCounter(backend, model, found)
    return _Traced(backend, model, found)


class _Traced:
    """A backend whose calls are spans."""

    def __init__(self, backend: Backend, model: str, tracer: Any) -> None:
        self._backend = backend
        self._model = model
        self._tracer = tracer

    @property
    def traits(self) -> Traits:
        """Those of the backend."""
        return self._backend.traits

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        """Answer one request inside a span."""
        asked = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._backend.traits.name,
            "gen_ai.request.model": self._model,
            "gen_ai.request.max_tokens": request.output_bound,
            "gen_ai.output.type": "text" if request.schema is None else "json",
        }
        with self._tracer.start_as_current_span(
            f"chat {self._model}",
            kind=_client_kind(),
            attributes=asked,
            record_exception=False,  # a provider's message may quote the prompt
            set_status_on_exception=False,
        ) as span:
            try:
                reply = await self._backend.complete(request, ceiling_nano=ceiling_nano)
            except BackendError as error:
                span.set_attribute("error.type", error.failure.kind.value)
                raise
            span.set_attribute("gen_ai.response.model", reply.model)
            if reply.usage is not None:
                span.set_attribute("gen_ai.usage.input_tokens", reply.usage.input_tokens)
                span.set_attribute("gen_ai.usage.output_tokens", reply.usage.output_tokens)
            if reply.stop_reason is not None:
                span.set_attribute("gen_ai.response.finish_reasons", [reply.stop_reason])
            if reply.provider_id is not None:
                span.set_attribute("gen_ai.response.id", reply.provider_id)
            return reply

    async def aclose(self) -> None:
        """Close the backend."""
        await self._backend.aclose()


class _TracedCounter(_Traced):
    """The same for a backend whose provider counts tokens."""

    async def count_tokens(self, request: Request) -> int:
        """Input tokens of this request."""
        assert isinstance(self._backend, TokenCounter)
        return await self._backend.count_tokens(request)


def _client_kind() -> Any:
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 -- an extra

    return SpanKind.CLIENT
