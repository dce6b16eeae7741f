"""Which calls there are on Mistral's wire."""

from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.mistral.jobs import MistralFiles, MistralJobs
from batchwork.simulator.mistral.wire import MistralWire
from batchwork.simulator.openai.service import SERVICES
from batchwork.simulator.openai.wire import CHAT, EMBEDDINGS
from batchwork.simulator.world import World


class MistralTable:
    """The calls of one simulator, by method and path."""

    def __init__(self, world: World) -> None:
        self.calls = Calls(world, MistralWire(world))
        files = MistralFiles(self.calls, SERVICES["mistral"])
        jobs = MistralJobs(self.calls, files)
        handler = self.calls.handler
        self.named: dict[str, Handler] = {
            f"POST {CHAT}": self.calls,
            f"POST {EMBEDDINGS}": Calls(world, MistralWire(world, EMBEDDINGS)),
            "POST /v1/files": files.upload,
            "GET /v1/files": handler("files", files.listed),
            "GET /v1/files/([^/]+)": handler("files", files.retrieve),
            "DELETE /v1/files/([^/]+)": handler("files", files.delete),
            "GET /v1/files/([^/]+)/content": handler("results", files.content, files.batch_of),
            "POST /v1/batch/jobs": jobs.create,
            "GET /v1/batch/jobs": handler("list", jobs.listed),
            "GET /v1/batch/jobs/([^/]+)": handler("poll", jobs.retrieve),
            "DELETE /v1/batch/jobs/([^/]+)": handler("cancel", jobs.delete),
            "POST /v1/batch/jobs/([^/]+)/cancel": handler("cancel", jobs.cancel),
        }

    def path(self, path: str) -> str:
        """A path as the table has it."""
        return path
