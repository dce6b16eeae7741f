"""Which calls there are on Bedrock's wire."""

from batchwork.simulator.bedrock.wire import BedrockWire
from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.world import World


class BedrockTable:
    """The calls of one simulator, by method and path."""

    def __init__(self, world: World) -> None:
        self.calls = Calls(world, BedrockWire(world))
        self.named: dict[str, Handler] = {"POST /model/([^/]+)/converse": self.calls}

    def path(self, path: str) -> str:
        """A path as the table has it."""
        return path
