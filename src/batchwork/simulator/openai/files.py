"""OpenAI's files: uploaded batch inputs, and the outputs that batches leave behind."""

from dataclasses import dataclass
from typing import Any

from aiohttp import BodyPartReader, web

from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.parse import bad
from batchwork.simulator.openai.service import Service
from batchwork.simulator.openai.wire import cursor_page
from batchwork.simulator.world import Shelf

_PURPOSES = frozenset({"batch", "batch_output", "assistants", "fine-tune", "vision", "user_data", "evals"})
_INPUT_LIVES_S = 30 * 24 * 3600


@dataclass(slots=True)
class StoredFile:
    """One file with its bytes; `batch_id` is the batch whose output it is."""

    id: str
    content: bytes
    filename: str
    purpose: str
    batch_id: str | None
    created_at: int
    expires_at: int | None

    def shown(self) -> dict[str, Any]:
        """The file object."""
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created_at,
            "filename": self.filename,
            "purpose": self.purpose,
            "status": "processed",
            "status_details": None,
            "expires_at": self.expires_at,
        }


class FileShelf(Shelf[StoredFile]):
    """All files of one simulator and the calls about them."""

    def __init__(self, calls: Calls, service: Service) -> None:
        super().__init__(calls.world)
        self._calls = calls
        self._service = service

    def handlers(self) -> dict[str, Handler]:
        """The calls about files, but for the upload."""
        handler = self._calls.handler
        return {
            "GET /v1/files": handler("files", self.listed),
            "GET /v1/files/([^/]+)": handler("files", self.retrieve),
            "DELETE /v1/files/([^/]+)": handler("files", self.delete),
            "GET /v1/files/([^/]+)/content": handler("results", self.content, self.batch_of),
        }

    def add(self, content: bytes, filename: str, purpose: str, batch_id: str | None = None) -> StoredFile:
        """Keep a file; `batch_id` is the batch whose output it is."""
        now, file_id = int(self._world.clock.now()), f"file-sim{self._world.next_number():08d}"
        expires_at = now + _INPUT_LIVES_S if purpose == "batch" else None
        stored = StoredFile(file_id, content, filename, purpose, batch_id, now, expires_at)
        self._kept[stored.id] = stored
        return stored

    def get(self, file_id: str) -> StoredFile:
        """A file by its id."""
        stored = self._kept.get(file_id)
        if stored is None or (stored.expires_at is not None and self._world.clock.now() >= stored.expires_at):
            raise Refused(404, f"No such File object: {file_id}", param="id")
        return stored

    def shown(self, stored: StoredFile) -> dict[str, Any]:
        """The file object."""
        return stored.shown()

    async def upload(self, request: web.BaseRequest) -> web.StreamResponse:
        """`POST /v1/files`."""
        self._calls.wire.authorize(request.headers)
        fields, content, filename = await _multipart(request)
        purpose = fields.get("purpose", "")
        if purpose not in _PURPOSES | {self._service.purpose}:
            raise bad(f"'{purpose}' is not one of the purposes", "purpose")
        if missing := [name for name in self._service.form if not fields.get(name)]:
            raise bad(f"'{missing[0]}' is a required property", missing[0], None)
        if content is None:
            raise bad("'file' is a required property", "file", None)
        most = self._world.config.max_file_bytes
        if len(content) > most:
            raise Refused(413, f"File is too large: {len(content)} bytes, at most {most}", code="file_too_large")

        async def work() -> web.Response:
            stored = self.add(content, filename, purpose)
            if seconds := fields.get("expires_after[seconds]"):
                stored.expires_at = stored.created_at + int(seconds)
            return self._calls.answer(self.shown(stored))

        return await self._calls.run(request, "files", work)

    async def retrieve(self, request: web.BaseRequest, file_id: str) -> web.Response:  # noqa: ARG002
        """`GET /v1/files/{id}`."""
        return self._calls.answer(self.shown(self.get(file_id)))

    async def listed(self, request: web.BaseRequest) -> web.Response:
        """`GET /v1/files`: newest first."""
        purpose = request.rel_url.query.get("purpose")
        stored = [self.shown(one) for one in reversed(self._kept.values()) if purpose in (None, one.purpose)]
        return self._calls.answer(cursor_page(stored, request.rel_url.query, default=10_000, most=10_000))

    async def delete(self, request: web.BaseRequest, file_id: str) -> web.Response:  # noqa: ARG002
        """`DELETE /v1/files/{id}`."""
        del self._kept[self.get(file_id).id]
        return self._calls.answer({"id": file_id, "object": "file", "deleted": True})

    async def content(self, request: web.BaseRequest, file_id: str) -> web.Response:  # noqa: ARG002
        """`GET /v1/files/{id}/content`."""
        return self._calls.answer(self.get(file_id).content, "application/octet-stream")

    def batch_of(self, file_id: str) -> str | None:
        """The batch whose output a file is."""
        stored = self._kept.get(file_id)
        return stored.batch_id if stored is not None else None


async def _multipart(request: web.BaseRequest) -> tuple[dict[str, str], bytes | None, str]:
    """The plain fields, the file's bytes and its name."""
    if not request.content_type.startswith("multipart/"):
        raise bad("expected multipart/form-data", code="invalid_content_type")
    fields: dict[str, str] = {}
    content: bytes | None = None
    filename = ""
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            continue
        raw = bytes(await part.read(decode=False))
        if part.name == "file":
            content, filename = raw, part.filename or "file"
        elif part.name:
            fields[part.name] = raw.decode("utf-8", "replace")
    return fields, content, filename
