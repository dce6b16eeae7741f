"""Which calls there are on Gemini's wire."""

import re

from aiohttp import web

from batchwork.simulator.bodies import decoded, parsed
from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.gemini.batches import GeminiBatches
from batchwork.simulator.gemini.embeddings import GeminiEmbeddings
from batchwork.simulator.gemini.files import GeminiFiles
from batchwork.simulator.gemini.wire import GeminiWire
from batchwork.simulator.table import Table
from batchwork.simulator.world import World

_VERSION = re.compile(r"/v1(?:alpha|beta)/")
_MODEL = "POST /v1/models/([^/]+)"


def gemini_table(world: World) -> Table:
    """The calls of one simulator; versions beside v1 are the same."""
    wire = GeminiWire(world)
    calls = Calls(world, wire)
    files = GeminiFiles(calls)
    batches = GeminiBatches(calls, files)
    handler = calls.handler

    async def count_tokens(request: web.BaseRequest, model: str) -> web.Response:
        world.log.note("count_tokens")
        wire.authorize(request.headers)
        body = decoded(await request.read())
        asked = body.get("generateContentRequest") or body if isinstance(body, dict) else body
        prompt = parsed(lambda: wire.parse(request.headers, asked, model))
        return calls.answer({"totalTokens": prompt.input_tokens})

    handlers: dict[str, Handler] = {
        f"{_MODEL}:generateContent": calls,
        f"{_MODEL}:streamGenerateContent": Calls(world, GeminiWire(world, stream=True)),
        f"{_MODEL}:countTokens": count_tokens,
        f"{_MODEL}:batchEmbedContents": Calls(world, GeminiEmbeddings(world)),
        f"{_MODEL}:(?:batchGenerate|asyncBatchEmbed)Content": batches.create,
        "POST /upload/v1/files": files.upload,
        "GET /v1/files": handler("files", files.listed),
        "GET /v1/files/([^/:]+)": handler("files", files.retrieve),
        "DELETE /v1/files/([^/:]+)": handler("files", files.delete),
        "GET /v1/files/([^/:]+):download": handler("results", files.download, files.batch_of),
        **batches.handlers("/v1/batches"),
    }
    return Table(calls, handlers, lambda path, _: _VERSION.sub("/v1/", path))
