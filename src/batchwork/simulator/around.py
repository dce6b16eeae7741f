"""Faults of the calls about batches and files: what may go wrong before and after the work itself."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from batchwork.simulator import sending
from batchwork.simulator.faults import HTTP_KINDS
from batchwork.simulator.live import LiveCalls, Wire
from batchwork.simulator.world import World

Work = Callable[[], Awaitable[web.Response]]


class Around:
    """Runs the calls of one provider that ask no model, under the faults of their scope."""

    def __init__(self, world: World, wire: Wire, calls: LiveCalls) -> None:
        self._world = world
        self._wire = wire
        self._calls = calls

    async def run(self, request: web.BaseRequest, scope: str, work: Work) -> web.StreamResponse:
        """Do the work and send its answer, unless a fault says otherwise.

        `reset_after`, `truncated` and `slow` do the work first: the batch is created although its maker
        never hears of it.
        """
        world = self._world
        number = world.next_number()
        world.log.note(scope)
        self._wire.authorize(request.headers)
        kind = None
        if world.faults.armed(scope):
            kind = world.faults.draw(scope, world.roll("around", scope, number))
        if kind is not None:
            world.log.note(f"{scope}:{kind}")
        if kind == "reset":
            return sending.reset(request)
        if kind == "413":
            return sending.html_413(self._calls.headers(number))
        if kind is not None and kind in HTTP_KINDS:
            raise self._wire.fault(kind, "")
        response = await work()
        if kind == "reset_after":
            return sending.reset(request)
        if kind in ("truncated", "slow"):
            body = response.body if isinstance(response.body, bytes) else b""
            headers = {name: value for name, value in response.headers.items() if name.lower() != "content-length"}
            if kind == "slow":
                return await sending.send_slowly(request, body, headers, world.clock)
            return await sending.send_truncated(request, body, headers)
        return response
