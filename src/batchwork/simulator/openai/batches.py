"""OpenAI's batches: an input file, checked line by line; from validating to completed, failed, expired or cancelled."""

import re
from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator.batch import Batch, BatchShelf
from batchwork.simulator.bodies import json_lines
from batchwork.simulator.calls import Calls
from batchwork.simulator.config import SimulatorConfig
from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.files import FileShelf
from batchwork.simulator.openai.parse import bad
from batchwork.simulator.openai.render import error_of
from batchwork.simulator.openai.service import Service
from batchwork.simulator.openai.wire import OpenAIWire
from batchwork.simulator.prompt import Prompt
from batchwork.simulator.world import World

_LATE = {
    "expired": ("batch_expired", "This request could not be executed before the completion window expired."),
    "canceled": ("batch_cancelled", "This request was not executed because the batch was cancelled."),
}
_OVER = frozenset({"completed", "failed", "expired", "cancelled"})
_MOST_ERRORS = 50


class OpenAIBatch(Batch):
    """One batch of an input file."""

    lists_late = True  # what was not done in time stands in the file of errors

    def __init__(self, world: World, files: FileShelf, batch_id: str, order: dict[str, Any], service: Service) -> None:
        self._service, self._files, self._order = service, files, order
        self._outputs: tuple[str | None, str | None] | None = None
        requests, wire = self._read(world), self._wire_of(world)
        super().__init__(world, wire, batch_id, requests, wire.path, world.config.validation_time_s)

    def _wire_of(self, world: World) -> OpenAIWire:
        return OpenAIWire(world, self._service.endpoint(self._order["endpoint"]), self._service)

    def _read(self, world: World) -> list[tuple[str, Any]]:
        """Its requests; what is wrong with them is kept as its errors."""
        service, order = self._service, self._order
        content = _inline(order) if service.inline else self._files.get(order["input_file_id"]).content
        requests, self._errors = read_input(content, order["endpoint"], world.config, service)
        if service.model_at == "request_params":
            for field in {field for _, body in requests for field in body} - {"input"}:
                problem = f"'{field}' belongs into request_params."
                self._errors.append({"code": "unknown_parameter", "line": None, "message": problem, "param": field})
            requests = [(name, {**order["request_params"], **body}) for name, body in requests]
        if service.model_at == "batch":
            requests = [(name, {"model": order["model"], **body}) for name, body in requests]
        return requests

    @property
    def _last(self) -> float:
        return max(self._finish, default=self._start)

    async def take_in(self) -> None:
        """Read all requests of a valid file."""
        if not self._errors:
            await super().take_in()

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

    def check_cancel(self) -> None:
        """A batch that is over cannot be cancelled."""
        if (status := self.status()) in _OVER:
            raise Refused(409, f"Cannot cancel a batch with status '{status}'.", code="invalid_batch_status")

    async def settle(self) -> None:
        """Answer every request that is done by now, and write the files when all is over."""
        if self._errors:
            return
        await super().settle()
        status = self.status()
        if status in _OVER and self._outputs is None:
            await super().settle()  # what became due while the others were answered
            self._outputs = self._outputs or self._written(status)

    def _parse(self, body: Any) -> Prompt:
        prompt = self._wire.parse({}, body)
        if prompt.stream:
            raise bad("Streaming is not supported in batches.", "stream", "unsupported_parameter")
        return msgspec.structs.replace(prompt, lane="standard")  # the answers of a batch name no other tier

    def _line(
        self, number: int, kind: str, body: dict[str, Any] | None = None, refused: Refused | None = None
    ) -> bytes:
        response, error = None, None
        if kind in _LATE:
            error = dict(zip(("code", "message"), _LATE[kind], strict=True))
        else:
            status, body = (200, body) if refused is None else (refused.status, error_of(refused))
            response = {"status_code": status, "request_id": f"req_{self.id[-8:]}_{number}", "body": body}
        name = self._requests[number][0]
        line = {"id": f"batch_req_{self.id[-8:]}_{number}", "custom_id": name, "response": response, "error": error}
        return msgspec.json.encode(line) + b"\n"

    def _written(self, status: str) -> tuple[str | None, str | None]:
        """Put the lines into an output and an error file; either is missing when it would be empty."""
        good: list[bytes] = []
        bad: list[bytes] = []
        left = {"expired": "expired", "cancelled": "canceled"}.get(status)
        for number in self._order_of_lines():
            if number in self._lines:
                kind, line = self._lines[number]
                (good if kind == "succeeded" else bad).append(line)
            elif left is not None and self.lists_late:
                bad.append(self._line(number, left))
        output, error = (
            self._files.add(b"".join(lines), f"{self.id}_{name}.jsonl", "batch_output", self.id).id if lines else None
            for lines, name in ((good, "output"), (bad, "error"))
        )
        return output, error

    async def shown(self) -> dict[str, Any]:
        """The batch object; its counts are live."""
        await self.settle()
        status, config, cancelled = self.status(), self._world.config, self.cancelled_at
        output, error = self._outputs or (None, None)
        fine = sum(kind == "succeeded" for kind, _ in self._lines.values())
        early = status in ("validating", "failed")

        def at(moment: float | None, *statuses: str) -> int | None:
            return int(moment) if moment is not None and (not statuses or status in statuses) else None

        shown = {
            "id": self.id,
            "object": "batch",
            "endpoint": self._order["endpoint"],
            "model": str(self._requests[0][1].get("model")) if self._requests else None,
            "errors": {"object": "list", "data": self._errors} if status == "failed" else None,
            "input_file_id": self._order.get("input_file_id"),
            "completion_window": self._order["completion_window"],
            "status": status,
            "output_file_id": output,
            "error_file_id": error,
            "created_at": int(self.created_at),
            "in_progress_at": None if early else int(self._start),
            "expires_at": int(self.expires_at),
            "finalizing_at": at(self._last, "finalizing", "completed"),
            "completed_at": at(self._last + config.validation_time_s / 2, "completed"),
            "failed_at": at(self._start, "failed"),
            "expired_at": at(self.expires_at, "expired"),
            "cancelling_at": at(cancelled),
            "cancelled_at": None if cancelled is None else at(cancelled + config.cancel_time_s, "cancelled"),
            "request_counts": {
                "total": 0 if early else self.size,
                "completed": fine,
                "failed": len(self._lines) - fine,
            },
            "usage": {
                "input_tokens": self._usage.input,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": self._usage.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": self._usage.input + self._usage.output,
            },
            "metadata": self._order.get("metadata"),
        }
        return self._service.shown(shown)

    async def results(self) -> list[Any] | None:
        """The results of a batch without files; None before it is over."""
        await self.settle()
        files = [self._files.get(name).content for name in self._outputs or () if name is not None]
        lines = json_lines(b"".join(files))  # one that is damaged is null
        return [line for _, line in lines] if self._outputs is not None else None


class OpenAIBatches(BatchShelf[OpenAIBatch]):
    """All OpenAI batches of one simulator."""

    prefix = "batch_sim"
    unknown = "No batch found with id '{}'."

    def __init__(self, calls: Calls, files: FileShelf, service: Service) -> None:
        super().__init__(calls)
        self._files = files
        self._service = service

    def _created(self, shown: dict[str, Any]) -> dict[str, Any]:
        return {"job": shown} if self._service.envelope else shown

    async def create(self, request: web.BaseRequest, *_model: str) -> web.StreamResponse:
        """`POST /v1/batches`; one with its requests inside is only queued."""
        response = await super().create(request)
        if self._service.inline and response.status == 200:
            response.set_status(202)
        return response

    async def retrieve(self, request: web.BaseRequest, batch_id: str) -> web.Response:
        """`GET /v1/batches/{id}`: where there are no files, with the results of one that is over."""
        if not self._service.inline:
            return await super().retrieve(request, batch_id)
        batch = self._batch(batch_id)
        shown, results = await batch.shown(), await batch.results()
        if results is not None:
            self._world.log.note("results")
        return self._calls.answer({**shown, "results": results})

    def _made(self, batch_id: str, body: Any, request: web.BaseRequest) -> OpenAIBatch:  # noqa: ARG002
        if self._service.inline:
            if not isinstance(body, dict) or [*body] != ["endpoint", "model", "requests"]:
                raise bad("The body must have 'endpoint' and 'model', and 'requests' behind them.", "requests")
            return OpenAIBatch(self._world, self._files, batch_id, {**body, "completion_window": "24h"}, self._service)
        for name in ("input_file_id", "endpoint", "completion_window"):
            if not isinstance(body, dict) or not isinstance(body.get(name), str):
                raise bad(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
        service = self._service
        service.endpoint(body["endpoint"])
        if service.model_at == "request_params" and "model" not in (body.get("request_params") or {}):
            raise bad("Missing required parameter: 'request_params.model'.", "request_params")
        if not service.metadata and "metadata" in body:
            raise bad("Unrecognized request argument supplied: metadata", "metadata", "unknown_parameter")
        if not re.fullmatch(service.window, body["completion_window"]):
            raise bad("Invalid value for 'completion_window': expected '24h'.", "completion_window")
        pairs = (body.get("metadata") or {}).items()
        if len(pairs) > 16 or any(len(k) > 64 or not isinstance(v, str) or len(v) > 512 for k, v in pairs):
            raise bad("Invalid 'metadata': at most 16 keys of 64 and values of 512 characters.", "metadata")
        stored = self._files.get(body["input_file_id"])
        if stored.purpose != service.purpose:
            raise bad(f"File {stored.id} must have purpose '{service.purpose}'.", "input_file_id")
        return OpenAIBatch(self._world, self._files, batch_id, body, service)


def read_input(
    content: bytes, endpoint: str, config: SimulatorConfig, service: Service
) -> tuple[list[tuple[str, Any]], list[dict[str, Any]]]:
    """The requests of a file and what is wrong with it; any error fails the whole batch before it runs."""
    requests: list[tuple[str, Any]] = []
    errors: list[dict[str, Any]] = []
    seen: set[str] = set()
    models: set[str] = set()

    def wrong(code: str, message: str, number: int | None = None, param: str | None = None) -> None:
        errors.append({"code": code, "line": number, "message": message, "param": param})

    for number, line in json_lines(content):
        if len(errors) >= _MOST_ERRORS:
            break
        if line is None:
            wrong("invalid_json_line", "This line is not parseable as valid JSON.", number)
            continue
        name = line.get("custom_id") if isinstance(line, dict) else None
        if not isinstance(name, str) or not name:
            wrong("missing_required_parameter", "Missing required parameter: 'custom_id'.", number, "custom_id")
            continue
        if name in seen:
            wrong("duplicate_custom_id", f"The custom_id '{name}' is used more than once.", number, "custom_id")
        seen.add(name)
        call = {"method": "POST", "url": endpoint, **line} if service.line == "body" else line
        method, url, body = call.get("method"), call.get("url"), call.get("body")
        if method != "POST":
            wrong("invalid_method", f"Invalid method '{method}': expected 'POST'.", number, "method")
        if url != endpoint:
            wrong("mismatched_url", f"The url '{url}' does not match the batch endpoint '{endpoint}'.", number, "url")
        if not isinstance(body, dict):
            wrong("missing_required_parameter", "Missing required parameter: 'body'.", number, "body")
            continue
        models.add(str(body.get("model")))
        if len(models) > 1:
            wrong("mismatched_model", "All requests of a batch must use the same model.", number, "body.model")
        requests.append((name, body))
    if endpoint.endswith("/embeddings") and (texts := sum(map(_texts_in, requests))) > config.max_file_requests:
        wrong("too_many_inputs", f"The file has {texts} embedding inputs, at most {config.max_file_requests}.")
    if not requests and not errors:
        wrong("empty_file", "The input file is empty.")
    if len(requests) > config.max_file_requests:
        wrong("too_many_requests", f"The input file has {len(requests)} requests, at most {config.max_file_requests}.")
    return requests, errors


def _inline(order: dict[str, Any]) -> bytes:
    """The requests inside of a call as the lines of a file."""
    return b"\n".join(map(msgspec.json.encode, order["requests"]))


def _texts_in(request: tuple[str, Any]) -> int:
    given = request[1].get("input")
    return len(given) if isinstance(given, list) else 1
