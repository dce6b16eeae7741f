"""Which calls there are on Mistral's wire."""

from batchwork.simulator.calls import Calls
from batchwork.simulator.mistral.jobs import MistralFiles, MistralJobs
from batchwork.simulator.mistral.wire import MistralWire
from batchwork.simulator.openai.service import SERVICES
from batchwork.simulator.openai.wire import CHAT, EMBEDDINGS
from batchwork.simulator.table import Table
from batchwork.simulator.world import World


def mistral_table(world: World) -> Table:
    """The calls of one simulator."""
    calls = Calls(world, MistralWire(world))
    files = MistralFiles(calls, SERVICES["mistral"])
    live = {f"POST {CHAT}": calls, f"POST {EMBEDDINGS}": Calls(world, MistralWire(world, EMBEDDINGS))}
    jobs = MistralJobs(calls, files).handlers("/v1/batch/jobs")
    return Table(calls, {**live, "POST /v1/files": files.upload, **files.handlers(), **jobs})
