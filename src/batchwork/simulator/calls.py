"""The path of one call: is it valid, may it pass, what goes wrong, what is answered, what is billed.

A live call asks the model. A service call asks no model: it is about batches or files.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from batchwork.simulator import delivery
from batchwork.simulator.answers import answer_to, usage_for
from batchwork.simulator.bill import Usage
from batchwork.simulator.bodies import decoded, parsed, read_limited
from batchwork.simulator.clock import http_date
from batchwork.simulator.errors import Refused
from batchwork.simulator.faults import AFTER_KINDS, HTTP_KINDS, HUGE_HEADERS
from batchwork.simulator.log import LoggedCall, preview_of
from batchwork.simulator.prompt import Answer, Prompt
from batchwork.simulator.wire import Wire
from batchwork.simulator.world import World

Work = Callable[[], Awaitable[web.Response]]
Handler = Callable[..., Awaitable[web.StreamResponse]]
_WHOLE = frozenset({None, "slow", "trickle", "shuffled"})


class Calls:
    """Answers the calls of one wire."""

    def __init__(self, world: World, wire: Wire) -> None:
        self.world = world
        self.wire = wire
        self._rates = world.config.rate_headers
        self._limited = wire.limits.limited
        self._second = 0
        self._fixed: CIMultiDict[str] = CIMultiDict()

    async def __call__(self, request: web.BaseRequest, *model: str) -> web.StreamResponse:
        """Answer one live call; `model` is the one in the path, where it stands there."""
        world, wire = self.world, self.wire
        number = world.next_number()
        entry: LoggedCall | None = None
        try:
            wire.authorize(request.headers)
            body = decoded(await read_limited(request, world.config.max_request_bytes))
            prompt = parsed(lambda: wire.parse(request.headers, body, *model))
            entry = LoggedCall(
                number=number, api=wire.api, path=wire.path, model=prompt.model, prompt=prompt.digest,
                preview=preview_of(prompt.last), at=world.clock.now(), tier=prompt.lane,
            )  # fmt: skip
            seen = world.log.receive(entry)
            wait_s, what = wire.admit(prompt) if self._limited else (0.0, "")
            if wait_s > 0:
                entry.fault = "limited"
                raise wire.limited(what, wait_s)
            return await self._answered(request, prompt, entry, seen)
        except Refused as refused:
            if entry is None:
                world.log.note(f"{refused.status} {wire.path}")
            else:
                entry.status = refused.status
            return self.refusal(refused, number)

    async def _answered(
        self, request: web.BaseRequest, prompt: Prompt, entry: LoggedCall, seen: int
    ) -> web.StreamResponse:
        world = self.world
        step, kind = world.draw("live", prompt, seen)
        if step is not None and step.delay_s:
            await world.clock.sleep(step.delay_s)
        entry.fault = kind
        if kind == "reset":
            return delivery.reset(request)
        latency = world.config.latency
        if latency.median_s:
            await world.clock.sleep(latency.drawn(world.roll("latency", prompt.digest, seen)))
        if kind is not None and kind in HTTP_KINDS:
            if kind == "413":
                entry.status = 413
                return delivery.html_413(self.headers(entry.number))
            raise self.fault(kind, prompt.model)
        answer = answer_to(world.persona, prompt, kind, step)
        usage = world.with_cache(prompt, usage_for(prompt, answer))
        return await self._sent(request, prompt, entry, answer, usage)

    async def _sent(
        self, request: web.BaseRequest, prompt: Prompt, entry: LoggedCall, answer: Answer, usage: Usage
    ) -> web.StreamResponse:
        world, wire, kind = self.world, self.wire, entry.fault
        entry.status, entry.usage, entry.billed = 200, usage, True
        wire.produced(usage)
        headers = self.headers(entry.number)
        headers.update(wire.served(prompt))
        if kind in AFTER_KINDS:
            raise self.fault(AFTER_KINDS[kind], prompt.model)
        if kind in delivery.UNHEARD:
            return await delivery.unheard(request, kind, headers)
        whole = wire.answer(prompt, answer, usage, entry.number)
        if prompt.stream:
            return await self._streamed(request, prompt, entry, whole)
        body = msgspec.json.encode(delivery.damaged(whole, kind))
        if kind == HUGE_HEADERS:
            return delivery.with_huge_header(web.Response(body=body, headers=headers))
        entry.answered = kind != "truncated"
        if kind in ("slow", "truncated"):
            return await delivery.send_halves(request, body, headers, world.clock, both=kind == "slow")
        return web.Response(body=body, headers=headers)

    async def _streamed(
        self, request: web.BaseRequest, prompt: Prompt, entry: LoggedCall, whole: dict[str, Any]
    ) -> web.StreamResponse:
        wire, kind = self.wire, entry.fault
        events = list(wire.events(prompt, whole))
        headers = {**self.headers(entry.number), "Content-Type": "text/event-stream"}
        if kind == "truncated":
            return await delivery.send_halves(request, b"".join(events), headers, self.world.clock, both=False)
        if kind == "sse_error":
            entry.billed = False  # an answer the provider broke off is not charged
            events = [*events[: len(events) // 2], wire.error_event()]
        entry.answered = kind != "sse_error"
        return await delivery.send_lines(request, events, headers | {"Cache-Control": "no-cache"}, self.world.clock)

    def answer(self, body: Any, content_type: str = "application/json") -> web.Response:
        """An answer with the provider's headers: JSON, or bytes of another type."""
        headers = self.headers(self.world.next_number())
        headers["Content-Type"] = content_type
        return web.Response(body=body if isinstance(body, bytes) else msgspec.json.encode(body), headers=headers)

    def headers(self, number: int) -> CIMultiDict[str]:
        """The headers of every answer, dated by its clock; without limits they change once a second at most."""
        second = int(self.world.clock.now())
        if second != self._second or self._limited:
            self._second = second
            self._fixed = self.wire.limit_headers() if self._rates else CIMultiDict()
            self._fixed["Content-Type"] = "application/json"
            self._fixed["Date"] = http_date(second)
        headers = self._fixed.copy()
        headers[self.wire.request_id_header] = f"req_sim{number:08d}"
        return headers

    def fault(self, kind: str, model: str = "") -> Refused:
        """An HTTP fault in the provider's words."""
        return self.wire.provider.fault(kind, model, self.world.config.retry_after_s)

    def refusal(self, refused: Refused, number: int) -> web.Response:
        """An error as the provider sends it."""
        headers = self.headers(number)
        headers.update(self.wire.error_headers(refused))
        body = self.wire.error(refused, headers[self.wire.request_id_header])
        return web.Response(body=msgspec.json.encode(body), status=refused.status, headers=headers)

    def handler(
        self, scope: str, work: Callable[..., Awaitable[web.Response]], batch_of: Callable[[str], str | None] = str
    ) -> Handler:
        """Answers calls with `work(request, ...)`; `batch_of` tells the batch from the id in the path."""

        async def handle(request: web.BaseRequest, *name: str) -> web.StreamResponse:
            batch_id = batch_of(*name) if name else None
            return await self.run(request, scope, lambda: work(request, *name), batch_id)

        return handle

    async def run(
        self, request: web.BaseRequest, scope: str, work: Work, batch_id: str | None = None, *, needs_key: bool = True
    ) -> web.StreamResponse:
        """Do the work and send its answer, unless a fault says otherwise.

        Everything but a plain status and `reset` does the work first: the batch is created although its maker
        never hears of it. `batch_id` is the batch the call is about.
        """
        world = self.world
        number = world.next_number()
        world.log.note(scope)
        if needs_key:
            self.wire.authorize(request.headers)
        kind = self._drawn(scope, number, batch_id)
        if kind is not None:
            world.log.note(f"{scope}:{kind}")
        if kind == "reset":
            return delivery.reset(request)
        if kind == "413":
            return delivery.html_413(self.headers(number))
        if kind is not None and kind in HTTP_KINDS:
            raise self.fault(kind)
        response = await work()
        self._record(scope, batch_id, kind)
        return await self._delivered(request, response, kind, number)

    def _drawn(self, scope: str, number: int, batch_id: str | None) -> str | None:
        world, kind = self.world, None
        if world.faults.armed(scope):
            kind = world.faults.draw(scope, world.roll("around", scope, number))
        if batch_id is None:
            return kind
        return world.faults.lasting(scope, batch_id, kind, world.roll("lasting", scope, batch_id)) or kind

    def _record(self, scope: str, batch_id: str | None, kind: str | None) -> None:
        """Write into the log what became of a call about a batch."""
        record = self.world.log.batches.get(batch_id or "")
        if record is None:
            return
        if scope == "create":
            record.create_fault = kind
        elif scope == "results":
            record.downloads += 1
            record.whole_downloads += kind in _WHOLE
            record.gone |= kind == "gone"

    async def _delivered(
        self, request: web.BaseRequest, response: web.Response, kind: str | None, number: int
    ) -> web.StreamResponse:
        if kind is None:
            return response
        if kind in AFTER_KINDS:
            raise self.fault(AFTER_KINDS[kind])
        if kind in delivery.UNHEARD:
            return await delivery.unheard(request, kind, self.headers(number))
        body = response.body if isinstance(response.body, bytes) else b""
        headers = {name: value for name, value in response.headers.items() if name.lower() != "content-length"}
        match kind:
            case "gone":
                raise Refused(404, "simulated: these results are gone", type="not_found_error")
            case "slow" | "truncated":
                return await delivery.send_halves(request, body, headers, self.world.clock, both=kind == "slow")
            case "trickle":
                lines, pause_s = body.splitlines(keepends=True), self.world.config.trickle_s
                return await delivery.send_lines(request, lines, headers, self.world.clock, pause_s)
            case "short":
                body = delivery.short(body)
            case "shuffled":
                body = delivery.shuffled(body, number)
            case "low_counts":
                body = delivery.low_counts(body)
        changed = web.Response(body=body, status=response.status, headers=headers)
        return delivery.with_huge_header(changed) if kind == HUGE_HEADERS else changed
