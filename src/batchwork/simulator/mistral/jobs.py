"""Mistral's jobs: files of requests, one model, results in files that are kept for a day.

What a job had not done when it was cancelled or timed out stands in no file.
"""

from typing import Any

from aiohttp import web

from batchwork.simulator.batch import BatchShelf
from batchwork.simulator.bodies import json_lines
from batchwork.simulator.calls import Calls
from batchwork.simulator.errors import Refused
from batchwork.simulator.mistral.wire import MistralWire
from batchwork.simulator.openai.batches import OpenAIBatch
from batchwork.simulator.openai.files import FileShelf, StoredFile
from batchwork.simulator.openai.parse import bad
from batchwork.simulator.openai.service import SERVICES
from batchwork.simulator.openai.wire import CHAT, EMBEDDINGS
from batchwork.simulator.prompt import Prompt
from batchwork.simulator.world import World

_STATES = {
    "validating": "QUEUED",
    "in_progress": "RUNNING",
    "finalizing": "RUNNING",
    "completed": "SUCCESS",
    "failed": "FAILED",
    "expired": "TIMEOUT_EXCEEDED",
    "cancelling": "CANCELLATION_REQUESTED",
    "cancelled": "CANCELLED",
}
_KEPT_S = 24 * 3600


class MistralFiles(FileShelf):
    """Files with the fields that Mistral's have; what a job leaves is kept for a day."""

    def shown(self, stored: StoredFile) -> dict[str, Any]:
        """The file object."""
        kind = "batch_request" if stored.batch_id is None else "batch_result"
        return super().shown(stored) | {"sample_type": kind, "source": "upload"}

    def add(self, content: bytes, filename: str, purpose: str, batch_id: str | None = None) -> StoredFile:
        """Keep a file; `batch_id` is the job whose output it is."""
        stored = super().add(content, filename, purpose, batch_id)
        if batch_id is not None:
            stored.expires_at = stored.created_at + _KEPT_S
        return stored


class MistralJob(OpenAIBatch):
    """One job; it goes as OpenAI's batches do, under other names."""

    lists_late = False

    def _wire_of(self, world: World) -> MistralWire:
        return MistralWire(world, self._order["endpoint"])

    def _read(self, world: World) -> list[tuple[str, Any]]:  # noqa: ARG002
        """The requests of its files; what is wrong with them fails the whole job before it runs."""
        requests: list[tuple[str, Any]] = []
        self._errors = []
        for file_id in self._order["input_files"]:
            for number, line in json_lines(self._files.get(str(file_id)).content):
                if not isinstance(line, dict) or not isinstance(line.get("body"), dict) or "custom_id" not in line:
                    self._errors.append({"message": f"Line {number} has no custom_id or no body"})
                    continue
                requests.append((str(line["custom_id"]), line["body"]))
        if not requests and not self._errors:
            raise Refused(422, "The input files hold no requests.")
        return requests

    @property
    def expires_at(self) -> float:
        """When it times out."""
        return self.created_at + float(self._order.get("timeout_hours", 24)) / 24 * self._world.config.window_s

    def _parse(self, body: Any) -> Prompt:
        return super()._parse({"model": self._order["model"], **body})

    async def shown(self) -> dict[str, Any]:
        """The job; its counts are live."""
        await self.settle()
        status = self.status()
        output, error = self._outputs or (None, None)
        fine = sum(kind == "succeeded" for kind, _ in self._lines.values())
        ended = status in ("completed", "failed", "expired", "cancelled")
        return {
            "id": self.id,
            "object": "batch",
            "input_files": self._order["input_files"],
            "metadata": self._order.get("metadata"),
            "endpoint": self._path,
            "model": self._order["model"],
            "output_file": output,
            "error_file": error,
            "errors": [{"message": problem["message"], "count": 1} for problem in self._errors] if ended else [],
            "status": _STATES[status],
            "created_at": int(self.created_at),
            "total_requests": 0 if status == "validating" else self.size,
            "completed_requests": len(self._lines),
            "succeeded_requests": fine,
            "failed_requests": len(self._lines) - fine,
            "started_at": None if status == "validating" else int(self._start),
            "completed_at": int(self._world.clock.now()) if ended else None,
        }


class MistralJobs(BatchShelf[MistralJob]):
    """All jobs of one simulator."""

    prefix = "job-sim"
    unknown = "Batch job {} not found"

    def __init__(self, calls: Calls, files: FileShelf) -> None:
        super().__init__(calls)
        self._files = files

    def _made(self, batch_id: str, body: Any, request: web.BaseRequest) -> MistralJob:  # noqa: ARG002
        for name, kind in (("endpoint", str), ("model", str), ("input_files", list)):
            if not isinstance(body, dict) or not isinstance(body.get(name), kind):
                raise bad(f"{name}: Field required", name, "missing_required_parameter")
        if body["endpoint"] not in (CHAT, EMBEDDINGS):
            raise bad(f"The simulator takes {CHAT} and {EMBEDDINGS}, not {body['endpoint']}.", "endpoint")
        return MistralJob(self._world, self._files, batch_id, body, SERVICES["mistral"])
