"""Which call is this: the calls of one service by method and path, and the list of models, which all have."""

import re
from collections.abc import Callable, Mapping

from aiohttp import web

from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.errors import Refused


class Table:
    """The calls of one service; what none of them is, is refused in its words."""

    def __init__(
        self, calls: Calls, handlers: Mapping[str, Handler], path: Callable[[str, str], str] = lambda path, _: path
    ) -> None:
        """`handlers` by `METHOD /path`, a pattern; `path` makes the path of the table of a path and a query."""
        self.calls = calls
        models = {"GET /v1/models": self._models, "GET /v1/models/(.+)": self._models}
        self._handlers = [(re.compile(call), handler) for call, handler in {**handlers, **models}.items()]
        self._path = path

    def has(self, method: str, path: str) -> bool:
        """Whether there is such a call."""
        return any(pattern.fullmatch(f"{method} {path}") for pattern, _ in self._handlers)

    async def __call__(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        """Answer one request; `path` is what comes behind the service's own."""
        world, call = self.calls.world, f"{request.method} {path}"
        try:
            call = f"{request.method} {self._path(path, request.query_string)}"
            for pattern, handler in self._handlers:
                if found := pattern.fullmatch(call):
                    return await handler(request, *found.groups())
            raise Refused(404, f"{call}: not found")
        except Refused as refused:
            world.log.note(f"{refused.status} {call}")
            return self.calls.refusal(refused, world.next_number())

    async def _models(self, request: web.BaseRequest, name: str | None = None) -> web.StreamResponse:
        """The list of models, or one of them; any id is a model here."""
        calls, wire = self.calls, self.calls.wire
        calls.world.log.note("models")
        wire.authorize(request.headers)
        return calls.answer(wire.models(request.rel_url.query) if name is None else wire.model(name))
