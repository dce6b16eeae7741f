"""Gemini's batches: long-running operations over a file or over requests inside of the call.

What a batch has when it expires is gone, although it may be billed. What is left out of the results of a cancelled one
was not executed.
"""

from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator.batch import Batch, BatchShelf
from batchwork.simulator.bodies import json_lines
from batchwork.simulator.calls import Calls
from batchwork.simulator.clock import rfc3339_exact
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.gemini.embeddings import EmbeddingLines
from batchwork.simulator.gemini.files import GeminiFiles
from batchwork.simulator.gemini.render import error_of
from batchwork.simulator.gemini.wire import GeminiWire
from batchwork.simulator.prompt import Prompt
from batchwork.simulator.world import World

_WINDOWS = 2  # of a day: 48 hours
_OVER = frozenset({"SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})
_CODES = {400: 3, 401: 16, 403: 7, 404: 5, 408: 4, 409: 10, 429: 8, 500: 13, 503: 14, 504: 4}
_LATE = {"code": 1, "message": "The operation was cancelled.", "status": "CANCELLED"}


class GeminiBatch(Batch):
    """One batch of one model."""

    def __init__(
        self, world: World, wire: GeminiWire, files: GeminiFiles, batch_id: str, order: dict[str, Any], model: str
    ) -> None:
        requests, self._problem, self._inline = read_order(order, files)
        super().__init__(world, wire, batch_id, requests, wire.path, world.config.validation_time_s)
        self._files = files
        self._order = order
        self._model = model
        self._output: dict[str, Any] | None = None

    @property
    def expires_at(self) -> float:
        """Two days after it was made."""
        return self.created_at + _WINDOWS * self._world.config.window_s

    @property
    def _last(self) -> float:
        return max(self._finish, default=self._start)

    @property
    def ended_at(self) -> float | None:
        """When it ended; None while it runs."""
        now, cancelled = self._world.clock.now(), self.cancelled_at
        end = self._start if self._problem is not None else min(self._last, self.expires_at)
        if cancelled is not None:
            end = min(end, cancelled + self._world.config.cancel_time_s)
        return end if now >= end else None

    def state(self) -> str:
        """Where it stands now."""
        ended = self.ended_at
        if ended is None:
            return "PENDING" if self._world.clock.now() < self._start else "RUNNING"
        if self._problem is not None:
            return "FAILED"
        if ended >= self.expires_at:
            return "EXPIRED"
        return "SUCCEEDED" if ended >= self._last else "CANCELLED"

    async def take_in(self) -> None:
        """Read all requests of a readable file."""
        if self._problem is None:
            await super().take_in()

    def check_cancel(self) -> None:
        """A batch that is over cannot be cancelled."""
        state = self.state()
        if state in _OVER:
            raise Refused(400, f"Batch {self.id} is already {state}.", type="FAILED_PRECONDITION")

    def _parse(self, body: Any) -> Prompt:
        return msgspec.structs.replace(self._wire.parse({}, body, self._model), lane="standard")

    def _line(
        self, number: int, kind: str, body: dict[str, Any] | None = None, refused: Refused | None = None
    ) -> bytes:
        name = self._requests[number][0]
        result: dict[str, Any] = {"response": body} if kind == "succeeded" else {"error": _LATE}
        if refused is not None:
            error = error_of(refused)["error"]
            result = {"error": error | {"code": _CODES.get(refused.status, 2)}}
        return msgspec.json.encode({"key": name, **result}) + b"\n"

    async def settle(self) -> None:
        """Answer every request that is done by now, and write the results when all is over."""
        if self._problem is not None:
            return
        await super().settle()
        state = self.state()
        if state == "EXPIRED" and (record := self._world.log.batches.get(self.id)) is not None:
            record.gone = True
        if state in ("SUCCEEDED", "CANCELLED") and self._output is None:
            await super().settle()  # what became due while the others were answered
        if state in ("SUCCEEDED", "CANCELLED") and self._output is None:
            lines = [self._lines[number][1] for number in range(self.size) if number in self._lines]
            self._output = self._inlined(lines) if self._inline else self._filed(lines)

    def _filed(self, lines: list[bytes]) -> dict[str, Any]:
        return {"responsesFile": self._files.add(b"".join(lines), self.id).name}

    def _inlined(self, lines: list[bytes]) -> dict[str, Any]:
        held = [msgspec.json.decode(line) for line in b"".join(lines).splitlines()]
        results = [{"metadata": {"key": one.pop("key")}, **one} for one in held]
        return {"inlinedResponses": {"inlinedResponses": results}}

    async def shown(self) -> dict[str, Any]:
        """The operation; counts are 64-bit numbers, which are written as texts, and left out where they are 0."""
        await self.settle()
        state, ended = self.state(), self.ended_at
        fine = sum(kind == "succeeded" for kind, _ in self._lines.values())
        counts = {
            "requestCount": self.size,
            "successfulRequestCount": fine,
            "failedRequestCount": len(self._lines) - fine,
            "pendingRequestCount": self.size - len(self._lines),
        }
        metadata: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "model": f"models/{self._model}",
            "displayName": str(self._order.get("displayName") or self._order.get("display_name") or ""),
            "createTime": rfc3339_exact(self.created_at),
            "updateTime": rfc3339_exact(self._world.clock.now()),
            "batchStats": {name: str(count) for name, count in counts.items() if count},
            "state": f"BATCH_STATE_{state}",
            "name": self.id,
        }
        shown: dict[str, Any] = {"name": self.id, "metadata": metadata}
        if ended is not None:
            metadata["endTime"] = rfc3339_exact(ended)
            shown["done"] = True
        if self._output is not None:
            metadata["output"] = self._output
            shown["response"] = {"@type": f"{metadata['@type']}Output", **self._output}
        elif state == "FAILED":
            shown["error"] = {"code": 3, "message": self._problem}
        elif state == "EXPIRED":
            shown["error"] = {"code": 4, "message": "The batch has expired."}
        return shown


class GeminiBatches(BatchShelf[GeminiBatch]):
    """All Gemini batches of one simulator."""

    prefix = "batches/sim"
    unknown = "Requested entity was not found: {}"

    def __init__(self, calls: Calls, files: GeminiFiles) -> None:
        super().__init__(calls)
        self._files = files

    def full_id(self, batch_id: str) -> str:
        """The id of a batch, by what stands in a path."""
        return f"batches/{batch_id}"

    def _deleted(self, batch_id: str) -> dict[str, Any]:  # noqa: ARG002
        return {}

    async def cancel(self, request: web.BaseRequest, batch_id: str) -> web.Response:
        """`POST /v1/batches/{id}:cancel`: its answer says nothing."""
        await super().cancel(request, batch_id)
        return self._calls.answer({})

    def _made(self, batch_id: str, body: Any, request: web.BaseRequest) -> GeminiBatch:
        order = body.get("batch") if isinstance(body, dict) else None
        refuse_if(not isinstance(order, dict), "* BatchGenerateContentRequest.batch: must be specified")
        assert isinstance(order, dict)
        model, _, verb = request.path.rpartition("/models/")[2].partition(":")
        wire = EmbeddingLines(self._world) if verb == "asyncBatchEmbedContent" else GeminiWire(self._world)
        return GeminiBatch(self._world, wire, self._files, batch_id, order, model)


def read_order(order: dict[str, Any], files: GeminiFiles) -> tuple[list[tuple[str, Any]], str | None, bool]:
    """The requests of a batch, what is wrong with its file, and whether they stand in the call itself."""
    config = order.get("inputConfig") or order.get("input_config") or {}
    inline = (config.get("requests") or {}).get("requests")
    if isinstance(inline, list):
        return [(str((one.get("metadata") or {}).get("key")), one.get("request")) for one in inline], None, True
    name = config.get("fileName") or config.get("file_name")
    refuse_if(not isinstance(name, str), "* BatchGenerateContentRequest.batch.input_config: must be specified")
    requests: list[tuple[str, Any]] = []
    for number, line in json_lines(bytes(files.get(str(name)).content)):
        if line is None:
            return requests, f"Line {number} of the input file is not valid JSON.", False
        if not (isinstance(line, dict) and isinstance(line.get("request"), dict)):
            return requests, f"Line {number} of the input file has no request.", False
        requests.append((str(line.get("key")), line["request"]))
    return requests, None if requests else "The input file is empty.", False
