"""All batches of one wire: they settle with time, are shown one by one and listed newest first."""

from typing import Any, Generic, Protocol, TypeVar

from aiohttp import web

from batchwork.simulator.around import Around
from batchwork.simulator.live import LiveCalls, Wire
from batchwork.simulator.world import World


class Shown(Protocol):
    """A batch of either wire."""

    created_at: float

    async def settle(self) -> None:
        """Catch up with the clock."""
        ...

    async def shown(self) -> dict[str, Any]:
        """As the provider shows it."""
        ...


B = TypeVar("B", bound=Shown)


class BatchShelf(Generic[B]):
    """What the calls about batches of both wires have in common."""

    def __init__(self, world: World, wire: Wire, calls: LiveCalls) -> None:
        self._world = world
        self._calls = calls
        self._around = Around(world, wire, calls)
        self._batches: dict[str, B] = {}
        world.shelves.append(self)

    async def settle(self) -> None:
        """Let every batch catch up with the clock."""
        for batch in list(self._batches.values()):
            await batch.settle()

    def clear(self) -> None:
        """Forget every batch."""
        self._batches.clear()

    async def retrieve(self, request: web.BaseRequest, batch_id: str) -> web.StreamResponse:
        """`GET .../batches/{id}`."""

        async def work() -> web.Response:
            return self._calls.answer(await self._batch(batch_id).shown())

        return await self._around.run(request, "poll", work, batch_id)

    async def listed(self, request: web.BaseRequest) -> web.StreamResponse:
        """`GET .../batches`: newest first; a young batch may not be listed yet."""

        async def work() -> web.Response:
            ripe = self._world.clock.now() - self._world.config.list_lag_s
            newest = sorted(self._batches.values(), key=lambda batch: batch.created_at)[::-1]
            shown = [await batch.shown() for batch in newest if batch.created_at <= ripe]
            return self._calls.answer(self._page(shown, request))

        return await self._around.run(request, "list", work)

    def _batch(self, batch_id: str) -> B:
        """The batch of this id.

        Raises:
            Refused: there is none.
        """
        raise NotImplementedError

    def _page(self, shown: list[dict[str, Any]], request: web.BaseRequest) -> dict[str, Any]:
        """One page of a list, as the provider gives it."""
        raise NotImplementedError
