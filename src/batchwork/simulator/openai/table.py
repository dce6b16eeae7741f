"""Which calls there are on OpenAI's wire, for OpenAI and for each service that speaks it."""

from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.openai.batches import OpenAIBatches
from batchwork.simulator.openai.files import FileShelf
from batchwork.simulator.openai.service import Service
from batchwork.simulator.openai.wire import CHAT, OpenAIWire
from batchwork.simulator.table import Table
from batchwork.simulator.world import World


def openai_table(world: World, service: Service) -> Table:
    """The calls of one service."""
    calls = Calls(world, OpenAIWire(world, CHAT, service))
    files = FileShelf(calls, service)
    batches = OpenAIBatches(calls, files, service)
    live: dict[str, Handler] = {
        f"POST /v1{path}": calls if f"/v1{path}" == CHAT else Calls(world, OpenAIWire(world, f"/v1{path}", service))
        for path in service.calls
    }
    about = {f"POST /v1{service.upload}": files.upload, **files.handlers(), **batches.handlers("/v1/batches")}
    return Table(calls, {**live, **about}, service.paths)
