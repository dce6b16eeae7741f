"""One batch of either wire, and the shelf of all of them with the calls about them.

A batch is a plan, not a task: what has happened by now follows from the clock alone. So it runs on while nobody looks,
survives every disconnect, and a stepped clock is enough to finish it. Its requests meet the same personas and content
faults as live calls, at the batch price.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from aiohttp import web

from batchwork.simulator.answers import answer_to, usage_for
from batchwork.simulator.bill import Usage
from batchwork.simulator.bodies import decoded, parsed, read_limited
from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.delivery import damaged
from batchwork.simulator.dice import generator
from batchwork.simulator.errors import Refused
from batchwork.simulator.faults import HTTP_KINDS, LATE_KINDS, LOST_LINES
from batchwork.simulator.log import BatchRecord, LoggedCall, preview_of
from batchwork.simulator.prompt import Prompt
from batchwork.simulator.wire import Wire
from batchwork.simulator.world import Shelf, World

_BREATH = 25  # requests answered before other calls get their turn
_WHOLE_CALL = frozenset({"401", "413", "quota"})  # faults that a single request cannot meet


class Batch(ABC):
    """What the batches of both wires have in common."""

    def __init__(
        self, world: World, wire: Wire, batch_id: str, requests: Sequence[tuple[str, Any]], path: str, delay_s: float
    ) -> None:
        """Plan the batch; `requests` are custom ids and bodies, `delay_s` passes before it starts."""
        self.id = batch_id
        self.created_at = world.clock.now()
        self.cancelled_at: float | None = None
        self._world = world
        self._wire = wire
        self._path = path
        self._requests = requests
        self._start = self.created_at + delay_s
        self._finish = _finish_times(world, batch_id, len(requests), self._start)
        self._taken: list[tuple[Prompt, LoggedCall, int] | Refused] = []
        self._lines: dict[int, tuple[str, bytes]] = {}
        self._usage = Usage()  # of all that is answered, the cached input with the rest
        self._lock = asyncio.Lock()

    @property
    def size(self) -> int:
        """How many requests it holds."""
        return len(self._requests)

    @property
    def expires_at(self) -> float:
        """When what is not done will never be."""
        return self.created_at + self._world.config.window_s

    async def take_in(self) -> None:
        """Read all requests, giving other calls their turn in between."""
        for number, (custom_id, body) in enumerate(self._requests):
            self._taken.append(self._take(custom_id, body))
            if number % (8 * _BREATH) == 0:
                await asyncio.sleep(0)

    def _take(self, custom_id: str, body: Any) -> tuple[Prompt, LoggedCall, int] | Refused:
        """Read a request into the log; what is wrong with it is only told in its result line."""
        try:
            prompt = parsed(lambda: self._parse(body))
        except Refused as refused:
            model = str(body.get("model", "")) if isinstance(body, dict) else ""
            self._received(custom_id, model=model, prompt=f"invalid:{custom_id}", preview="", status=400)
            return refused
        entry, seen = self._received(
            custom_id, model=prompt.model, prompt=prompt.digest, preview=preview_of(prompt.last)
        )
        return prompt, entry, seen

    def _received(self, custom_id: str, **known: Any) -> tuple[LoggedCall, int]:
        world, wire = self._world, self._wire
        entry = LoggedCall(
            number=world.next_number(), api=wire.api, path=self._path, at=world.clock.now(), custom_id=custom_id,
            batch_id=self.id, tier="batch", **known,
        )  # fmt: skip
        return entry, world.log.receive(entry)

    async def settle(self) -> None:
        """Answer every request that is done by now; a cancelled batch still finishes what was under way."""
        async with self._lock:
            now = min(self._world.clock.now(), self.expires_at)
            if self.cancelled_at is not None:
                now = min(now, self.cancelled_at + self._world.config.cancel_time_s / 2)
            due = [n for n, at in enumerate(self._finish) if at <= now and n not in self._lines]
            for done, number in enumerate(due):
                self._lines[number] = self._result(number)
                if done % _BREATH == _BREATH - 1:
                    await asyncio.sleep(0)

    def _result(self, number: int) -> tuple[str, bytes]:
        """Anthropic's word for what became of a request, and its line."""
        taken = self._taken[number]
        if isinstance(taken, Refused):
            return "errored", self._line(number, "errored", refused=taken)
        prompt, entry, seen = taken
        step, kind = self._world.draw("item", prompt, seen, entry.custom_id)
        entry.fault = kind
        if kind is not None and kind in LATE_KINDS:
            entry.status = 500
            return kind, self._line(number, kind)
        if kind is not None and kind in HTTP_KINDS:
            entry.status = int(kind) if kind.isdigit() else 500
            fault = "500" if kind in _WHOLE_CALL else kind
            refused = self._wire.provider.fault(fault, prompt.model, self._world.config.retry_after_s)
            return "errored", self._line(number, "errored", refused=refused)
        try:
            answer = answer_to(self._world.persona, prompt, kind, step)
        except Refused as refused:
            entry.status = refused.status
            return "errored", self._line(number, "errored", refused=refused)
        usage = self._world.with_cache(prompt, usage_for(prompt, answer))
        entry.status, entry.usage, entry.billed = 200, usage, True
        entry.answered = kind not in LOST_LINES
        self._usage = Usage(self._usage.input + usage.total_input, self._usage.output + usage.output)
        body = self._wire.answer(prompt, answer, usage, entry.number, self._finish[number])
        return "succeeded", _written(self._line(number, "succeeded", damaged(body, kind)), kind)

    def _order_of_lines(self) -> list[int]:
        """The order of the result lines: never the order of asking, when there is another."""
        order = list(range(self.size))
        generator(self._world.config.seed, "order", self.id).shuffle(order)
        if self.size > 1 and order == sorted(order):
            order.reverse()
        return order

    @abstractmethod
    async def shown(self) -> dict[str, Any]:
        """The batch object, as the provider shows it."""

    @abstractmethod
    def check_cancel(self) -> None:
        """Refuse a cancel that comes too late."""

    def check_delete(self) -> None:  # noqa: B027 - most take it at any time
        """Refuse to delete a batch that is not over, where the provider does."""

    @abstractmethod
    def _parse(self, body: Any) -> Prompt: ...

    @abstractmethod
    def _line(
        self, number: int, kind: str, body: dict[str, Any] | None = None, refused: Refused | None = None
    ) -> bytes:
        """The result line of a request: `succeeded` with its body, `errored` with its refusal, or a late kind."""


def _finish_times(world: World, batch_id: str, count: int, start: float) -> list[float]:
    """When each request is done, by its position: spread over the batch's time, the last one at its end."""
    dice, length = generator(world.config.seed, "batch", batch_id), world.config.batch_time_s
    times = [start + length * (0.1 + 0.9 * dice.random()) for _ in range(count)]
    if times:
        times[dice.randrange(count)] = start + length
    return times


def _written(line: bytes, kind: str | None) -> bytes:
    """The result line as it stands in the file, under a fault of its request."""
    match kind:
        case "missing":
            return b""
        case "not_json":
            return line[: len(line) // 2] + b"\n"
        case "duplicated":
            return line + line
        case _:
            return line


B = TypeVar("B", bound=Batch)


class BatchShelf(Shelf[B], ABC):
    """What the calls about batches of both wires have in common."""

    prefix: ClassVar[str]  # of the ids
    unknown: ClassVar[str]  # the message when there is no such batch

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls.world)
        self._calls = calls

    async def settle(self) -> None:
        """Let every batch catch up with the clock."""
        for batch in list(self._kept.values()):
            await batch.settle()

    def handlers(self, path: str) -> dict[str, Handler]:
        """The calls about batches, by method and path; where they are created, but for Gemini's, is where they are."""
        handler, one = self._calls.handler, f"{path}/([^/:]+)"
        return {
            f"POST {path}": self.create,
            f"GET {path}": handler("list", self.listed),
            f"GET {one}": handler("poll", self.retrieve, self.full_id),
            f"DELETE {one}": handler("cancel", self.delete),
            f"POST {one}[/:]cancel": handler("cancel", self.cancel),
        }

    def full_id(self, batch_id: str) -> str:
        """The id of a batch, by what stands in a path."""
        return batch_id

    async def create(self, request: web.BaseRequest, *_model: str) -> web.StreamResponse:
        """`POST .../batches`."""
        self._calls.wire.authorize(request.headers)
        raw = await read_limited(request, self._world.config.max_batch_bytes)
        batch_id = f"{self.prefix}{self._world.next_number():08d}"

        async def work() -> web.Response:
            batch = self._made(batch_id, decoded(raw), request)
            await batch.take_in()
            self._kept[batch_id] = batch
            self._world.log.batches[batch_id] = BatchRecord(api=self._calls.wire.api, size=batch.size)
            return self._calls.answer(self._created(await batch.shown()))

        return await self._calls.run(request, "create", work, batch_id)

    def _created(self, shown: dict[str, Any]) -> dict[str, Any]:
        """The answer to a creation; some put the batch into an envelope."""
        return shown

    async def retrieve(self, request: web.BaseRequest, batch_id: str) -> web.Response:  # noqa: ARG002
        """`GET .../batches/{id}`."""
        return self._calls.answer(await self._batch(batch_id).shown())

    async def listed(self, request: web.BaseRequest) -> web.Response:
        """`GET .../batches`: newest first; a young batch may not be listed yet."""
        ripe = self._world.clock.now() - self._world.config.list_lag_s
        newest = sorted(self._kept.values(), key=lambda batch: batch.created_at)[::-1]
        shown = [await batch.shown() for batch in newest if batch.created_at <= ripe]
        return self._calls.answer(self._calls.wire.page(shown, request.rel_url.query))

    async def cancel(self, request: web.BaseRequest, batch_id: str) -> web.Response:  # noqa: ARG002
        """`POST .../batches/{id}/cancel`: what is done stays done."""
        batch = self._batch(batch_id)
        batch.check_cancel()
        if batch.cancelled_at is None:
            await batch.settle()
            batch.cancelled_at = self._world.clock.now()
        return self._calls.answer(await batch.shown())

    async def delete(self, request: web.BaseRequest, batch_id: str) -> web.Response:  # noqa: ARG002
        """`DELETE .../batches/{id}`: only when it is over."""
        batch = self._batch(batch_id)
        batch.check_delete()
        await batch.settle()
        del self._kept[batch.id]
        return self._calls.answer(self._deleted(batch_id))

    def _deleted(self, batch_id: str) -> dict[str, Any]:
        """The answer to a deletion."""
        return {"id": batch_id, "object": "batch", "deleted": True}

    def _batch(self, batch_id: str) -> B:
        batch = self._kept.get(self.full_id(batch_id))
        if batch is None:
            raise Refused(404, self.unknown.format(batch_id), param="id")
        return batch

    @abstractmethod
    def _made(self, batch_id: str, body: Any, request: web.BaseRequest) -> B:
        """The batch that a create call asks for."""
