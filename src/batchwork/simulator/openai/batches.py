"""One OpenAI batch, from validating to completed; or failed, expired or cancelled, with what was done."""

import asyncio
from typing import Any

import msgspec

from batchwork.simulator.bill import Usage
from batchwork.simulator.bodies import parsed
from batchwork.simulator.damage import damaged
from batchwork.simulator.errors import Refused
from batchwork.simulator.fault_kinds import LATE_KINDS
from batchwork.simulator.items import answer_item, received, received_invalid, status_of, written
from batchwork.simulator.log import Entry
from batchwork.simulator.openai.batch_input import InputLine, read_input
from batchwork.simulator.openai.files import Files
from batchwork.simulator.openai.parse import parse_chat, parse_responses
from batchwork.simulator.openai.render import chat_of, error_of, response_of
from batchwork.simulator.openai.wire import OpenAIWire
from batchwork.simulator.prompt import Prompt
from batchwork.simulator.schedule import finish_times, shuffled
from batchwork.simulator.world import World

_BREATH = 25
_LATE = {
    "expired": ("batch_expired", "This request could not be executed before the completion window expired."),
    "canceled": ("batch_cancelled", "This request was not executed because the batch was cancelled."),
    "cancelled": ("batch_cancelled", "This request was not executed because the batch was cancelled."),
}
_OVER = frozenset({"completed", "failed", "expired", "cancelled"})


class Batch:
    """Its requests, when each is done, and the lines of those that are."""

    def __init__(self, world: World, wire: OpenAIWire, files: Files, batch_id: str, order: dict[str, Any]) -> None:
        self.id = batch_id
        self.created_at = world.clock.now()
        self.cancelled_at: float | None = None
        self._world = world
        self._wire = wire
        self._files = files
        self._order = order
        self._lines, self._errors = read_input(
            files.get(order["input_file_id"]).content, order["endpoint"], world.config
        )
        self._start = self.created_at + world.config.validation_time_s
        self._finish = finish_times(world.config, self.id, len(self._lines), self._start)
        self._done: dict[int, tuple[bool, bytes]] = {}
        self._usage = Usage()
        self._outputs: tuple[str | None, str | None] | None = None
        self._lock = asyncio.Lock()
        self._taken: list[tuple[Prompt, Entry, int] | Refused] = []

    async def take_in(self) -> None:
        """Read all requests of a valid file, giving other calls their turn in between."""
        for number, line in enumerate(self._lines if not self._errors else ()):
            self._taken.append(self._take(line))
            if number % (8 * _BREATH) == 0:
                await asyncio.sleep(0)

    def _take(self, line: InputLine) -> tuple[Prompt, Entry, int] | Refused:
        endpoint = self._order["endpoint"]
        try:
            parse = parse_responses if endpoint == "/v1/responses" else parse_chat
            prompt = msgspec.structs.replace(parsed(lambda: parse(line.body)), lane="standard")
            if prompt.stream:
                raise Refused(
                    400, "Streaming is not supported in batches.", param="stream", code="unsupported_parameter"
                )
        except Refused as refused:
            model = str(line.body.get("model", ""))
            received_invalid(self._world, "openai", model, path=endpoint, custom_id=line.custom_id, batch_id=self.id)
            return refused
        return (
            prompt,
            *received(self._world, "openai", prompt, path=endpoint, custom_id=line.custom_id, batch_id=self.id),
        )

    @property
    def size(self) -> int:
        """How many requests it holds."""
        return len(self._lines)

    @property
    def expires_at(self) -> float:
        """When what is not done will never be."""
        return self.created_at + self._world.config.window_s

    @property
    def _last(self) -> float:
        return max(self._finish, default=self._start)

    def status(self) -> str:
        """Where it stands now."""
        now, config = self._world.clock.now(), self._world.config
        if self.cancelled_at is not None:
            return "cancelled" if now >= self.cancelled_at + config.cancel_time_s else "cancelling"
        if now < self._start:
            return "validating"
        if self._errors:
            return "failed"
        if self._last > self.expires_at:
            return "expired" if now >= self.expires_at else "in_progress"
        if now < self._last:
            return "in_progress"
        return "completed" if now >= self._last + config.validation_time_s / 2 else "finalizing"

    @property
    def cancellable(self) -> bool:
        """Whether a cancel can still change anything."""
        return self.status() not in _OVER

    async def settle(self) -> None:
        """Answer every request that is done by now, and write the files when all is over."""
        async with self._lock:
            if self._errors:
                return
            now = min(self._world.clock.now(), self.expires_at)
            if self.cancelled_at is not None:
                now = min(now, self.cancelled_at + self._world.config.cancel_time_s / 2)
            due = [number for number, at in enumerate(self._finish) if at <= now and number not in self._done]
            for count, number in enumerate(due):
                self._done[number] = self._answer(number)
                if count % _BREATH == _BREATH - 1:
                    await asyncio.sleep(0)
            status = self.status()
            if status in _OVER and self._outputs is None:
                self._outputs = self._written(status)

    def _answer(self, number: int) -> tuple[bool, bytes]:
        taken = self._taken[number]
        if isinstance(taken, Refused):
            return False, self._response(number, taken.status, error_of(taken))
        prompt, entry, seen = taken
        try:
            said, usage = answer_item(self._world, prompt, entry, seen)
        except Refused as refused:
            if refused.type in LATE_KINDS:
                return False, self._late(number, refused.type)
            fault = self._wire.fault(status_of(refused), prompt.model)
            return False, self._response(number, fault.status, error_of(fault))
        self._usage = Usage(self._usage.input + usage.total_input, self._usage.output + usage.output)
        created = int(self._finish[number])
        prompt = msgspec.structs.replace(prompt, lane="standard")  # the answers of a batch name no other tier
        if self._order["endpoint"] == "/v1/responses":
            body = response_of(prompt, said, usage, f"resp_sim{entry.number:08d}", created)
        else:
            body = chat_of(prompt, said, usage, f"chatcmpl-sim{entry.number:08d}", created)
        return True, written(self._response(number, 200, damaged(body, entry.fault)), entry.fault)

    def _response(self, number: int, status: int, body: dict[str, Any]) -> bytes:
        answer = {"status_code": status, "request_id": f"req_{self.id[-8:]}_{number}", "body": body}
        return self._line(number, answer, None)

    def _late(self, number: int, why: str) -> bytes:
        code, message = _LATE[why]
        return self._line(number, None, {"code": code, "message": message})

    def _line(self, number: int, response: dict[str, Any] | None, error: dict[str, str] | None) -> bytes:
        line = {
            "id": f"batch_req_{self.id[-8:]}_{number}",
            "custom_id": self._lines[number].custom_id,
            "response": response,
            "error": error,
        }
        return msgspec.json.encode(line) + b"\n"

    def _written(self, status: str) -> tuple[str | None, str | None]:
        """Put the lines into an output and an error file; either is missing when it would be empty."""
        good: list[bytes] = []
        bad: list[bytes] = []
        for number in shuffled(self._world.config, self.id, len(self._lines)):
            if number in self._done:
                fine, line = self._done[number]
                (good if fine else bad).append(line)
            elif status in _LATE:
                bad.append(self._late(number, status))
        names = (f"{self.id}_output.jsonl", f"{self.id}_error.jsonl")
        output, error = (
            self._files.add(b"".join(lines), name, "batch_output", self.id).id if lines else None
            for lines, name in zip((good, bad), names, strict=True)
        )
        return output, error

    async def shown(self) -> dict[str, Any]:
        """The batch object; its counts are live."""
        await self.settle()
        status = self.status()
        config = self._world.config
        output, error = self._outputs or (None, None)
        end = self._last + config.validation_time_s / 2
        fine = sum(good for good, _ in self._done.values())
        failed = status == "failed"
        total = 0 if status in ("validating", "failed") else len(self._lines)
        cancelled = self.cancelled_at
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self._order["endpoint"],
            "model": str(self._lines[0].body.get("model")) if self._lines else None,
            "errors": {"object": "list", "data": self._errors} if failed else None,
            "input_file_id": self._order["input_file_id"],
            "completion_window": self._order["completion_window"],
            "status": status,
            "output_file_id": output,
            "error_file_id": error,
            "created_at": int(self.created_at),
            "in_progress_at": int(self._start) if status not in ("validating", "failed") else None,
            "expires_at": int(self.expires_at),
            "finalizing_at": int(self._last) if status in ("finalizing", "completed") else None,
            "completed_at": int(end) if status == "completed" else None,
            "failed_at": int(self._start) if failed else None,
            "expired_at": int(self.expires_at) if status == "expired" else None,
            "cancelling_at": int(cancelled) if cancelled is not None else None,
            "cancelled_at": int(cancelled + config.cancel_time_s)
            if cancelled is not None and status == "cancelled"
            else None,
            "request_counts": {"total": total, "completed": fine, "failed": len(self._done) - fine},
            "usage": {
                "input_tokens": self._usage.input,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": self._usage.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": self._usage.input + self._usage.output,
            },
            "metadata": self._order.get("metadata"),
        }
