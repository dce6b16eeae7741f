"""Which call is which on OpenAI's wire: the table of paths, for OpenAI and for each service that speaks it."""

import re

from aiohttp import web

from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.batches import OpenAIBatches
from batchwork.simulator.openai.files import FileShelf
from batchwork.simulator.openai.service import Service
from batchwork.simulator.openai.wire import CHAT, OpenAIWire
from batchwork.simulator.world import World


class OpenAITable:
    """The calls of one service: by their exact path, and by a pattern with an id in it."""

    def __init__(self, world: World, service: Service) -> None:
        self.calls = Calls(world, OpenAIWire(world, CHAT, service))
        self._world = world
        self._paths = service.paths
        files = FileShelf(self.calls, service)
        batches = OpenAIBatches(self.calls, files, service)
        handler = self.calls.handler
        self.exact: dict[tuple[str, str], Handler] = {
            ("POST", f"/v1{service.upload}"): files.upload,
            ("GET", "/v1/files"): handler("files", files.listed),
            ("POST", "/v1/batches"): batches.create,
            ("GET", "/v1/batches"): handler("list", batches.listed),
        }
        for path in service.calls:
            own = self.calls if f"/v1{path}" == CHAT else Calls(world, OpenAIWire(world, f"/v1{path}", service))
            self.exact["POST", f"/v1{path}"] = own
        self.named: dict[str, Handler] = {
            "GET /v1/batches/([^/]+)": handler("poll", batches.retrieve),
            "POST /v1/batches/([^/]+)/cancel": handler("cancel", batches.cancel),
            "GET /v1/files/([^/]+)": handler("files", files.retrieve),
            "DELETE /v1/files/([^/]+)": handler("files", files.delete),
            "GET /v1/files/([^/]+)/content": handler("results", files.content, files.batch_of),
        }

    async def __call__(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        """Answer one request of a service that has a path of its own; `path` is what comes behind that."""
        method = request.method
        try:
            path = path.rstrip("/") if self._paths is None else self._paths(path.rstrip("/"), request.query_string)
            if (handler := self.exact.get((method, path))) is not None:
                return await handler(request)
            for pattern, named in self.named.items():
                if found := re.fullmatch(pattern, f"{method} {path}"):
                    return await named(request, found[1])
            raise Refused(404, f"{method} {path}: not found")
        except Refused as refused:
            self._world.log.note(f"{refused.status} {method} {path}")
            return self.calls.refusal(refused, self._world.next_number())
