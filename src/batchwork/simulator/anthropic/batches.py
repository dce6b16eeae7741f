"""Anthropic's message batches: created at once, validated later, counted only when all is over."""

import asyncio
import re
from typing import Any

import msgspec

from batchwork.simulator.anthropic.parse import parse_messages
from batchwork.simulator.anthropic.render import error_body, message_of
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.bodies import parsed
from batchwork.simulator.clock import rfc3339_exact
from batchwork.simulator.damage import damaged
from batchwork.simulator.errors import Refused
from batchwork.simulator.fault_kinds import LATE_KINDS
from batchwork.simulator.items import answer_item, received, received_invalid, status_of, written
from batchwork.simulator.log import Entry
from batchwork.simulator.prompt import Prompt
from batchwork.simulator.schedule import finish_times, shuffled
from batchwork.simulator.world import World

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_ARCHIVED_AFTER_S = 29 * 24 * 3600.0
_PATH = "/v1/messages/batches"
_BREATH = 25  # requests answered before other calls get their turn


class MessageBatch:
    """One batch: its requests, when each is done, and the lines of those that are."""

    def __init__(
        self, world: World, wire: AnthropicWire, batch_id: str, requests: list[tuple[str, Any]], version: str
    ) -> None:
        self.id = batch_id
        self.created_at = world.clock.now()
        self.cancelled_at: float | None = None
        self._world = world
        self._wire = wire
        self._requests = requests
        self._finish = finish_times(world.config, batch_id, len(requests), self.created_at)
        self._prompts: list[tuple[Prompt, Entry, int] | Refused] = []
        self._lines: dict[int, tuple[str, bytes]] = {}
        self._lock = asyncio.Lock()
        self._version = version

    async def take_in(self) -> None:
        """Read all requests, giving other calls their turn in between."""
        for number, (custom_id, params) in enumerate(self._requests):
            self._prompts.append(self._take(custom_id, params, self._version))
            if number % (8 * _BREATH) == 0:
                await asyncio.sleep(0)

    def _take(self, custom_id: str, params: Any, version: str) -> tuple[Prompt, Entry, int] | Refused:
        """Read the request; what is wrong with it is only told in its result line."""
        try:
            for name in ("stream", "speed", "thread"):
                if isinstance(params, dict) and params.get(name):
                    raise Refused(400, f"{name}: not supported in message batches")
            prompt = parsed(lambda: parse_messages(params, version))
            if prompt.max_tokens == 0:
                raise Refused(400, "max_tokens: Input should be greater than or equal to 1")
        except Refused as refused:
            model = str(params.get("model", "")) if isinstance(params, dict) else ""
            received_invalid(self._world, "anthropic", model, path=_PATH, custom_id=custom_id, batch_id=self.id)
            return refused
        return (prompt, *received(self._world, "anthropic", prompt, path=_PATH, custom_id=custom_id, batch_id=self.id))

    @property
    def expires_at(self) -> float:
        """When what is not done will never be."""
        return self.created_at + self._world.config.window_s

    @property
    def _deadline(self) -> float:
        """What is done later than this is not done at all; a cancelled batch still finishes what was under way."""
        if self.cancelled_at is None:
            return self.expires_at
        return min(self.expires_at, self.cancelled_at + self._world.config.cancel_time_s / 2)

    @property
    def ended_at(self) -> float:
        """When it ends, as things stand."""
        natural = min(max(self._finish, default=self.created_at), self.expires_at)
        if self.cancelled_at is None:
            return natural
        return min(natural, self.cancelled_at + self._world.config.cancel_time_s)

    @property
    def ended(self) -> bool:
        """Whether it has ended by now."""
        return self._world.clock.now() >= self.ended_at

    @property
    def archived(self) -> bool:
        """Whether its results are gone."""
        return self._world.clock.now() >= self.created_at + _ARCHIVED_AFTER_S

    async def settle(self) -> None:
        """Answer every request that is done by now."""
        async with self._lock:
            now = min(self._world.clock.now(), self._deadline)
            due = [n for n, at in enumerate(self._finish) if at <= now and n not in self._lines]
            for done, number in enumerate(due):
                self._lines[number] = self._result(number)
                if done % _BREATH == _BREATH - 1:
                    await asyncio.sleep(0)

    def _result(self, number: int) -> tuple[str, bytes]:
        taken = self._prompts[number]
        if isinstance(taken, Refused):
            return "errored", self._errored(number, taken)
        prompt, entry, seen = taken
        try:
            said, usage = answer_item(self._world, prompt, entry, seen)
        except Refused as refused:
            if refused.type in LATE_KINDS:
                return refused.type, self._line(number, {"type": refused.type})
            return "errored", self._errored(number, self._wire.fault(status_of(refused), prompt.model))
        message = damaged(message_of(prompt, said, usage, f"msg_sim{entry.number:08d}", "batch"), entry.fault)
        line = self._line(number, {"type": "succeeded", "message": message})
        return "succeeded", written(line, entry.fault)

    def _errored(self, number: int, refused: Refused) -> bytes:
        error = msgspec.json.decode(error_body(refused, f"req_{self.id[-8:]}_{number}"))
        return self._line(number, {"type": "errored", "error": error})

    def _line(self, number: int, result: dict[str, Any]) -> bytes:
        return msgspec.json.encode({"custom_id": self._requests[number][0], "result": result}) + b"\n"

    async def results(self) -> bytes:
        """All result lines, in no order."""
        await self.settle()
        left = "canceled" if self.cancelled_at is not None and self.cancelled_at < self.expires_at else "expired"
        order = shuffled(self._world.config, self.id, len(self._requests))
        lines = [self._lines[n][1] if n in self._lines else self._line(n, {"type": left}) for n in order]
        return b"".join(lines)

    async def shown(self) -> dict[str, Any]:
        """The batch object; its counts do not move before the end."""
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        status = "in_progress" if self.cancelled_at is None else "canceling"
        results_url = None
        if self.ended:
            await self.settle()
            status = "ended"
            for kind, _ in self._lines.values():
                counts[kind] += 1
            left = len(self._requests) - len(self._lines)
            counts[
                "canceled" if self.cancelled_at is not None and self.cancelled_at < self.expires_at else "expired"
            ] += left
            if not self.archived:
                results_url = f"{self._world.base_url}/v1/messages/batches/{self.id}/results"
        else:
            counts["processing"] = len(self._requests)
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": counts,
            "created_at": rfc3339_exact(self.created_at),
            "expires_at": rfc3339_exact(self.expires_at),
            "ended_at": rfc3339_exact(self.ended_at) if self.ended else None,
            "cancel_initiated_at": None if self.cancelled_at is None else rfc3339_exact(self.cancelled_at),
            "archived_at": rfc3339_exact(self.created_at + _ARCHIVED_AFTER_S) if self.archived else None,
            "results_url": results_url,
        }


def check_envelope(body: Any, most: int) -> list[tuple[str, Any]]:
    """The requests of a create call; only the envelope is checked now.

    Raises:
        Refused: 400 for what is wrong with the envelope.
    """
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list):
        raise Refused(400, "requests: Field required")
    if not requests:
        raise Refused(400, "requests: List should have at least 1 item after validation, not 0")
    if len(requests) > most:
        raise Refused(400, f"requests: List should have at most {most} items after validation, not {len(requests)}")
    taken: list[tuple[str, Any]] = []
    seen: set[str] = set()
    for number, request in enumerate(requests):
        if not isinstance(request, dict) or not isinstance(request.get("custom_id"), str):
            raise Refused(400, f"requests.{number}.custom_id: Field required")
        custom_id = request["custom_id"]
        if len(custom_id) > 64:
            raise Refused(400, f"requests.{number}.custom_id: String should have at most 64 characters")
        if not _CUSTOM_ID.match(custom_id):
            raise Refused(400, f"requests.{number}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if custom_id in seen:
            raise Refused(400, f"requests.{number}.custom_id: custom_id '{custom_id}' is not unique in this batch")
        if not isinstance(request.get("params"), dict):
            raise Refused(400, f"requests.{number}.params: Field required")
        seen.add(custom_id)
        taken.append((custom_id, request["params"]))
    return taken
