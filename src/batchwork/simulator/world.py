"""Everything the simulated provider knows: its clock, log, limits, faults, persona, caches, batches and files."""

from collections import defaultdict
from typing import Any, Generic, TypeVar

import msgspec

from batchwork.simulator.bill import Usage
from batchwork.simulator.buckets import RateLimits
from batchwork.simulator.clock import SimClock
from batchwork.simulator.config import SimulatorConfig
from batchwork.simulator.dice import roll
from batchwork.simulator.faults import FaultDesk
from batchwork.simulator.log import Log
from batchwork.simulator.personas import Persona, Step, persona_named
from batchwork.simulator.prompt import Prompt
from batchwork.simulator.quoting import quoting_persona

T = TypeVar("T")
_TTL_S = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0}


class World:
    """The provider's whole state; one per simulator."""

    def __init__(self, config: SimulatorConfig) -> None:
        self.config = config
        self.clock = SimClock(config.time_scale, config.clock_offset_s)
        kind, _, option = config.persona.partition(":")
        named = quoting_persona(option, config.seed) if kind == "quotes" else persona_named(config.persona, config.seed)
        self.persona: Persona = named
        self.shelves: list[Shelf[Any]] = []
        self.base_url = ""
        self._count = 0
        self.reset()

    def next_number(self) -> int:
        """A number nobody had before."""
        self._count += 1
        return self._count

    def roll(self, *names: object) -> float:
        """The dice of these names."""
        return roll(self.config.seed, *names)

    def draw(
        self, scope: str, prompt: Prompt, seen: int, custom_id: str | None = None
    ) -> tuple[Step | None, str | None]:
        """What the script wants of a call (`live` or `item`), and the fault that it meets."""
        step = self.persona.step(prompt, custom_id, seen)
        if step is not None:
            return step, None if step.kind == "ok" else step.kind
        if not self.faults.armed(scope):
            return None, None
        return None, self.faults.draw(scope, self.roll("fault" if scope == "live" else scope, prompt.digest, seen))

    def with_cache(self, prompt: Prompt, usage: Usage) -> Usage:
        """Split the input into what the prompt cache holds, what it takes in, and the rest."""
        mark = prompt.cached
        if mark is None:
            return usage
        now = self.clock.now()
        held = min(mark.tokens, usage.input)
        fresh = self._cache.get(mark.digest, 0.0) < now
        self._cache[mark.digest] = now + _TTL_S[mark.ttl]
        if fresh and not mark.writes:
            return usage
        rest = usage.input - held
        where = "cache_read" if not fresh else "cache_write_1h" if mark.ttl == "1h" else "cache_write_5m"
        return msgspec.structs.replace(usage, input=rest, **{where: held})

    async def report(self) -> dict[str, Any]:
        """The log, after everything that runs by itself has caught up with the clock."""
        for shelf in self.shelves:
            await shelf.settle()
        return self.log.report()

    def reset(self) -> None:
        """Back to the beginning: no log, no batches, no files, full buckets, the faults of the configuration."""
        self.log = Log()
        self.faults = FaultDesk(self.config.faults)
        self.limits = defaultdict[str, RateLimits](lambda: RateLimits(self.config))  # by who has them
        self._cache: dict[str, float] = {}
        for shelf in self.shelves:
            shelf.clear()


class Shelf(Generic[T]):
    """Things that the provider keeps by their ids, batches or files, until the world is reset."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept: dict[str, T] = {}
        world.shelves.append(self)

    async def settle(self) -> None:
        """Let everything catch up with the clock; most things do not change by themselves."""

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
