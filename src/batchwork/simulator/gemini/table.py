"""Which calls there are on Gemini's wire."""

import re

from aiohttp import web

from batchwork.simulator.bodies import decoded, parsed
from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.gemini.batches import GeminiBatches
from batchwork.simulator.gemini.embeddings import GeminiEmbeddings
from batchwork.simulator.gemini.files import GeminiFiles
from batchwork.simulator.gemini.wire import GeminiWire
from batchwork.simulator.world import World

_VERSION = re.compile(r"/v1(?:alpha|beta)/")


class GeminiTable:
    """The calls of one simulator, by method and path."""

    def __init__(self, world: World) -> None:
        wire = GeminiWire(world)
        self.calls = Calls(world, wire)
        files = GeminiFiles(self.calls)
        batches = GeminiBatches(self.calls, files)
        handler = self.calls.handler

        async def count_tokens(request: web.BaseRequest, model: str) -> web.Response:
            world.log.note("count_tokens")
            wire.authorize(request.headers)
            body = decoded(await request.read())
            asked = body.get("generateContentRequest") or body if isinstance(body, dict) else body
            prompt = parsed(lambda: wire.parse(request.headers, asked, model))
            return self.calls.answer({"totalTokens": prompt.input_tokens})

        async def create(request: web.BaseRequest, model: str) -> web.StreamResponse:
            del model  # the shelf reads it from the path
            return await batches.create(request)

        self.named: dict[str, Handler] = {
            "POST /v1/models/([^/]+):generateContent": self.calls,
            "POST /v1/models/([^/]+):streamGenerateContent": Calls(world, GeminiWire(world, stream=True)),
            "POST /v1/models/([^/]+):countTokens": count_tokens,
            "POST /v1/models/([^/]+):batchEmbedContents": Calls(world, GeminiEmbeddings(world)),
            "POST /v1/models/([^/]+):batchGenerateContent": create,
            "POST /upload/v1/files": files.upload,
            "GET /v1/files": handler("files", files.listed),
            "GET /v1/files/([^/:]+)": handler("files", files.retrieve),
            "DELETE /v1/files/([^/:]+)": handler("files", files.delete),
            "GET /v1/files/([^/:]+):download": handler("results", files.download, files.batch_of),
            "GET /v1/batches": handler("list", batches.listed),
            "GET /v1/batches/([^/:]+)": handler("poll", batches.retrieve, "batches/{}".format),
            "DELETE /v1/batches/([^/:]+)": handler("cancel", batches.delete),
            "POST /v1/batches/([^/:]+):cancel": handler("cancel", batches.cancel),
        }

    def path(self, path: str) -> str:
        """A path as the table has it: versions beside v1 are the same."""
        return _VERSION.sub("/v1/", path)
