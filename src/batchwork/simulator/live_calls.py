"""The path of one live call: is it valid, may it pass, what goes wrong, what is answered, what is billed."""

from math import ceil
from typing import Any

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from batchwork.simulator import delivery
from batchwork.simulator.answers import answer_to, usage_for
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.bill import Usage
from batchwork.simulator.bodies import decoded, parsed, read_limited
from batchwork.simulator.clock import http_date
from batchwork.simulator.errors import Refused
from batchwork.simulator.faults import AFTER_KINDS, HTTP_KINDS, HUGE_HEADERS
from batchwork.simulator.log import Entry, preview_of
from batchwork.simulator.openai.wire import ChatWire, ResponsesWire
from batchwork.simulator.prompt import Answer, Prompt
from batchwork.simulator.world import World

Wire = AnthropicWire | ChatWire | ResponsesWire
"""One provider's model call."""


class LiveCalls:
    """Answers the live calls of one wire."""

    def __init__(self, world: World, wire: Wire) -> None:
        self._world = world
        self._wire = wire
        self._rates = world.config.rate_headers
        self._limited = world.anthropic_limits.limited
        self._second = 0
        self._fixed: CIMultiDict[str] = CIMultiDict()

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one call."""
        world, wire = self._world, self._wire
        number = world.next_number()
        entry: Entry | None = None
        try:
            wire.authorize(request.headers)
            body = decoded(await read_limited(request, world.config.max_request_bytes))
            prompt = parsed(lambda: wire.parse(request, body))
            entry = Entry(
                number=number, api=wire.api, path=wire.path, model=prompt.model, prompt=prompt.digest,
                preview=preview_of(prompt.last), at=world.clock.now(), tier=prompt.lane,
            )  # fmt: skip
            seen = world.log.receive(entry)
            wait_s, what = wire.admit(prompt)
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

    async def _answered(self, request: web.BaseRequest, prompt: Prompt, entry: Entry, seen: int) -> web.StreamResponse:
        world, wire = self._world, self._wire
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
            raise wire.fault(kind, prompt.model)
        answer = answer_to(world.persona, prompt, kind, step)
        usage = world.with_cache(prompt, usage_for(prompt, answer))
        return await self._sent(request, prompt, entry, answer, usage)

    async def _sent(
        self, request: web.BaseRequest, prompt: Prompt, entry: Entry, answer: Answer, usage: Usage
    ) -> web.StreamResponse:
        world, wire, kind = self._world, self._wire, entry.fault
        entry.status, entry.usage, entry.billed = 200, usage, True
        wire.produced(usage)
        headers = self.headers(entry.number)
        if kind in AFTER_KINDS:
            raise wire.fault(AFTER_KINDS[kind], prompt.model)
        if kind in delivery.UNHEARD:
            return await delivery.unheard(request, kind, headers)
        if prompt.stream:
            return await self._streamed(request, prompt, entry, answer, usage)
        body = msgspec.json.encode(delivery.damaged(wire.answer(prompt, answer, usage, entry.number), kind))
        if kind == "truncated":
            return await delivery.send_truncated(request, body, headers)
        if kind == HUGE_HEADERS:
            return delivery.with_huge_header(delivery.json_response(body, 200, headers))
        entry.answered = True
        if kind == "slow":
            return await delivery.send_slowly(request, body, headers, world.clock)
        return delivery.json_response(body, 200, headers)

    async def _streamed(
        self, request: web.BaseRequest, prompt: Prompt, entry: Entry, answer: Answer, usage: Usage
    ) -> web.StreamResponse:
        wire, kind = self._wire, entry.fault
        events = list(wire.events(prompt, answer, usage, entry.number))
        headers = {**self.headers(entry.number), "Content-Type": "text/event-stream"}
        if kind == "truncated":
            return await delivery.send_truncated(request, b"".join(events), headers)
        if kind == "sse_error":
            entry.billed = False  # an answer the provider broke off is not charged
            events = [*events[: len(events) // 2], wire.error_event()]
        entry.answered = kind != "sse_error"
        return await delivery.send_lines(request, events, headers | {"Cache-Control": "no-cache"}, self._world.clock)

    def answer(self, body: Any) -> web.Response:
        """A JSON answer with the provider's headers."""
        return self.answer_bytes(msgspec.json.encode(body), "application/json")

    def answer_bytes(self, body: bytes, content_type: str) -> web.Response:
        """An answer of any type with the provider's headers."""
        headers = self.headers(self._world.next_number())
        headers["Content-Type"] = content_type
        return delivery.json_response(body, 200, headers)

    def headers(self, number: int) -> CIMultiDict[str]:
        """The headers of every answer, dated by its clock; without limits they change once a second at most."""
        second = int(self._world.clock.now())
        if second != self._second or self._limited:
            self._second = second
            self._fixed = self._wire.limit_headers() if self._rates else CIMultiDict()
            self._fixed["Content-Type"] = "application/json"
            self._fixed["Date"] = http_date(second)
        headers = self._fixed.copy()
        headers[self._wire.request_id_header] = f"req_sim{number:08d}"
        return headers

    def refusal(self, refused: Refused, number: int) -> web.Response:
        """An error as the provider sends it."""
        headers = self.headers(number)
        if refused.retry_after_s is not None:
            headers["retry-after"] = str(ceil(refused.retry_after_s))
        return delivery.json_response(
            self._wire.error(refused, headers[self._wire.request_id_header]), refused.status, headers
        )
