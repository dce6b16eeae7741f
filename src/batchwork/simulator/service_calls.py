"""The calls that ask no model, about batches and files, with what may go wrong before and after their work."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from batchwork.simulator import delivery
from batchwork.simulator.errors import Refused
from batchwork.simulator.faults import AFTER_KINDS, HTTP_KINDS, HUGE_HEADERS
from batchwork.simulator.live_calls import LiveCalls, Wire
from batchwork.simulator.world import World

Work = Callable[[], Awaitable[web.Response]]
Handler = Callable[..., Awaitable[web.StreamResponse]]
_WHOLE = frozenset({None, "slow", "trickle", "shuffled"})


class ServiceCalls:
    """Runs such calls of one provider under the faults of their scope."""

    def __init__(self, world: World, wire: Wire, calls: LiveCalls) -> None:
        self._world = world
        self._wire = wire
        self._calls = calls

    def handler(
        self, scope: str, work: Callable[..., Awaitable[web.Response]], batch_of: Callable[[str], str | None] = str
    ) -> Handler:
        """Answers calls with `work(request, ...)`; `batch_of` tells the batch from the id in the path."""

        async def handle(request: web.BaseRequest, *name: str) -> web.StreamResponse:
            batch_id = batch_of(*name) if name else None
            return await self.run(request, scope, lambda: work(request, *name), batch_id)

        return handle

    async def run(
        self, request: web.BaseRequest, scope: str, work: Work, batch_id: str | None = None
    ) -> web.StreamResponse:
        """Do the work and send its answer, unless a fault says otherwise.

        Everything but a plain status and `reset` does the work first: the batch is created although its maker
        never hears of it. `batch_id` is the batch the call is about.
        """
        world = self._world
        number = world.next_number()
        world.log.note(scope)
        self._wire.authorize(request.headers)
        kind = self._drawn(scope, number, batch_id)
        if kind is not None:
            world.log.note(f"{scope}:{kind}")
        if kind == "reset":
            return delivery.reset(request)
        if kind == "413":
            return delivery.html_413(self._calls.headers(number))
        if kind is not None and kind in HTTP_KINDS:
            raise self._wire.fault(kind, "")
        response = await work()
        self._record(scope, batch_id, kind)
        return await self._sent(request, response, kind, number)

    def _drawn(self, scope: str, number: int, batch_id: str | None) -> str | None:
        world, kind = self._world, None
        if world.faults.armed(scope):
            kind = world.faults.draw(scope, world.roll("around", scope, number))
        if batch_id is None:
            return kind
        return world.faults.lasting(scope, batch_id, kind, world.roll("lasting", scope, batch_id)) or kind

    def _record(self, scope: str, batch_id: str | None, kind: str | None) -> None:
        """Write into the log what became of a call about a batch."""
        record = self._world.log.batches.get(batch_id or "")
        if record is None:
            return
        if scope == "create":
            record.create_fault = kind
        elif scope == "results":
            record.downloads += 1
            record.whole_downloads += kind in _WHOLE
            record.gone |= kind == "gone"

    async def _sent(
        self, request: web.BaseRequest, response: web.Response, kind: str | None, number: int
    ) -> web.StreamResponse:
        if kind is None:
            return response
        if kind in AFTER_KINDS:
            raise self._wire.fault(AFTER_KINDS[kind], "")
        if kind in delivery.UNHEARD:
            return await delivery.unheard(request, kind, self._calls.headers(number))
        body = response.body if isinstance(response.body, bytes) else b""
        headers = {name: value for name, value in response.headers.items() if name.lower() != "content-length"}
        match kind:
            case "gone":
                raise Refused(404, "simulated: these results are gone", type="not_found_error")
            case "slow":
                return await delivery.send_slowly(request, body, headers, self._world.clock)
            case "truncated":
                return await delivery.send_truncated(request, body, headers)
            case "trickle":
                lines, pause_s = body.splitlines(keepends=True), self._world.config.trickle_s
                return await delivery.send_lines(request, lines, headers, self._world.clock, pause_s)
            case "short":
                body = delivery.short(body)
            case "shuffled":
                body = delivery.shuffled(body, number)
            case "low_counts":
                body = delivery.low_counts(body)
        changed = delivery.json_response(body, response.status, headers)
        return delivery.with_huge_header(changed) if kind == HUGE_HEADERS else changed
