"""Gemini's files: batch inputs, uploaded in pieces to an address that is given out first, and outputs of batches."""

from dataclasses import dataclass
from typing import Any

from aiohttp import web

from batchwork.simulator.bodies import decoded
from batchwork.simulator.calls import Calls
from batchwork.simulator.clock import rfc3339_exact
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.world import Shelf

_LIVES_S = 48 * 3600.0
_GRANULE = 256 * 1024  # bytes: every piece but the last is a multiple of so many


@dataclass(slots=True)
class StoredFile:
    """One file with its bytes; `batch_id` is the batch whose output it is."""

    name: str
    content: bytearray
    display_name: str
    mime_type: str
    batch_id: str | None
    created_at: float
    is_whole: bool = True

    def shown(self) -> dict[str, Any]:
        """The file object; sizes are 64-bit numbers, which are written as texts."""
        return {
            "name": self.name,
            "displayName": self.display_name,
            "mimeType": self.mime_type,
            "sizeBytes": str(len(self.content)),
            "createTime": rfc3339_exact(self.created_at),
            "updateTime": rfc3339_exact(self.created_at),
            "expirationTime": rfc3339_exact(self.created_at + _LIVES_S),
            "state": "ACTIVE",
            "source": "UPLOADED" if self.batch_id is None else "GENERATED",
        }


class GeminiFiles(Shelf[StoredFile]):
    """All files of one simulator and the calls about them."""

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls.world)
        self._calls = calls

    def add(self, content: bytes, batch_id: str) -> StoredFile:
        """Keep the output of a batch."""
        name = f"files/batch-{self._world.next_number():08d}"
        now = self._world.clock.now()
        self._kept[name] = stored = StoredFile(name, bytearray(content), name, "application/jsonl", batch_id, now)
        return stored

    def get(self, name: str) -> StoredFile:
        """A file by its name; it lives for two days."""
        stored = self._kept.get(name)
        if stored is None or not stored.is_whole or self._world.clock.now() >= stored.created_at + _LIVES_S:
            message = (
                f"You do not have permission to access the File {name.removeprefix('files/')} or it may not exist."
            )
            raise Refused(403, message)
        return stored

    async def upload(self, request: web.BaseRequest) -> web.StreamResponse:
        """`POST /upload/v1/files`: the start of an upload, or a piece of one."""
        name = request.rel_url.query.get("upload_id")
        raw = await request.read()

        async def work() -> web.Response:
            return self._started(request, raw) if name is None else self._piece(request, name, raw)

        # Whoever knows the address of an upload needs no key: Google's own client sends none there.
        return await self._calls.run(request, "files", work, needs_key=name is None)

    def _started(self, request: web.BaseRequest, raw: bytes) -> web.Response:
        protocol, command = (request.headers.get(f"x-goog-upload-{what}") for what in ("protocol", "command"))
        refuse_if((protocol, command) != ("resumable", "start"), "The simulator takes resumable uploads.")
        told = decoded(raw or b"{}").get("file") or {}
        kind = told.get("mimeType") or told.get("mime_type") or request.headers.get("x-goog-upload-header-content-type")
        name = f"files/sim{self._world.next_number():08d}"
        shown = str(told.get("displayName") or told.get("display_name") or "")
        self._kept[name] = StoredFile(
            name, bytearray(), shown, str(kind), None, self._world.clock.now(), is_whole=False
        )
        answer = self._calls.answer(b"")
        # Only the path and the key of the upload matter; the host is the one that was asked.
        answer.headers["x-goog-upload-url"] = f"{self._world.base_url}{request.path}?upload_id={name[6:]}"
        answer.headers["x-goog-upload-status"] = "active"
        return answer

    def _piece(self, request: web.BaseRequest, upload_id: str, raw: bytes) -> web.Response:
        stored = self._kept.get(f"files/{upload_id}")
        if stored is None or stored.is_whole:
            raise Refused(404, "There is no such upload.")
        commands = [word.strip() for word in request.headers.get("x-goog-upload-command", "").split(",")]
        if commands == ["query"]:
            answer = self._calls.answer(b"")
            answer.headers["x-goog-upload-status"] = "active"
            answer.headers["x-goog-upload-size-received"] = str(len(stored.content))
            return answer
        offset = request.headers.get("x-goog-upload-offset", "")
        refuse_if(offset != str(len(stored.content)), f"{len(stored.content)} bytes were received, not {offset}.")
        refuse_if("upload" not in commands, "A piece needs the command 'upload'.")
        is_last = "finalize" in commands
        refuse_if(not is_last and len(raw) % _GRANULE, f"Every piece but the last is a multiple of {_GRANULE} bytes.")
        most = self._world.config.max_file_bytes
        if len(stored.content) + len(raw) > most:
            raise Refused(413, f"The file is too large: at most {most} bytes.")
        stored.content += raw
        stored.is_whole = is_last
        answer = self._calls.answer({"file": stored.shown()} if is_last else b"")
        answer.headers["x-goog-upload-status"] = "final" if is_last else "active"
        return answer

    async def retrieve(self, request: web.BaseRequest, name: str) -> web.Response:  # noqa: ARG002
        """`GET /v1/files/{name}`."""
        return self._calls.answer(self.get(f"files/{name}").shown())

    async def delete(self, request: web.BaseRequest, name: str) -> web.Response:  # noqa: ARG002
        """`DELETE /v1/files/{name}`."""
        del self._kept[self.get(f"files/{name}").name]
        return self._calls.answer({})

    async def listed(self, request: web.BaseRequest) -> web.Response:
        """`GET /v1/files`."""
        del request
        shown = [stored.shown() for stored in reversed(self._kept.values()) if stored.is_whole]
        return self._calls.answer({"files": shown} if shown else {})

    async def download(self, request: web.BaseRequest, name: str) -> web.Response:  # noqa: ARG002
        """`GET /v1/files/{name}:download`: only what batches have made."""
        stored = self.get(f"files/{name}")
        refuse_if(stored.batch_id is None, "Only generated files may be downloaded.")
        return self._calls.answer(bytes(stored.content), "application/octet-stream")

    def batch_of(self, name: str) -> str | None:
        """The batch whose output a file is."""
        stored = self._kept.get(f"files/{name}")
        return stored.batch_id if stored is not None else None
