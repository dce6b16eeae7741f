"""OpenTelemetry spans for every request and every call to a model, with the GenAI names.

An extra: where the package is missing, or nobody has set it up, nothing happens and nothing is paid. A span says
which model, how many tokens, how it ended; never what was asked or answered.
"""

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

from batchwork.core.errors import BackendError
from batchwork.core.ports import Backend, TokenCounter
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_NO_SPAN = nullcontext()


class BackendWrapper:
    """A backend with something around every call: another `complete`. Counts tokens where that one counts them."""

    def __init__(self, backend: Backend, complete: Callable[..., Coroutine[Any, Any, Reply]]) -> None:
        self.traits = backend.traits
        self.complete = complete
        self.aclose = backend.aclose
        if isinstance(backend, TokenCounter):
            self.count_tokens = backend.count_tokens


def tracer() -> Any | None:
    """The process's tracer, or None where nobody has set up OpenTelemetry: an empty span costs time as well."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError:
        return None
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return trace.get_tracer("batchwork")


def request_span(method: str, route: str, own_id: str) -> AbstractContextManager[Any]:
    """A span around one HTTP request, above those of its calls."""
    found = tracer()
    if found is None:
        return _NO_SPAN
    attributes = {"http.request.method": method, "http.route": route, "batchwork.request_id": own_id}
    return _span(found, f"{method} {route}", "SERVER", attributes)


def traced(backend: Backend, model: str) -> Backend:
    """The backend with a span around every call; itself where there is nobody to trace."""
    found = tracer()
    if found is None:
        return backend

    async def complete(request: Request, *, ceiling_nano: int | None = None) -> Reply:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": backend.traits.name,
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": request.output_bound,
            "gen_ai.output.type": "text" if request.schema is None else "json",
        }
        with _span(found, f"chat {model}", "CLIENT", attributes) as span:
            try:
                reply = await backend.complete(request, ceiling_nano=ceiling_nano)
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

    return BackendWrapper(backend, complete)


def _span(
    tracer: Any, name: str, kind: Literal["SERVER", "CLIENT"], attributes: dict[str, Any]
) -> AbstractContextManager[Any]:
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 -- an extra

    span: AbstractContextManager[Any] = tracer.start_as_current_span(
        name,
        kind=SpanKind[kind],
        attributes=attributes,
        record_exception=False,  # a provider's message may quote the prompt
        set_status_on_exception=False,
    )
    return span
