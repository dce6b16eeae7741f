"""Which calls there are on Anthropic's wire."""

from aiohttp import web

from batchwork.simulator.anthropic.batches import MessageBatches
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.bodies import decoded, parsed
from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.table import Table
from batchwork.simulator.world import World


def anthropic_table(world: World) -> Table:
    """The calls of one simulator."""
    wire = AnthropicWire(world)
    calls = Calls(world, wire)
    batches = MessageBatches(calls)

    async def count_tokens(request: web.BaseRequest) -> web.Response:
        """Free, and not in the log of model calls."""
        world.log.note("count_tokens")
        wire.authorize(request.headers)
        body = decoded(await request.read())
        prompt = parsed(lambda: wire.parse(request.headers, body, counting=True))
        return calls.answer({"input_tokens": prompt.input_tokens})

    handlers: dict[str, Handler] = {
        "POST /v1/messages": calls,
        "POST /v1/messages/count_tokens": count_tokens,
        **batches.handlers("/v1/messages/batches"),
        "GET /v1/messages/batches/([^/]+)/results": calls.handler("results", batches.results),
    }
    return Table(calls, handlers)
